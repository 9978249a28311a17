/**
 * The thread of a SQLite store. It does everything that waits in one transaction, with one sync of the disk.
 *
 * @module
 */
import { closeSync, existsSync, linkSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { FORMAT, FormatError, MARK_LENGTH } from './format.ts'

/** One operation on the file. */
export type Operation =
  | { name: 'read'; key: string }
  | { name: 'swap'; key: string; mark: string; text: string; expires: number; time: number }
  | { name: 'probe' }

/** A request to the thread. */
export type Request = Operation | { name: 'close' }

/** The result of an operation, or why it failed; in the order of the operations. */
export interface Reply {
  value?: string | boolean | undefined
  failure?: {
    message: string
    /** Whether a later try may succeed: the file is locked, or the disk is full or fails. */
    mayPass: boolean
  }
}

/** The operations of one transaction, so that other processes wait for a few milliseconds only. */
const MOST_OPERATIONS = 200
/** Longest wait for another process, in milliseconds. */
const BUSY_MS = 2_000
/** Pages of the write-ahead log that one write moves into the file. Half of SQLite's default takes half as long. */
const LOG_PAGES = 500
/** About as much as an event writes. */
const PROBE_BYTES = 16_384
/** The unit of the index by expiry, in milliseconds: most changes leave it as it is. */
const HOUR_MS = 3_600_000
/** Expired records that a write removes. It adds at most one. */
const MOST_REMOVED = 2

const SCHEMA = `
  PRAGMA journal_mode = WAL;
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

const { file }: { file: string } = workerData
const waiting: Operation[] = []
let opened: ReturnType<typeof openFile> | undefined

/**
 * Creates the file and its folder. The file appears as a whole, so an empty one is never taken for a new one, which
 * would forget every record without a word.
 */
function createFile(): void {
  const folder = dirname(file)
  try {
    // Without those above it: Node's own recursion never ends in a folder such as /proc.
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(folder)) throw new Error('its folder can’t be created', { cause: error })
  }
  const draft = `${file}.${crypto.randomUUID()}`
  try {
    // SQLite gives the companions of a file its mode.
    closeSync(openSync(draft, 'wx', 0o600))
    const database = new DatabaseSync(draft)
    try {
      database.exec(SCHEMA)
    } finally {
      database.close()
    }
    linkSync(draft, file)
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(file)) throw error
  } finally {
    for (const companion of ['', '-wal', '-shm']) rmSync(draft + companion, { force: true })
  }
}

/** Checks that the file is there and can be written. SQLite does not say why it can't open one. */
function checkFile(): void {
  if (!existsSync(file)) createFile()
  if (statSync(file).size === 0) throw new Error(EMPTY)
  closeSync(openSync(file, 'r+'))
}

/** Opens the file, also if other processes do so at the same time. One of another format is left as it is. */
function openFile() {
  const isInMemory = file === ':memory:'
  if (!isInMemory) checkFile()
  const database = new DatabaseSync(file)
  try {
    if (isInMemory) database.exec(SCHEMA)
    // First, so that everything below waits for other processes.
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    const format = database.prepare('PRAGMA user_version').get()?.user_version
    if (format !== FORMAT) throw new FormatError(Number(format))
    database.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${LOG_PAGES}`)
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
    `DELETE FROM records WHERE key IN (SELECT key FROM records WHERE expires / ${HOUR_MS} < ? LIMIT ${MOST_REMOVED})`,
  )
  const place = placeOf()

  function apply(operation: Operation): Reply {
    if (operation.name === 'read') {
      const text = find.get(operation.key)?.text
      return { value: typeof text === 'string' ? text : undefined }
    }
    if (operation.name === 'probe') {
      probe.run(PROBE_BYTES)
      return {}
    }
    const { key, mark, text, expires, time } = operation
    const { changes } = mark === '' ? insert.run(key, text, expires) : update.run(key, text, expires, mark)
    // Those that expired an hour ago.
    remove.run(Math.floor(time / HOUR_MS))
    return { value: changes === 1 }
  }

  return {
    close: () => database.close(),
    /** Applies operations as a whole or not at all, with no other process in between. */
    transact(operations: readonly Operation[]): Reply[] {
      // A record in a file without a name is lost when the process ends.
      if (placeOf() !== place)
        throw new Error('it was removed or replaced while it was open; restart the host')
      database.exec(operations.every(({ name }) => name === 'read') ? 'BEGIN' : 'BEGIN IMMEDIATE')
      try {
        const replies = operations.map(apply)
        database.exec('COMMIT')
        return replies
      } catch (error) {
        // When the disk is full, SQLite has rolled back already.
        if (database.isTransaction) database.exec('ROLLBACK')
        throw error
      }
    },
  }
}

/** Where the path of the file leads. */
function placeOf(): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

const EMPTY =
  'it is empty, as after a copy that failed or on a disk that was full: put a backup in its place, or delete it to begin anew without any record'
/** SQLITE_BUSY */
const BUSY = 5
/** Causes that pass by themselves: SQLITE_IOERR, SQLITE_FULL, and their like in the file system. */
const PASSING: readonly unknown[] = [BUSY, 10, 13, 'EIO', 'ENOSPC', 'EDQUOT']

/** Applies operations as a whole; if one of them fails, each by itself. */
function commit(operations: readonly Operation[]): Reply[] {
  try {
    opened ??= openFile()
    return opened.transact(operations)
  } catch (error) {
    const { code, errcode }: { code?: unknown; errcode?: unknown } = Object(error)
    // The lower byte of an extended code is the primary one.
    const primary = Number(errcode) & 0xff
    const isLocked = primary === BUSY
    if (operations.length > 1 && opened && !isLocked) return operations.flatMap((one) => commit([one]))
    const words = error instanceof Error ? error.message : String(error)
    const message = `The store ${file} can’t be used: ${isLocked ? 'another process has locked it' : words}.`
    const failure = { message, mayPass: PASSING.includes(primary) || PASSING.includes(code) }
    return operations.map(() => ({ failure }))
  }
}

/** Commits the operations that wait, and goes on with the rest after those that arrived meanwhile. */
function commitNext(): void {
  const operations = waiting.splice(0, MOST_OPERATIONS)
  if (waiting.length > 0) setImmediate(commitNext)
  if (operations.length > 0) parentPort?.postMessage(commit(operations))
}

parentPort?.on('message', (requests: readonly Request[]) => {
  for (const request of requests) {
    if (request.name === 'close') {
      while (waiting.length > 0) commitNext()
      opened?.close()
      parentPort?.close()
      return
    }
    // Messages that have arrived are delivered before this: they are committed together.
    if (waiting.length === 0) setImmediate(commitNext)
    waiting.push(request)
  }
})
