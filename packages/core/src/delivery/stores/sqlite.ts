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
import { explain, mayPass } from './sqlite-errors.ts'
import { LAYOUT } from './sqlite-schema.ts'
import { startThread } from './sqlite-thread.ts'
import type { Reply, Request } from './sqlite-worker.ts'

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /** Path of the file. The store creates it and its folder. `:memory:` keeps nothing. */
  file: string
  /** @default Date.now */
  now?: () => number
}

/** A store that can be closed. */
export interface SqliteStore extends DeliveryStore {
  /** Resolves when the file is closed, after the operations that were begun. */
  close(): Promise<void>
}

/** How often expired records are removed, in milliseconds. */
const PURGE_MS = 60_000

interface Pending {
  /** The reply to a call has the type of the operation. */
  resolve(value: never): void
  reject(error: Error): void
}

/**
 * Makes a store in a file. Every write is on the disk before its promise resolves. An operation rejects with the cause
 * if the file can't be used, or if another process has locked it for two seconds, or four behind another operation; the next operation tries again.
 */
export function sqliteStore({ file, now = Date.now }: SqliteStoreOptions): SqliteStore {
  const pending = new Map<number, Pending>()
  let lastId = 0
  let isClosed = false
  let worker: Worker | undefined
  let outgoing: Request[] = []
  const purging = setInterval(() => worker && post({ name: 'purge', time: now() }), PURGE_MS)
  purging.unref()

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
      for (const { reject } of pending.values()) reject(new Error(`The store ${file} failed: ${reason}.`))
      pending.clear()
    })
    // It keeps the process alive during an operation only.
    started.unref()
    post({ name: 'purge', time: now() })
    return started
  }

  function settle(replies: readonly Reply<never>[]): void {
    for (const { id, value, failure } of replies) {
      const caller = pending.get(id)
      pending.delete(id)
      if (failure === undefined) caller?.resolve(value)
      else caller?.reject(new Error(failure))
    }
    if (pending.size === 0) worker?.unref()
  }

  function ask<Name extends keyof DeliveryStore>(
    name: Name,
    values: Parameters<DeliveryStore[Name]>,
  ): Promise<Awaited<ReturnType<DeliveryStore[Name]>>> {
    return new Promise((resolve, reject) => {
      if (isClosed) throw new Error(`The store ${file} is closed.`)
      worker ??= start()
      lastId += 1
      post({ id: lastId, name, time: now(), values })
      pending.set(lastId, { resolve, reject })
      worker.ref()
    })
  }

  return {
    claim: (...values) => ask('claim', values),
    renew: (...values) => ask('renew', values),
    advance: (...values) => ask('advance', values),
    complete: (...values) => ask('complete', values),
    release: (...values) => ask('release', values),
    reserve: (...values) => ask('reserve', values),
    read: (...values) => ask('read', values),
    probe: () => ask('probe', []),

    async close() {
      clearInterval(purging)
      isClosed = true
      if (!worker) return
      worker.ref()
      post({ name: 'close' })
      await once(worker, 'exit')
    },
  }
}

/** Whether a file is a store of this version, by its header, and can be written. SQLite takes longer to load. */
export function isSqliteFileReady(file: string): boolean {
  let opened: number | undefined
  try {
    accessSync(dirname(file), constants.W_OK)
    opened = openSync(file, 'r+')
    const header = Buffer.alloc(100)
    readSync(opened, header)
    return header.toString('latin1', 0, 16) === 'SQLite format 3\0' && header.readUInt32BE(60) === LAYOUT
  } catch {
    return false
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

/**
 * Opens the file of a store, creates what is missing, and closes it again.
 *
 * @returns the cause if the file is locked for two seconds, or its disk is full or fails: a store opens it once that
 * is over
 * @throws {Error} with the cause if the file can't be used at all
 */
export async function checkSqliteFile(file: string): Promise<string | undefined> {
  const { openDatabase } = await import('./sqlite-database.ts')
  try {
    openDatabase(file).database.close()
    return undefined
  } catch (error) {
    const cause = explain(error, file)
    if (mayPass(error)) return cause
    throw new Error(cause)
  }
}
