/**
 * A delivery store in one file, for one machine. Several processes may share it, and it survives a crash of
 * the process and of the machine. Needs Node 22.13 or later.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import * as z from 'zod'
import type { ClaimRequest, ClaimResult, DeliveryStore, Json, Lease } from '../delivery.ts'
import { answerFacts, readSteps, recordedAnswer, UNFINISHED_MS, writeSteps } from './records.ts'
import { LATER_COLUMNS, SCHEMA, SQL } from './sqlite-schema.ts'

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /** Path of the file. The store creates it and its folder. `:memory:` keeps nothing. */
  file: string
  /**
   * The time in milliseconds since 1970.
   * @default Date.now
   */
  now?: () => number
}

/** A store that can be closed. */
export interface SqliteStore extends DeliveryStore {
  close(): void
}

/** One in so many claims removes the expired records. */
const PURGE_EVERY = 1_000

const claimedRow = z.object({ fence: z.int(), taken_over: z.int() })
const stepRow = z.object({ name: z.string(), value: z.string() })
const answerRow = recordedAnswer.extend({ digest: z.string() })
const listedRow = answerFacts.extend({ delivery: z.string() })
const subjectRow = z.object({
  fence: z.int(),
  owner: z.string().nullable(),
  lease_until: z.int(),
  delivery: z.string().nullable(),
  digest: z.string().nullable(),
  claimed: z.int(),
  expires: z.int(),
})

/**
 * Opens a store in a file. Every write is on the disk before its promise resolves.
 *
 * @throws if the file can't be opened
 */
export function sqliteStore({ file, now = Date.now }: SqliteStoreOptions): SqliteStore {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(file)
  const prepared = new Map<keyof typeof SQL, StatementSync>()
  let claims = 0

  function statement(name: keyof typeof SQL): StatementSync {
    const known = prepared.get(name) ?? database.prepare(SQL[name])
    prepared.set(name, known)
    return known
  }

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

  const held = ({ subject, owner, fence }: Lease) => ({ subject, owner, fence, now: now() })

  function storeSteps(subject: string, steps: Record<string, Json>): void {
    for (const [name, json] of writeSteps(steps)) statement('writeStep').run(subject, name, json)
  }

  function loadSteps(subject: string): Record<string, Json> {
    const rows = z.array(stepRow).parse(statement('readSteps').all(subject))
    return readSteps(rows.map(({ name, value }) => [name, value]))
  }

  const loadSubject = (subject: string) =>
    subjectRow.optional().parse(statement('readSubject').get({ subject, now: now() }))

  /** Why the claim was refused: the delivery was answered before, or another holder works on the subject. */
  function refuse({ subject, delivery }: ClaimRequest): ClaimResult {
    const row = delivery && statement('readAnswer').get(subject, delivery.id, now())
    if (row) {
      const { digest, ...answer } = answerRow.parse(row)
      return digest === delivery.digest ? { state: 'done', answer } : { state: 'mismatch' }
    }
    const holder = loadSubject(subject)
    const isSame = delivery && holder?.delivery === delivery.id
    if (isSame && holder?.digest !== delivery.digest) return { state: 'mismatch' }
    return { state: 'busy', retryAfterMs: Math.max(1, (holder?.lease_until ?? 0) - now()) }
  }

  function purge(): void {
    const time = now()
    database.exec(`
      DELETE FROM subjects WHERE expires <= ${time} AND lease_until <= ${time};
      DELETE FROM answers WHERE expires <= ${time};
      DELETE FROM steps WHERE subject NOT IN (SELECT subject FROM subjects)`)
  }

  database.exec(SCHEMA)
  transaction(addLaterColumns)

  return {
    async claim(request) {
      const { subject, delivery, leaseMs } = request
      claims += 1
      if (claims % PURGE_EVERY === 0) transaction(purge)
      const owner = randomUUID()
      return transaction((): ClaimResult => {
        statement('deleteExpiredSteps').run({ subject, now: now() })
        const row = statement('claim').get({
          subject,
          owner,
          now: now(),
          until: now() + leaseMs,
          delivery: delivery?.id ?? null,
          digest: delivery?.digest ?? null,
          expires: now() + UNFINISHED_MS,
        })
        if (!row) return refuse(request)
        const { fence, taken_over } = claimedRow.parse(row)
        const lease = { subject, owner, fence }
        return { state: 'claimed', lease, takenOver: taken_over === 1, progress: loadSteps(subject) }
      })
    },

    async renew(lease, leaseMs) {
      return statement('renew').run({ ...held(lease), until: now() + leaseMs }).changes === 1
    },

    async advance(lease, steps) {
      return transaction(() => {
        if (!statement('isHeld').get(held(lease))) return false
        storeSteps(lease.subject, steps)
        return true
      })
    },

    async complete(lease, { answer, progress, keepMs }) {
      const expires = now() + keepMs
      return transaction(() => {
        const { status, code = null, at = null, body } = answer
        statement('recordAnswer').run({ ...held(lease), status, code, at, body, expires })
        if (statement('complete').run({ ...held(lease), expires }).changes !== 1) return false
        statement('deleteSteps').run(lease.subject)
        storeSteps(lease.subject, progress)
        return true
      })
    },

    async release(lease) {
      return statement('release').run(held(lease)).changes === 1
    },

    async read(subject) {
      return transaction(() => {
        const row = loadSubject(subject)
        if (!row) return undefined
        return {
          fence: row.fence,
          claimedAt: row.claimed,
          delivery: row.delivery ?? undefined,
          leaseMs: row.owner === null ? undefined : Math.max(0, row.lease_until - now()),
          progress: loadSteps(subject),
          answers: z.array(listedRow).parse(statement('listAnswers').all(subject, now())),
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
