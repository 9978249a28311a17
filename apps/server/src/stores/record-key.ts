/** The key of a host without a secret, for the records in its store. */
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Logger } from '@org/core'
import { type Config, ConfigurationError } from '../config.ts'

/**
 * Reads the key beside the file of the store, whose folder exists by now. A host with a webhook secret needs none, but
 * accepts the one that it had before; a host without a secret makes one, which only its user can read.
 *
 * @param options.hadFile whether the file of the store was there before this start
 * @throws {ConfigurationError} if the key can't be written
 */
export function readRecordKey(
  { deliveryStore, recordKeys }: Pick<Config, 'deliveryStore' | 'recordKeys'>,
  { hadFile = false, logger }: { hadFile?: boolean | undefined; logger: Logger },
): string[] {
  const file = /^sqlite:(?!:memory:)(.+)$/.exec(deliveryStore)?.[1]
  if (file === undefined) return []
  const path = `${file}.key`
  if (!existsSync(path)) {
    if (recordKeys.length > 0) return []
    createKey(path)
    if (hadFile)
      logger(
        'warn',
        `${file} was there, but not its key ${path}: its records are not recognised, and their redeliveries get 500. Restore the key from the backup of the file.`,
      )
  }
  return [readFileSync(path, 'utf8')]
}

/** Writes the whole key at once: another process may start at the same moment, and must read the same one. */
function createKey(path: string): void {
  const draft = `${path}.${randomUUID()}`
  try {
    writeFileSync(draft, randomBytes(32).toString('base64'), { mode: 0o600 })
    linkSync(draft, path)
  } catch (error) {
    if (existsSync(path)) return
    const reason = error instanceof Error ? error.message : error
    throw new ConfigurationError(`DELIVERY_STORE: the key of its records can’t be written: ${reason}`)
  } finally {
    rmSync(draft, { force: true })
  }
}
