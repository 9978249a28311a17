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
import type { ClaimRequest, ClaimResult, DeliveryStore, Json, Lease } from '../delivery.ts'

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

// A record is one subject. Its steps and answers stand apart: a step is written, and an answer read, alone.
const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA busy_timeout = 1000;
  CREATE TABLE IF NOT EXISTS subjects (
    subject TEXT PRIMARY KEY,
    fence INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER NOT NULL,
    delivery TEXT,
    digest TEXT,
    taken_over INTEGER NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS steps (
    subject TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (subject, name)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS subjects_by_expiry ON subjects (expires);
  CREATE TABLE IF NOT EXISTS answers (
    subject TEXT NOT NULL,
    delivery TEXT NOT NULL,
    digest TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (subject, delivery)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS answers_by_expiry ON answers (expires);
`

const CLAIM = `
  INSERT INTO subjects (subject, fence, owner, lease_until, delivery, digest, taken_over, expires)
  SELECT :subject, 1, :owner, :until, :delivery, :digest, 0, :expires
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
    expires = MAX(subjects.expires, excluded.expires)
  WHERE owner IS NULL OR lease_until <= :now
  RETURNING fence, taken_over
`

const HELD = 'subject = :subject AND owner = :owner AND fence = :fence AND lease_until > :now'

const claimedRow = z.object({ fence: z.int(), taken_over: z.int() })
const stepRow = z.object({ name: z.string(), value: z.string() })
const answerRow = z.object({ digest: z.string(), status: z.int(), body: z.string() })
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
  const claim = database.prepare(CLAIM)
  const findAnswer = database.prepare(
    'SELECT digest, status, body FROM answers WHERE subject = ? AND delivery = ? AND expires > ?',
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
    `UPDATE subjects SET owner = NULL, lease_until = 0, delivery = NULL, digest = NULL WHERE ${HELD}`,
  )
  const record = database.prepare(
    `INSERT OR REPLACE INTO answers (subject, delivery, digest, status, body, expires)
     SELECT subject, delivery, digest, :status, :body, :expires FROM subjects WHERE ${HELD} AND delivery IS NOT NULL`,
  )
  const complete = database.prepare(
    `UPDATE subjects SET owner = NULL, lease_until = 0, delivery = NULL, digest = NULL,
       expires = :expires WHERE ${HELD}`,
  )
  const purges = [
    database.prepare('DELETE FROM subjects WHERE expires <= :now AND lease_until <= :now'),
    database.prepare('DELETE FROM answers WHERE expires <= :now'),
  ]
  const purgeSteps = database.prepare('DELETE FROM steps WHERE subject NOT IN (SELECT subject FROM subjects)')
  let claims = 0

  const held = ({ subject, owner, fence }: Lease) => ({ subject, owner, fence, now: now() })

  function refuse({ subject, delivery }: ClaimRequest): ClaimResult {
    const answer = delivery && answerRow.optional().parse(findAnswer.get(subject, delivery.id, now()))
    if (answer) {
      return answer.digest === delivery.digest
        ? { state: 'done', answer: { status: answer.status, body: answer.body } }
        : { state: 'mismatch' }
    }
    const holder = holderRow.parse(findHolder.get(subject))
    const mismatch = delivery && holder.delivery === delivery.id && holder.digest !== delivery.digest
    return mismatch
      ? { state: 'mismatch' }
      : { state: 'busy', retryAfterMs: Math.max(1, holder.lease_until - now()) }
  }

  /** Everything in `work` happens, or nothing of it, with no other process in between. */
  function together<Result>(work: () => Result): Result {
    database.exec('BEGIN IMMEDIATE')
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

    async complete(lease, { answer, progress, keepMs }) {
      const expires = now() + keepMs
      return together(() => {
        record.run({ ...held(lease), status: answer.status, body: answer.body, expires })
        if (complete.run({ ...held(lease), expires }).changes !== 1) return false
        forgetSteps.run(lease.subject)
        writeSteps(lease.subject, progress)
        return true
      })
    },

    async release(lease) {
      return release.run(held(lease)).changes === 1
    },

    async ping() {
      database.prepare('SELECT 1').get()
    },

    close() {
      database.close()
    },
  }
}
