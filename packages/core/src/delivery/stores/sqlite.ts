/**
 * A delivery store in one file, for one machine. Several processes may share it, and it survives a crash of
 * the process and of the machine. Needs Node 22.13 or later.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import type { Json } from '../../contract/handler-context.ts'
import type { ClaimResult, DeliveryStore, Lease } from '../store.ts'
import { readSteps, recordedResponse, responseFacts, UNFINISHED_MS, writeSteps } from './records.ts'
import { LATER_COLUMNS, SCHEMA } from './sqlite-schema.ts'

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /** Path of the file. The store creates it and its folder, for its owner alone. `:memory:` keeps nothing. */
  file: string
  /** @default Date.now */
  now?: () => number
}

/** A store that can be closed. */
export interface SqliteStore extends DeliveryStore {
  close(): void
}

/** The number of claims between two removals of expired records. */
const PURGE_EVERY = 1_000

const subjectRow = z.object({
  subject: z.string(),
  fence: z.int(),
  owner: z.string().nullable(),
  lease_until: z.int(),
  delivery: z.string().nullable(),
  digest: z.string().nullable(),
  claimed: z.int(),
  expires: z.int(),
})
type SubjectRow = z.infer<typeof subjectRow>
const stepRow = z.object({ name: z.string(), value: z.string() })
const responseRow = recordedResponse.extend({ digest: z.string() })
const listedRow = responseFacts.extend({ delivery: z.string() })

/** Makes the file readable by its owner alone. SQLite gives its companions the same mode when it creates them. */
function createPrivateFile(file: string): void {
  // A folder that exists may be somebody else's, too.
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600))
  for (const path of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(path)) chmodSync(path, 0o600)
}

/**
 * Opens a store in a file. Every write is on the disk before its promise resolves.
 *
 * @throws if the file can't be opened
 */
export function sqliteStore({ file, now = Date.now }: SqliteStoreOptions): SqliteStore {
  if (file !== ':memory:') createPrivateFile(file)
  const database = new DatabaseSync(file)
  database.exec(SCHEMA)
  transaction(addLaterColumns)
  const findSubject = database.prepare('SELECT * FROM subjects WHERE subject = ?')
  const saveSubject = database.prepare(
    // With names: in a file of an earlier version, the columns have another order.
    `INSERT OR REPLACE INTO subjects
       (subject, fence, owner, lease_until, delivery, digest, taken_over, claimed, expires) VALUES
       (:subject, :fence, :owner, :lease_until, :delivery, :digest, 0, :claimed, :expires)`,
  )
  const findResponse = database.prepare(
    'SELECT digest, status, code, at, body FROM answers WHERE subject = ? AND delivery = ? AND expires > ?',
  )
  const listResponses = database.prepare(
    'SELECT delivery, status, code, at FROM answers WHERE subject = ? AND expires > ?',
  )
  const saveResponse = database.prepare(
    `INSERT OR REPLACE INTO answers (subject, delivery, digest, status, code, at, body, expires)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const findSteps = database.prepare('SELECT name, value FROM steps WHERE subject = ?')
  const saveStep = database.prepare('INSERT OR REPLACE INTO steps (subject, name, value) VALUES (?, ?, ?)')
  const deleteSteps = database.prepare('DELETE FROM steps WHERE subject = ?')
  let claims = 0

  /** Runs `work` as a whole or not at all, with no other process in between. */
  function transaction<Result>(work: () => Result, begin = 'BEGIN IMMEDIATE'): Result {
    database.exec(begin)
    try {
      const result = work()
      database.exec('COMMIT')
      return result
    } catch (error) {
      database.exec('ROLLBACK')
      throw error
    }
  }

  function addLaterColumns(): void {
    for (const [table, column, type] of LATER_COLUMNS) {
      const there = database.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column)
      if (!there) database.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`)
    }
  }

  function purge(): void {
    const time = now()
    database.exec(`
      DELETE FROM subjects WHERE expires <= ${time} AND lease_until <= ${time};
      DELETE FROM answers WHERE expires <= ${time};
      DELETE FROM steps WHERE subject NOT IN (SELECT subject FROM subjects)`)
  }

  const load = (subject: string) => subjectRow.optional().parse(findSubject.get(subject))
  const isHeld = (row: SubjectRow) => row.owner !== null && row.lease_until > now()

  function loadSteps(subject: string): Record<string, Json> {
    const rows = z.array(stepRow).parse(findSteps.all(subject))
    return readSteps(rows.map(({ name, value }) => [name, value]))
  }

  function storeSteps(subject: string, steps: Record<string, Json>): void {
    for (const [name, json] of writeSteps(steps)) saveStep.run(subject, name, json)
  }

  /** Runs `work` if the lease is valid. */
  async function write(lease: Lease, work: (row: SubjectRow) => void): Promise<boolean> {
    return transaction(() => {
      const row = load(lease.subject)
      const valid = row?.owner === lease.owner && row.fence === lease.fence && isHeld(row)
      if (valid) work(row)
      return valid
    })
  }

  return {
    async claim({ subject, delivery, leaseMs }) {
      claims += 1
      if (claims % PURGE_EVERY === 0) transaction(purge)
      return transaction((): ClaimResult => {
        const time = now()
        const found = delivery && findResponse.get(subject, delivery.id, time)
        if (found) {
          const { digest, ...response } = responseRow.parse(found)
          return digest === delivery.digest ? { state: 'done', response } : { state: 'mismatch' }
        }
        const row = load(subject)
        // A holder that vanished leaves its digest.
        const isSame = delivery && row?.delivery === delivery.id && row.digest !== null
        if (isSame && row.digest !== delivery.digest) return { state: 'mismatch' }
        if (row && isHeld(row)) return { state: 'busy', retryAfterMs: row.lease_until - time }
        if (row && row.expires <= time) deleteSteps.run(subject)
        const lease = { subject, owner: randomUUID(), fence: (row?.fence ?? 0) + 1 }
        saveSubject.run({
          ...lease,
          lease_until: time + leaseMs,
          delivery: delivery?.id ?? null,
          digest: delivery?.digest ?? null,
          claimed: time,
          expires: Math.max(row?.expires ?? 0, time + UNFINISHED_MS),
        })
        return { state: 'claimed', lease, progress: loadSteps(subject) }
      })
    },

    renew: (lease, leaseMs) =>
      write(lease, (row) => saveSubject.run({ ...row, lease_until: now() + leaseMs })),

    advance: (lease, steps) => write(lease, () => storeSteps(lease.subject, steps)),

    complete: (lease, { response: { status, code = null, at = null, body }, progress, ...keep }) =>
      write(lease, (row) => {
        const [expires, until] = [now() + keep.keepMs, now() + keep.keepResponseMs]
        const { subject, delivery, digest } = row
        if (delivery !== null) saveResponse.run(subject, delivery, digest, status, code, at, body, until)
        deleteSteps.run(subject)
        storeSteps(subject, progress)
        saveSubject.run({ ...row, owner: null, lease_until: 0, digest: null, expires })
      }),

    release: (lease) =>
      write(lease, (row) => saveSubject.run({ ...row, owner: null, lease_until: 0, digest: null })),

    async read(subject) {
      return transaction(() => {
        const row = load(subject)
        if (!row || (row.expires <= now() && !isHeld(row))) return undefined
        return {
          fence: row.fence,
          claimedAt: row.claimed,
          delivery: row.delivery ?? undefined,
          leaseMs: row.owner === null ? undefined : Math.max(0, row.lease_until - now()),
          progress: loadSteps(subject),
          responses: z.array(listedRow).parse(listResponses.all(subject, now())),
          expires: row.expires,
        }
      }, 'BEGIN')
    },

    async ping() {
      database.prepare('SELECT 1').get()
    },

    close() {
      database.close()
    },
  }
}
