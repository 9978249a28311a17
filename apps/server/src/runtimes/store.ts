/** Opens the delivery store of DELIVERY_STORE. */
import { existsSync, statSync } from 'node:fs'
import type { DeliveryStore, Logger } from '@org/core'
import { memoryStore } from '@org/core/internal/host'
import { ConfigurationError, DEFAULT_STORE } from '../config.ts'

export interface OpenStore {
  store: DeliveryStore
  close(): Promise<void>
  /** Whether its file was there before. */
  hadFile?: boolean
  /** Why the file can't be used yet: it is locked, or its disk is full. */
  fault?: string | undefined
}

/**
 * Opens `memory:`, `sqlite:<file>` or Redis, and loads only the libraries for it.
 *
 * @throws {ConfigurationError} with the cause if the file can never be written; neither a Redis that is down nor a file
 * that is locked prevents the start
 */
export async function openStore(location: string, logger: Logger): Promise<OpenStore> {
  if (location === 'memory:') return { store: memoryStore(), close: async () => {} }
  if (location.startsWith('sqlite:')) return openSqlite(location.slice('sqlite:'.length))
  return openRedis(location, logger)
}

async function openSqlite(file: string): Promise<OpenStore> {
  const { checkSqliteFile, isSqliteFileReady, sqliteStore } = await import('@org/core/stores/sqlite')
  // A first start on a full disk leaves an empty file.
  const hadFile = existsSync(file) && statSync(file).size > 0
  let fault: string | undefined
  try {
    if (!isSqliteFileReady(file)) fault = await checkSqliteFile(file)
  } catch (error) {
    throw new ConfigurationError(`DELIVERY_STORE: ${error instanceof Error ? error.message : error}`)
  }
  const store = sqliteStore({ file })
  return { store, close: store.close, hadFile, fault }
}

/** Finds out whether the file of a store can be opened, while the rest of the configuration is at fault. */
export async function findStoreFaults(location = DEFAULT_STORE): Promise<string[]> {
  const [, file] = /^sqlite:(.+)$/.exec(location) ?? []
  if (file === undefined) return []
  try {
    await (await openSqlite(file)).close()
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return [error.message]
    throw error
  }
}

async function openRedis(url: string, logger: Logger): Promise<OpenStore> {
  const [{ keepConnected }, { redisStore }] = await Promise.all([
    import('./redis.ts'),
    import('@org/core/stores/redis'),
  ])
  const client = keepConnected(url, logger)
  return { store: redisStore({ client }), close: async () => client.close() }
}
