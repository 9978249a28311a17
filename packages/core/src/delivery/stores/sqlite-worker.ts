/**
 * The thread of a SQLite store. It does everything that waits in one transaction, with one sync of the disk.
 *
 * @module
 */
import { closeSync, existsSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
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
let opened: ReturnType<typeof openDatabase> | undefined

/** Opens the file, also if other processes do so at the same time, and creates it and its folder. */
function openDatabase() {
  if (file !== ':memory:') createPrivateFile()
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
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${LOG_PAGES}`,
    )
    transaction(() => prepareFormat(database))
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

  return {
    transaction,
    close: () => database.close(),
    /** A record in a file without a name is lost when the process ends. */
    ensureInPlace(): void {
      if (placeOf() === place) return
      throw new Error('it was removed or replaced while it was open; restart the host')
    },
    apply(operation: Operation): Reply {
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
    },
  }
}

/** Another process that creates the file writes its first page within this time, in milliseconds. */
const LONGEST_EMPTY_MS = 1_000
let isCreatedHere = false

const sizeOf = () => statSync(file, { throwIfNoEntry: false })?.size

/**
 * SQLite gives the companions of the file the same mode when it creates them.
 *
 * @throws if the file is empty: taken for a new one, it would forget every record without a word
 */
function createPrivateFile(): void {
  const folder = dirname(file)
  isCreatedHere ||= sizeOf() === undefined
  if (!isCreatedHere && sizeOf() === 0) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LONGEST_EMPTY_MS)
    if (sizeOf() === 0) throw new Error(EMPTY)
  }
  try {
    // Without those above it: Node's own recursion never ends in a folder such as /proc.
    mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    if (!existsSync(folder)) throw new Error('its folder can’t be created', { cause })
  }
  closeSync(openSync(file, 'a', 0o600))
}

/** A file of another format is left as it is. */
function prepareFormat(database: DatabaseSync): void {
  const version = database.prepare('PRAGMA user_version').get()?.user_version
  if (version === FORMAT) return
  const isEmpty = database.prepare('SELECT 1 FROM sqlite_master').get() === undefined
  if (!isEmpty) throw new FormatError(Number(version))
  database.exec(SCHEMA)
}

/** Where the path of the file leads. */
function placeOf(): string | undefined {
  const found = file === ':memory:' ? undefined : statSync(file, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

const EMPTY =
  'it is empty, as after a copy that failed or on a disk that was full: put a backup in its place, or delete it to begin anew without any record'
const LOCKED = 'another process has locked it'
/** SQLITE_BUSY */
const BUSY = 5
/** Causes that pass by themselves: SQLITE_IOERR, SQLITE_FULL, and their like in the file system. */
const PASSING: readonly unknown[] = [BUSY, 10, 13, 'EIO', 'ENOSPC', 'EDQUOT']

/** Says why the file can't be used. */
function explain(error: unknown): NonNullable<Reply['failure']> {
  const { code, errcode }: { code?: unknown; errcode?: unknown } = Object(error)
  // The lower byte of an extended code is the primary one.
  const primary = Number(errcode) & 0xff
  const cause = primary === BUSY ? LOCKED : error instanceof Error ? error.message : String(error)
  const mayPass = PASSING.includes(primary) || PASSING.includes(code)
  return { message: `The store ${file} can’t be used: ${cause}.`, mayPass }
}

/** Applies operations as a whole; if one of them fails, each by itself. */
function commit(operations: readonly Operation[]): Reply[] {
  try {
    opened ??= openDatabase()
    const { transaction, ensureInPlace, apply } = opened
    ensureInPlace()
    const begin = operations.every(({ name }) => name === 'read') ? 'BEGIN' : 'BEGIN IMMEDIATE'
    return transaction(() => operations.map(apply), begin)
  } catch (error) {
    const failure = explain(error)
    // It would be taken for a damaged one.
    if (!opened && isCreatedHere && sizeOf() === 0) rmSync(file, { force: true })
    const isLocked = failure.message.includes(LOCKED)
    if (operations.length > 1 && opened && !isLocked) return operations.flatMap((one) => commit([one]))
    return operations.map(() => ({ failure }))
  }
}

/** Commits the operations that wait, and goes on with the rest after those that arrived meanwhile. */
function commitNext(): void {
  const operations = waiting.splice(0, MOST_OPERATIONS)
  if (waiting.length > 0) setImmediate(commitNext)
  if (operations.length > 0) parentPort?.postMessage(commit(operations))
}

function take(request: Request): void {
  if (request.name !== 'close') {
    // Messages that have arrived are delivered before this: they are committed together.
    if (waiting.length === 0) setImmediate(commitNext)
    waiting.push(request)
    return
  }
  while (waiting.length > 0) commitNext()
  opened?.close()
  parentPort?.close()
}

parentPort?.on('message', (requests: readonly Request[]) => requests.forEach(take))
