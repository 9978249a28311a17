/**
 * A delivery store in one file, for one machine. Several processes may share it, and it survives a crash of
 * the process and of the machine. Needs Node 22.13 or later.
 *
 * A thread of its own writes the file, so that a slow disk or another process that has locked it stops nothing else.
 *
 * @module
 */
import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { DeliveryStore } from '../store.ts'
import { createDeliveryStore } from './delivery-store.ts'
import { FORMAT } from './format.ts'
import { startThread } from './sqlite-thread.ts'
import type { Operation, Reply, Request } from './sqlite-worker.ts'

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /** Path of the file. The store creates it and its folder. `:memory:` keeps nothing. */
  file: string
  /** Sign the records; see `HandlerDependencies`. Without any, who can write the file can change records. */
  recordKeys?: readonly string[]
  /** @default Date.now */
  now?: () => number
}

/** A store that can be closed. */
export interface SqliteStore extends DeliveryStore {
  /** Resolves when the file is closed, after the operations that were begun. */
  close(): Promise<void>
}

/** Why a file can't be used now, for a cause that passes without a change to the host. */
class PassingFault extends Error {}

/**
 * Makes a store in a file. Every write is on the disk before its promise resolves. An operation rejects with the cause
 * if the file can't be used, or if another process has locked it for two seconds, or
 * four behind another operation; the next operation tries again.
 */
export function sqliteStore({ file, recordKeys, now = Date.now }: SqliteStoreOptions): SqliteStore {
  /** The operations of the thread that have no reply yet, in order. */
  const waiting: PromiseWithResolvers<Reply['value']>[] = []
  let isClosed = false
  let worker: Worker | undefined
  let outgoing: Request[] = []

  /** Sends it together with all others of this turn: a message takes longer than its operation. */
  function post(request: Request): void {
    if (outgoing.push(request) > 1) return
    setImmediate(() => {
      worker?.postMessage(outgoing)
      outgoing = []
    })
  }

  function start(): Worker {
    const started = startThread({ file })
    let reason = 'its thread has ended'
    started.on('message', settle)
    started.on('error', (error) => {
      if (error instanceof Error) reason = error.message
    })
    started.on('exit', () => {
      worker = undefined
      outgoing = []
      for (const { reject } of waiting.splice(0)) reject(new Error(`The store ${file} failed: ${reason}.`))
    })
    // It keeps the process alive during an operation only.
    started.unref()
    return started
  }

  function settle(replies: readonly Reply[]): void {
    for (const { value, failure } of replies) {
      const caller = waiting.shift()
      if (failure === undefined) caller?.resolve(value)
      else caller?.reject(new (failure.mayPass ? PassingFault : Error)(failure.message))
    }
    if (waiting.length === 0) worker?.unref()
  }

  function ask(operation: Operation): Promise<Reply['value']> {
    worker ??= start()
    post(operation)
    const caller = Promise.withResolvers<Reply['value']>()
    waiting.push(caller)
    worker.ref()
    return caller.promise
  }

  /** The operations that were begun; most of them ask the thread twice. */
  const begun = new Set<Promise<unknown>>()

  function track<Values extends unknown[], Result>(operation: (...values: Values) => Promise<Result>) {
    return (...values: Values): Promise<Result> => {
      if (isClosed) return Promise.reject(new Error(`The store ${file} is closed.`))
      const work = operation(...values).finally(() => begun.delete(work))
      begun.add(work)
      return work
    }
  }

  const store = createDeliveryStore(
    {
      now,
      async read(key) {
        const text = await ask({ name: 'read', key })
        return { text: typeof text === 'string' ? text : undefined, time: now() }
      },
      async swap(key, mark, { text, keepMs }) {
        const time = now()
        return (await ask({ name: 'swap', key, mark, text, expires: time + keepMs, time })) === true
      },
      async probe() {
        await ask({ name: 'probe' })
      },
    },
    recordKeys,
  )

  return {
    claim: track(store.claim),
    renew: track(store.renew),
    advance: track(store.advance),
    complete: track(store.complete),
    release: track(store.release),
    reopen: track(store.reopen),
    reserve: track(store.reserve),
    read: track(store.read),
    probe: track(store.probe),

    async close() {
      isClosed = true
      await Promise.allSettled(begun)
      if (!worker) return
      worker.ref()
      post({ name: 'close' })
      await once(worker, 'exit')
    },
  }
}

/** Whether a file is a store of this version, by its header, and can be written. */
function isReady(file: string): boolean {
  let opened: number | undefined
  try {
    accessSync(dirname(file), constants.W_OK)
    opened = openSync(file, 'r+')
    const header = Buffer.alloc(100)
    readSync(opened, header)
    return header.toString('latin1', 0, 16) === 'SQLite format 3\0' && header.readUInt32BE(60) === FORMAT
  } catch {
    return false
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

/**
 * Checks that a store can open a file. One that is no store yet is opened, which creates what is missing, and closed
 * again: SQLite takes longer to load than a look at the header.
 *
 * @returns the cause if the file is locked for two seconds, or its disk is full or fails: a store opens it once that
 * is over
 * @throws {Error} with the cause if the file can't be used at all
 */
export async function checkSqliteFile(file: string): Promise<string | undefined> {
  if (isReady(file)) return undefined
  const store = sqliteStore({ file })
  try {
    await store.probe()
    return undefined
  } catch (error) {
    if (error instanceof PassingFault) return error.message
    throw error
  } finally {
    await store.close()
  }
}
