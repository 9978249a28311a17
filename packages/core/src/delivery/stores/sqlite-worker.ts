/**
 * The thread of a SQLite store. It does everything that waits in one transaction, with one sync of the disk.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from './sqlite-database.ts'
import { explain, isLocked } from './sqlite-errors.ts'

/** The operations of one transaction, so that other processes wait for a few milliseconds only. */
const MOST_OPERATIONS = 200

/** One operation on the file. */
export type Operation =
  | { name: 'read'; key: string }
  | { name: 'swap'; key: string; mark: string; text: string; expires: number }
  | { name: 'probe' }

/** A request to the thread. */
export type Request = Operation | { name: 'purge'; time: number } | { name: 'close' }

/** The result of an operation, or why it failed; in the order of the operations. */
export interface Reply {
  value?: string | boolean | undefined
  failure?: string
}

const { file }: { file: string } = workerData

let opened: ReturnType<typeof openDatabase> | undefined
const waiting: Operation[] = []

function open() {
  opened ??= openDatabase(file)
  return opened
}

function apply(operation: Operation): Reply {
  const { read, swap, probe } = open()
  switch (operation.name) {
    case 'read':
      return { value: read(operation.key) }
    case 'swap':
      return { value: swap(operation.key, operation.mark, operation.text, operation.expires) }
    case 'probe':
      return { value: probe() }
  }
}

/** Applies operations as a whole; if one of them fails, each by itself. */
function commit(operations: readonly Operation[]): Reply[] {
  try {
    const { transaction, assertInPlace } = open()
    assertInPlace()
    const begin = operations.every(({ name }) => name === 'read') ? 'BEGIN' : 'BEGIN IMMEDIATE'
    return transaction(() => operations.map(apply), begin)
  } catch (error) {
    if (operations.length > 1 && opened && !isLocked(error)) return operations.flatMap((one) => commit([one]))
    const failure = explain(error, file)
    return operations.map(() => ({ failure }))
  }
}

/** Commits the operations that wait, and goes on with the rest after those that arrived meanwhile. */
function commitNext(): void {
  const operations = waiting.splice(0, MOST_OPERATIONS)
  if (waiting.length > 0) setImmediate(commitNext)
  if (operations.length > 0) parentPort?.postMessage(commit(operations))
}

let isPurging = false

/** Removes a slice of what has expired, and goes on after the operations that arrived meanwhile. */
function purge(time: number): void {
  const started = performance.now()
  try {
    isPurging = open().purge(time)
  } catch {
    // The next operation tells the cause, and the next purge goes on.
    isPurging = false
  }
  // As long as the slice took, so that half of the time is left for operations.
  if (isPurging) setTimeout(() => purge(time), performance.now() - started)
}

parentPort?.on('message', (requests: readonly Request[]) => {
  for (const request of requests) take(request)
})

function take(request: Request): void {
  switch (request.name) {
    case 'purge':
      if (!isPurging) purge(request.time)
      break
    case 'close':
      while (waiting.length > 0) commitNext()
      isPurging = false
      opened?.close()
      parentPort?.close()
      break
    default:
      // Messages that have arrived are delivered before this: they are committed together.
      if (waiting.length === 0) setImmediate(commitNext)
      waiting.push(request)
  }
}
