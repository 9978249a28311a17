/**
 * Opens the file of a SQLite store, also if other processes do so at the same time.
 *
 * @module
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createRows } from './sqlite-rows.ts'
import { LAYOUT, SCHEMA } from './sqlite-schema.ts'

/** Longest wait for another process, in milliseconds. */
const BUSY_MS = 2_000
/** Pages of the write-ahead log that one write moves into the file. Half of SQLite's default takes half as long. */
const LOG_PAGES = 500

/** Runs `work` as a whole or not at all, with no other process in between. */
export type Transaction = <Result>(work: () => Result, begin?: 'BEGIN' | 'BEGIN IMMEDIATE') => Result

/** Opens a file, and creates it and its folder. */
export function openDatabase(file: string) {
  if (file !== ':memory:') createPrivateFile(file)
  const database = new DatabaseSync(file)

  const transaction: Transaction = (work, begin = 'BEGIN IMMEDIATE') => {
    database.exec(begin)
    try {
      const result = work()
      database.exec('COMMIT')
      return result
    } catch (error) {
      try {
        database.exec('ROLLBACK')
      } catch {
        // When the disk is full, SQLite has rolled back already. The first error tells the cause.
      }
      throw error
    }
  }

  try {
    // First, so that everything below waits for other processes.
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA auto_vacuum = INCREMENTAL`)
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${LOG_PAGES}`,
    )
    transaction(() => prepareLayout(database))
    // Not before: the file may be somebody else's, and no database.
    if (file !== ':memory:') makePrivate(file)
    return { database, transaction, rows: createRows(database), assertInPlace: watchPath(file) }
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Follows the path of an open file.
 *
 * @returns a function that throws if the path leads elsewhere by now: a record in a file without a name is lost when
 * the process ends
 */
function watchPath(file: string): () => void {
  const find = () => {
    const found = file === ':memory:' ? undefined : statSync(file, { throwIfNoEntry: false })
    return found && `${found.dev}:${found.ino}`
  }
  const opened = find()
  return () => {
    if (find() !== opened) throw new Error('it was removed or replaced while it was open; restart the host')
  }
}

/** Node's own recursion never ends in a folder such as /proc, where nothing can be created. */
function createFolder(folder: string): void {
  // A folder that exists may be somebody else's, too.
  if (existsSync(folder)) return
  createFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process was faster.
    if (!existsSync(folder)) throw error
  }
}

/** SQLite gives the companions of the file the same mode when it creates them. */
function createPrivateFile(file: string): void {
  createFolder(dirname(file))
  closeSync(openSync(file, 'a', 0o600))
}

/** Makes the files of an earlier version readable by their owner alone. */
function makePrivate(file: string): void {
  for (const path of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(path)) chmodSync(path, 0o600)
}

/** A file of another layout is left as it is. */
function prepareLayout(database: DatabaseSync): void {
  const version = database.prepare('PRAGMA user_version').get()?.user_version
  if (version === LAYOUT) return
  const isEmpty = database.prepare('SELECT 1 FROM sqlite_master').get() === undefined
  if (!isEmpty) throw new Error('another version of the host wrote it')
  database.exec(SCHEMA)
}
