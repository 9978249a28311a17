/**
 * The delivery store that DELIVERY_STORE names.
 *
 * @module
 */
import { type DeliveryStore, type Logger, memoryStore } from '@org/core'

/** A store, and how it is left. */
export interface OpenStore {
  store: DeliveryStore
  close(): Promise<void>
}

/**
 * Opens `memory:`, `sqlite:<file>` or `redis://…`. Only what is named is loaded.
 *
 * @throws where the file can't be opened; a Redis that is away is waited for instead
 */
export async function openStore(location: string, logger: Logger): Promise<OpenStore> {
  if (location === 'memory:') return { store: memoryStore(), close: async () => {} }
  if (location.startsWith('sqlite:')) return openSqlite(location.slice('sqlite:'.length))
  return openRedis(location, logger)
}

async function openSqlite(file: string): Promise<OpenStore> {
  const { sqliteStore } = await import('@org/core/stores/sqlite')
  const store = sqliteStore({ file })
  return { store, close: async () => store.close() }
}

async function openRedis(url: string, logger: Logger): Promise<OpenStore> {
  const [{ createClient }, { redisStore }] = await Promise.all([
    import('@redis/client'),
    import('@org/core/stores/redis'),
  ])
  const client = createClient({
    url,
    // What can't be done now is answered with 503, and not done later when nobody waits for it any more.
    disableOfflineQueue: true,
    socket: { connectTimeout: 2_000, reconnectStrategy: (tries) => Math.min(100 * 2 ** tries, 2_000) },
  })
  // Only the kind of error: its message may hold the URL with its password.
  client.on('error', (error: Error) => logger('warn', 'Redis can’t be reached.', { error: error.name }))
  client.on('ready', () => logger('info', 'Redis is reached.'))
  void client.connect().catch(() => {})
  return { store: redisStore({ client }), close: async () => client.destroy() }
}
