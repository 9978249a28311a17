/**
 * A delivery store in one file, for one machine: several processes may share it, and it survives a crash of
 * the process and of the machine. Needs Node 22.13 or later.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import type { Json } from '../../contract/handler-context.ts'
import type { ClaimRequest, ClaimResult, DeliveryStore, Lease, SubjectRecord } from '../store.ts'
import { LATER_COLUMNS, SCHEMA } from './sqlite-schema.ts'

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /** The file; it and its folder are made where they are missing. `:memory:` keeps nothing. */
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

const CLAIM = `
  INSERT INTO subjects (subject, fence, owner, lease_until, delivery, digest, taken_over, claimed, expires)
  SELECT :subject, 1, :owner, :until, :delivery, :digest, 0, :now, :expires
  WHERE NOT EXISTS (
    SELECT 1 FROM answers WHERE subject = :subject AND delivery = :delivery AND expires > :now
  )
  ON CONFLICT (subject) DO UPDATE SET
    fence = fence + 1,
    taken_over = owner IS NOT NULL AND subjects.expires > :now,
    owner = excluded.owner,
    lease_until = excluded.lease_until,
    delivery = excluded.delivery,
    digest = excluded.digest,
    claimed = excluded.claimed,
    expires = MAX(subjects.expires, excluded.expires)
  WHERE owner IS NULL OR lease_until <= :now
  RETURNING fence, taken_over
`

const HELD = 'subject = :subject AND owner = :owner AND fence = :fence AND lease_until > :now'

const claimedRow = z.object({ fence: z.int(), taken_over: z.int() })
const stepRow = z.object({ name: z.string(), value: z.string() })
const answerRow = z.object({
  digest: z.string(),
  status: z.int(),
  code: z.string().nullable(),
  at: z.int().nullable(),
  body: z.string(),
})
const listedRow = answerRow.pick({ status: true, code: true, at: true }).extend({ delivery: z.string() })
const subjectRow = z.object({
  fence: z.int(),
  owner: z.string().nullable(),
  lease_until: z.int(),
  delivery: z.string().nullable(),
  claimed: z.int(),
  expires: z.int(),
})
const holderRow = z.object({
  lease_until: z.int(),
  delivery: z.string().nullable(),
  digest: z.string().nullable(),
})

/** How long an unfinished record is kept after its last claim. */
const UNFINISHED_MS = 7 * 24 * 60 * 60 * 1000
/** Expired records are removed once in so many claims. */
const PURGE_EVERY = 1_000

/**
 * Opens a store in a file. Every write is on the disk before it is answered.
 *
 * @throws where the file can't be opened
 */
export function sqliteStore({ file, now = Date.now }: SqliteStoreOptions): SqliteStore {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(file)
  database.exec(SCHEMA)
  together(addLaterColumns)
  const claim = database.prepare(CLAIM)
  const findAnswer = database.prepare(
    'SELECT digest, status, code, at, body FROM answers WHERE subject = ? AND delivery = ? AND expires > ?',
  )
  const listAnswers = database.prepare(
    'SELECT delivery, status, code, at FROM answers WHERE subject = ? AND expires > ?',
  )
  const findSubject = database.prepare(
    `SELECT fence, owner, lease_until, delivery, claimed, expires FROM subjects
     WHERE subject = :subject AND (expires > :now OR (owner IS NOT NULL AND lease_until > :now))`,
  )
  const findHolder = database.prepare('SELECT lease_until, delivery, digest FROM subjects WHERE subject = ?')
  const renew = database.prepare(`UPDATE subjects SET lease_until = :until WHERE ${HELD}`)
  const isHeld = database.prepare(`SELECT 1 FROM subjects WHERE ${HELD}`)
  const writeStep = database.prepare('INSERT OR REPLACE INTO steps (subject, name, value) VALUES (?, ?, ?)')
  const findSteps = database.prepare('SELECT name, value FROM steps WHERE subject = ?')
  const forgetSteps = database.prepare('DELETE FROM steps WHERE subject = ?')
  const forgetExpired = database.prepare(
    `DELETE FROM steps WHERE subject = :subject AND EXISTS
       (SELECT 1 FROM subjects WHERE subject = :subject AND expires <= :now AND lease_until <= :now)`,
  )
  const release = database.prepare(
    `UPDATE subjects SET owner = NULL, lease_until = 0, digest = NULL WHERE ${HELD}`,
  )
  const record = database.prepare(
    `INSERT OR REPLACE INTO answers (subject, delivery, digest, status, code, at, body, expires)
     SELECT subject, delivery, digest, :status, :code, :at, :body, :expires FROM subjects WHERE ${HELD} AND delivery IS NOT NULL`,
  )
  const complete = database.prepare(
    `UPDATE subjects SET owner = NULL, lease_until = 0, digest = NULL, expires = :expires WHERE ${HELD}`,
  )
  const purges = [
    database.prepare('DELETE FROM subjects WHERE expires <= :now AND lease_until <= :now'),
    database.prepare('DELETE FROM answers WHERE expires <= :now'),
  ]
  const purgeSteps = database.prepare('DELETE FROM steps WHERE subject NOT IN (SELECT subject FROM subjects)')
  let claims = 0

  const held = ({ subject, owner, fence }: Lease) => ({ subject, owner, fence, now: now() })

  function addLaterColumns(): void {
    for (const [table, column, type] of LATER_COLUMNS) {
      const there = database.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column)
      if (!there) database.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`)
    }
  }

  function refuse({ subject, delivery }: ClaimRequest): ClaimResult {
    const answer = delivery && answerRow.optional().parse(findAnswer.get(subject, delivery.id, now()))
    if (answer) {
      return answer.digest === delivery.digest
        ? { state: 'done', response: { ...factsOf(answer), body: answer.body } }
        : { state: 'mismatch' }
    }
    const holder = holderRow.parse(findHolder.get(subject))
    const mismatch = delivery && holder.delivery === delivery.id && holder.digest !== delivery.digest
    return mismatch
      ? { state: 'mismatch' }
      : { state: 'busy', retryAfterMs: Math.max(1, holder.lease_until - now()) }
  }

  /** Everything in `work` happens, or nothing of it, with no other process in between. */
  function together<Result>(work: () => Result, begin = 'BEGIN IMMEDIATE'): Result {
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

  function writeSteps(subject: string, steps: Record<string, Json>): void {
    for (const [name, value] of Object.entries(steps)) writeStep.run(subject, name, JSON.stringify(value))
  }

  function readSteps(subject: string): Record<string, Json> {
    const rows = z.array(stepRow).parse(findSteps.all(subject))
    return Object.fromEntries(rows.map(({ name, value }) => [name, z.json().parse(JSON.parse(value))]))
  }

  function purge(): void {
    for (const statement of purges) statement.run({ now: now() })
    purgeSteps.run()
  }

  return {
    async claim(request) {
      const { subject, delivery, leaseMs } = request
      claims += 1
      if (claims % PURGE_EVERY === 0) together(purge)
      const owner = randomUUID()
      return together((): ClaimResult => {
        forgetExpired.run({ subject, now: now() })
        const row = claim.get({
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
        return { state: 'claimed', lease, takenOver: taken_over === 1, progress: readSteps(subject) }
      })
    },

    async renew(lease, leaseMs) {
      return renew.run({ ...held(lease), until: now() + leaseMs }).changes === 1
    },

    async advance(lease, steps) {
      return together(() => {
        if (!isHeld.get(held(lease))) return false
        writeSteps(lease.subject, steps)
        return true
      })
    },

    async complete(lease, { response: answer, progress, keepMs }) {
      const expires = now() + keepMs
      return together(() => {
        const { status, code = null, at = null, body } = answer
        record.run({ ...held(lease), status, code, at, body, expires })
        if (complete.run({ ...held(lease), expires }).changes !== 1) return false
        forgetSteps.run(lease.subject)
        writeSteps(lease.subject, progress)
        return true
      })
    },

    async release(lease) {
      return release.run(held(lease)).changes === 1
    },

    async read(subject): Promise<SubjectRecord | undefined> {
      return together(() => {
        const row = subjectRow.optional().parse(findSubject.get({ subject, now: now() }))
        if (!row) return undefined
        const answers = z.array(listedRow).parse(listAnswers.all(subject, now()))
        return {
          fence: row.fence,
          claimedAt: row.claimed,
          delivery: row.delivery ?? undefined,
          leaseMs: row.owner === null ? undefined : Math.max(0, row.lease_until - now()),
          progress: readSteps(subject),
          responses: answers.map((answer) => ({ delivery: answer.delivery, ...factsOf(answer) })),
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

function factsOf({ status, code, at }: Pick<z.infer<typeof answerRow>, 'status' | 'code' | 'at'>) {
  return { status, ...(code === null ? {} : { code }), ...(at === null ? {} : { at }) }
}
