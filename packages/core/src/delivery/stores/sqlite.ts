/**
 * A delivery store in one file, for one machine. Several processes may share it, and it survives a crash of
 * the process and of the machine. Needs Node 22.13 or later.
 *
 * A thread of its own writes the file, so that a slow disk or another process that has locked it stops nothing else.
 *
 * @module
 */
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import type { DeliveryStore } from '../store.ts'
import { createDeliveryStore } from './delivery-store.ts'
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
  /** Resolves when the file is closed. Call it after the last operation: one that is under way may fail. */
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

  async function ask(operation: Operation): Promise<Reply['value']> {
    if (isClosed) throw new Error(`The store ${file} is closed.`)
    worker ??= start()
    // The thread keeps the process alive during an operation only.
    worker.ref()
    post(operation)
    const caller = Promise.withResolvers<Reply['value']>()
    waiting.push(caller)
    return caller.promise
  }

  const store = createDeliveryStore(
    {
      now,
      async read(key) {
        const text = await ask({ name: 'read', key })
        return { text: typeof text === 'string' ? text : undefined, time: now() }
      },
      async swap(key, mark, text, keepMs) {
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
    ...store,
    async close() {
      isClosed = true
      if (!worker) return
      worker.ref()
      post({ name: 'close' })
      await once(worker, 'exit')
    },
  }
}

/**
 * Checks that a store can open a file, and creates what is missing.
 *
 * @returns the cause if the file is locked for two seconds, or its disk is full or fails: a store opens it once that
 * is over
 * @throws {Error} with the cause if the file can't be used at all
 */
export async function checkSqliteFile(file: string): Promise<string | undefined> {
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
