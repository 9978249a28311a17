/** Opens the delivery store of DELIVERY_STORE. */
import type { DeliveryStore, Logger } from '@org/core'
import { memoryStore } from '@org/core/internal/host'
import { type Config, DEFAULT_STORE } from '../config.ts'
import { variables } from '../variables.ts'

export interface OpenStore {
  store: DeliveryStore
  close(): Promise<void>
}

/** Opens `memory:`, `sqlite:<file>` or Redis, and loads only the libraries for it. It waits for none of them. */
export async function openStore(
  { deliveryStore: location, recordKeys }: Pick<Config, 'deliveryStore' | 'recordKeys'>,
  logger: Logger,
): Promise<OpenStore> {
  if (location === 'memory:') return { store: memoryStore(), close: async () => {} }
  const file = fileOf(location)
  if (file !== undefined) {
    const { sqliteStore } = await import('@org/core/stores/sqlite')
    const store = sqliteStore({ file, recordKeys })
    return { store, close: store.close }
  }
  const [{ keepConnected }, { redisStore }] = await Promise.all([
    import('./redis.ts'),
    import('@org/core/stores/redis'),
  ])
  const client = keepConnected(location, logger)
  return { store: redisStore({ client, recordKeys }), close: async () => client.close() }
}

/** The file of a location of SQLite. */
export function fileOf(location: string): string | undefined {
  return /^sqlite:(.+)$/.exec(location)?.[1]
}

/** Why the file of a DELIVERY_STORE can never be used. A value that is none is a fault of the configuration. */
export async function findStoreFaults(given: string | undefined): Promise<string[]> {
  const { data: location = DEFAULT_STORE, success } = variables.shape.DELIVERY_STORE.safeParse(given)
  const file = success ? fileOf(location) : undefined
  if (file === undefined) return []
  const { checkSqliteFile } = await import('@org/core/stores/sqlite')
  return checkSqliteFile(file).then(
    () => [],
    ({ message }: Error) => [`DELIVERY_STORE: ${message}`],
  )
}
