/** Opens the delivery store of DELIVERY_STORE. */
import { existsSync, statSync } from 'node:fs'
import type { DeliveryStore, Logger } from '@org/core'
import { memoryStore } from '@org/core/internal/host'
import { type Config, ConfigurationError, DEFAULT_STORE } from '../config.ts'
import { readRecordKey } from './record-key.ts'

export interface OpenStore {
  store: DeliveryStore
  close(): Promise<void>
  /** Those of the configuration, and that of the file. */
  recordKeys: readonly string[]
  /** Whether its file was there before. */
  hadFile?: boolean
  /** Why the file can't be used yet: it is locked, or its disk is full. */
  fault?: string | undefined
}

type StoreConfig = Pick<Config, 'deliveryStore' | 'recordKeys'>

/**
 * Opens `memory:`, `sqlite:<file>` or Redis, and loads only the libraries for it.
 *
 * @throws {ConfigurationError} with the cause if the file can never be written, or another version wrote it; neither a
 * Redis that is down nor a file that is locked prevents the start
 */
export async function openStore(config: StoreConfig, logger: Logger): Promise<OpenStore> {
  const { deliveryStore: location, recordKeys } = config
  if (location === 'memory:') return { store: memoryStore(), recordKeys, close: async () => {} }
  if (location.startsWith('sqlite:')) return openSqlite(config, logger)
  const [{ keepConnected }, { redisStore }] = await Promise.all([
    import('./redis.ts'),
    import('@org/core/stores/redis'),
  ])
  const client = keepConnected(location, logger)
  return { store: redisStore({ client, recordKeys }), recordKeys, close: async () => client.close() }
}

async function openSqlite(config: StoreConfig, logger: Logger): Promise<OpenStore> {
  const file = config.deliveryStore.slice('sqlite:'.length)
  const { sqliteStore } = await import('@org/core/stores/sqlite')
  // A first start on a full disk leaves an empty file.
  const hadFile = existsSync(file) && statSync(file).size > 0
  const fault = await checkFile(file)
  const recordKeys = [...config.recordKeys, ...readRecordKey(config, { hadFile, logger })]
  const store = sqliteStore({ file, recordKeys })
  return { store, recordKeys, close: store.close, hadFile, fault }
}

/** @returns why the file can't be used yet */
async function checkFile(file: string): Promise<string | undefined> {
  const { checkSqliteFile, isSqliteFileReady } = await import('@org/core/stores/sqlite')
  try {
    return isSqliteFileReady(file) ? undefined : await checkSqliteFile(file)
  } catch (error) {
    throw new ConfigurationError(`DELIVERY_STORE: ${error instanceof Error ? error.message : error}`)
  }
}

/** Finds out whether the file of a store can be opened, while the rest of the configuration is at fault. */
export async function findStoreFaults(location = DEFAULT_STORE): Promise<string[]> {
  const [, file] = /^sqlite:(.+)$/.exec(location) ?? []
  if (file === undefined) return []
  try {
    await checkFile(file)
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return [error.message]
    throw error
  }
}
