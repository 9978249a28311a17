/**
 * The thread of a SQLite store. It writes everything that waits in one transaction, with one sync of the disk.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { DeliveryStore } from '../store.ts'
import { createOperations, type Operations } from './rules.ts'
import { openDatabase } from './sqlite-database.ts'
import { explain, isLocked } from './sqlite-errors.ts'
import { createPurge } from './sqlite-purge.ts'
import { shorten } from './sqlite-rows.ts'

type Name = keyof DeliveryStore

/** The calls of one transaction, so that other processes wait for a few milliseconds only. */
const MOST_CALLS = 200

/** One operation of the store, with its time in milliseconds since 1970. */
interface Call<Called extends Name = Name> {
  id: number
  name: Called
  time: number
  values: Parameters<DeliveryStore[Called]>
}

/** A request to the thread. */
export type Request = Call | { name: 'purge'; time: number } | { name: 'close' }

/** The result of a call, or why it failed. */
export interface Reply<Value = unknown> {
  id: number
  value: Value
  failure?: string
}

const { file }: { file: string } = workerData

let opened: ReturnType<typeof open> | undefined
const waiting: Call[] = []

function open() {
  const { database, transaction, rows, assertInPlace } = openDatabase(file)
  const { claim, ...others } = createOperations(rows)
  const operations: Operations = {
    ...others,
    claim: (time, { delivery, ...request }) =>
      claim(time, { ...request, delivery: delivery && { ...delivery, digest: shorten(delivery.digest) } }),
  }
  return { database, transaction, operations, assertInPlace, purge: createPurge(database, transaction) }
}

function apply<Called extends Name>(operations: Operations, { name, time, values }: Call<Called>): unknown {
  return operations[name](time, ...values)
}

/** Applies calls as a whole; if one of them fails, each by itself. */
function commit(calls: readonly Call[]): Reply[] {
  try {
    opened ??= open()
    const { operations, transaction, assertInPlace } = opened
    assertInPlace()
    const begin = calls.every(({ name }) => name === 'read') ? 'BEGIN' : 'BEGIN IMMEDIATE'
    return transaction(() => calls.map((call) => ({ id: call.id, value: apply(operations, call) })), begin)
  } catch (error) {
    if (calls.length > 1 && opened && !isLocked(error)) return calls.flatMap((call) => commit([call]))
    const failure = explain(error, file)
    return calls.map(({ id }) => ({ id, value: undefined, failure }))
  }
}

/** Commits the calls that wait, and goes on with the rest after the calls that arrived meanwhile. */
function commitNext(): void {
  const calls = waiting.splice(0, MOST_CALLS)
  if (waiting.length > 0) setImmediate(commitNext)
  if (calls.length > 0) parentPort?.postMessage(commit(calls))
}

let isPurging = false

/** Removes a slice of what has expired, and goes on after the calls that arrived meanwhile. */
function purge(time: number): void {
  const started = performance.now()
  try {
    opened ??= open()
    isPurging = opened.purge(time)
  } catch {
    // The next call tells the cause, and the next purge goes on.
    isPurging = false
  }
  // As long as the slice took, so that half of the time is left for calls.
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
      opened?.database.close()
      parentPort?.close()
      break
    default:
      // Messages that have arrived are delivered before this: they are committed together.
      if (waiting.length === 0) setImmediate(commitNext)
      waiting.push(request)
  }
}
