/** Opens the delivery store of DELIVERY_STORE. */
import { type DeliveryStore, type Logger, memoryStore } from '@org/core'
import { ConfigurationError } from '../config.ts'

export interface OpenStore {
  store: DeliveryStore
  close(): Promise<void>
}

/**
 * Opens `memory:`, `sqlite:<file>` or `redis://…`, and loads only the libraries for it.
 *
 * @throws {ConfigurationError} with the cause if the file can't be written; a Redis that is down does not prevent the
 * start
 */
export async function openStore(location: string, logger: Logger): Promise<OpenStore> {
  if (location === 'memory:') return { store: memoryStore(), close: async () => {} }
  if (location.startsWith('sqlite:')) return openSqlite(location.slice('sqlite:'.length))
  return openRedis(location, logger)
}

async function openSqlite(file: string): Promise<OpenStore> {
  const { sqliteStore } = await import('@org/core/stores/sqlite')
  const store = sqliteStore({ file })
  try {
    await store.probe()
  } catch (error) {
    await store.close()
    throw new ConfigurationError(`DELIVERY_STORE: ${error instanceof Error ? error.message : error}`)
  }
  return { store, close: store.close }
}

async function openRedis(url: string, logger: Logger): Promise<OpenStore> {
  const [{ createClient }, { redisStore }] = await Promise.all([
    import('@redis/client'),
    import('@org/core/stores/redis'),
  ])
  const client = createClient({
    url,
    // A command that can't be sent fails with 503 now. Later nobody would wait for its result.
    disableOfflineQueue: true,
    socket: { connectTimeout: 2_000, reconnectStrategy: (tries) => Math.min(100 * 2 ** tries, 2_000) },
  })
  // Only the name of the error: its message may contain the URL with the password.
  client.on('error', (error: Error) => logger('warn', 'The host can’t reach Redis.', { error: error.name }))
  client.on('ready', () => logger('info', 'The host reached Redis.'))
  void client.connect().catch(() => {})
  return { store: redisStore({ client }), close: async () => client.destroy() }
}
