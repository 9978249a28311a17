/**
 * The file of a SQLite store.
 *
 * @module
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FORMAT, FormatError, MARK_LENGTH } from './format.ts'

/** Longest wait for another process, in milliseconds. */
const BUSY_MS = 2_000
/** Pages of the write-ahead log that one write moves into the file. Half of SQLite's default takes half as long. */
const LOG_PAGES = 500
/** About as much as an event writes. */
const PROBE_BYTES = 16_384
/** The unit of the index by expiry, in milliseconds: most changes leave it as it is. */
const HOUR_MS = 3_600_000
/** The time of one slice of a purge without its commit, in milliseconds. */
const SLICE_MS = 4
/** Records that are removed between two looks at the clock. */
const REMOVED = 8
/** Pages of 4,096 bytes that one slice gives back to the file system. */
const PAGES = 64
/** A quarter of the file may be free: the next records fill it. */
const LEAST_PAGES_A_FREE_PAGE = 4

const SCHEMA = `
  CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX records_by_expiry ON records (expires / ${HOUR_MS});
  CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB NOT NULL) STRICT;
  PRAGMA user_version = ${FORMAT};
`

/** Opens a file, also if other processes do so at the same time, and creates it and its folder. */
export function openDatabase(file: string) {
  if (file !== ':memory:') createPrivateFile(file)
  const database = new DatabaseSync(file)

  /** Runs `work` as a whole or not at all, with no other process in between. */
  function transaction<Result>(work: () => Result, begin = 'BEGIN IMMEDIATE'): Result {
    database.exec(begin)
    try {
      const result = work()
      database.exec('COMMIT')
      return result
    } catch (error) {
      // When the disk is full, SQLite has rolled back already.
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }

  try {
    // First, so that everything below waits for other processes.
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA auto_vacuum = INCREMENTAL`)
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${LOG_PAGES}`,
    )
    transaction(() => prepareFormat(database))
    // Not before: the file may be somebody else's, and no database.
    if (file !== ':memory:') makePrivate(file)
  } catch (error) {
    database.close()
    throw error
  }

  const find = database.prepare('SELECT text FROM records WHERE key = ?')
  const insert = database.prepare(
    'INSERT INTO records (key, text, expires) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const update = database.prepare(
    `UPDATE records SET text = ?2, expires = ?3 WHERE key = ?1 AND substr(text, 1, ${MARK_LENGTH}) = ?4`,
  )
  const probe = database.prepare('INSERT OR REPLACE INTO probe (id, filler) VALUES (1, zeroblob(?))')
  const remove = database.prepare(
    `DELETE FROM records WHERE key IN (SELECT key FROM records WHERE expires / ${HOUR_MS} < ? LIMIT ${REMOVED})`,
  )
  const freePages = database.prepare('PRAGMA freelist_count')
  const allPages = database.prepare('PRAGMA page_count')

  return {
    transaction,
    close: () => database.close(),
    assertInPlace: watchPath(file),
    read(key: string): string | undefined {
      const text = find.get(key)?.text
      return typeof text === 'string' ? text : undefined
    },
    swap(key: string, mark: string, text: string, expires: number): boolean {
      const { changes } = mark === '' ? insert.run(key, text, expires) : update.run(key, text, expires, mark)
      return changes === 1
    },
    probe(): undefined {
      probe.run(PROBE_BYTES)
    },
    /** Removes a slice of what has expired for an hour at most. @returns whether there may be more */
    purge(time: number): boolean {
      const end = performance.now() + SLICE_MS
      const hour = Math.floor(time / HOUR_MS)
      const hasMore = transaction(() => {
        while (Number(remove.run(hour).changes) === REMOVED) if (performance.now() > end) return true
        return false
      })
      if (hasMore) return true
      const free = Number(freePages.get()?.freelist_count)
      if (free * LEAST_PAGES_A_FREE_PAGE <= Number(allPages.get()?.page_count)) return false
      database.exec(`PRAGMA incremental_vacuum(${PAGES})`)
      return true
    },
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

/** A file of another format is left as it is. */
function prepareFormat(database: DatabaseSync): void {
  const version = database.prepare('PRAGMA user_version').get()?.user_version
  if (version === FORMAT) return
  const isEmpty = database.prepare('SELECT 1 FROM sqlite_master').get() === undefined
  if (!isEmpty) throw new FormatError(Number(version))
  database.exec(SCHEMA)
}
