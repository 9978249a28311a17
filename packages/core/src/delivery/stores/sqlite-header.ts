import { Buffer } from 'node:buffer'
import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { LAYOUT } from './sqlite-schema.ts'

/** The start of each file of SQLite (https://www.sqlite.org/fileformat2.html). */
const MAGIC = 'SQLite format 3\0'
/** Where the header has `PRAGMA user_version`. */
const USER_VERSION = 60
const HEADER_BYTES = 100

/** Whether a file can be written and has the layout of this version, by its first bytes: SQLite takes longer to load. */
export function isSqliteFileReady(file: string): boolean {
  try {
    accessSync(dirname(file), constants.W_OK)
    accessSync(file, constants.R_OK | constants.W_OK)
    const header = readHeader(file)
    return (
      header.toString('latin1', 0, MAGIC.length) === MAGIC && header.readUInt32BE(USER_VERSION) === LAYOUT
    )
  } catch {
    return false
  }
}

function readHeader(file: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, header)
    return header
  } finally {
    closeSync(descriptor)
  }
}
