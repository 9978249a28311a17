/** Opens the delivery store of DELIVERY_STORE. */
import type { DeliveryStore, Logger } from '@org/core'
import { memoryStore } from '@org/core/internal/host'
import { type Config, ConfigurationError, DEFAULT_STORE } from '../config.ts'

export interface OpenStore {
  store: DeliveryStore
  close(): Promise<void>
  /** Why the file can't be used yet: it is locked, or its disk is full. */
  fault?: string | undefined
}

/**
 * Opens `memory:`, `sqlite:<file>` or Redis, and loads only the libraries for it.
 *
 * @throws {ConfigurationError} with the cause if the file can never be written, or another version wrote it; neither a
 * Redis that is down nor a file that is locked prevents the start
 */
export async function openStore(
  { deliveryStore: location, recordKeys }: Pick<Config, 'deliveryStore' | 'recordKeys'>,
  logger: Logger,
): Promise<OpenStore> {
  if (location === 'memory:') return { store: memoryStore(), close: async () => {} }
  const file = fileOf(location)
  if (file !== undefined) {
    const fault = await checkFile(file)
    const { sqliteStore } = await import('@org/core/stores/sqlite')
    const store = sqliteStore({ file, recordKeys })
    return { store, close: store.close, fault }
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

/** @returns why the file can't be used yet */
async function checkFile(file: string): Promise<string | undefined> {
  const { checkSqliteFile } = await import('@org/core/stores/sqlite')
  try {
    return await checkSqliteFile(file)
  } catch (error) {
    throw new ConfigurationError(`DELIVERY_STORE: ${error instanceof Error ? error.message : error}`)
  }
}

/** Finds out whether the file of a store can be opened, while the rest of the configuration is at fault. */
export async function findStoreFaults(location = DEFAULT_STORE): Promise<string[]> {
  const file = fileOf(location)
  if (file === undefined) return []
  return checkFile(file).then(
    () => [],
    ({ message }: ConfigurationError) => [message],
  )
}
