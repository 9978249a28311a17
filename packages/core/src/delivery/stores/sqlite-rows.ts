import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod/mini'
import { PREFIX as ENCRYPTED } from '../keys.ts'
import type { RecordedResponse } from '../store.ts'
import type { Row, Rows } from './rules.ts'

/** A shorter hash saves space, and nobody can make another subject with the same one. */
const HASH_BYTES = 12
/** About as much as an event writes. */
const PROBE_BYTES = 16_384
/** So that the answer fits in later: a page of full rows that grow is split in two half-empty ones. */
const ROOM_BYTES = 64

const nullable = <Schema extends z.ZodMiniType>(schema: Schema) =>
  z.pipe(
    z.nullable(schema),
    z.transform((value) => value ?? undefined),
  )
const bytes = z.instanceof(Uint8Array)
const digest = z.pipe(
  bytes,
  z.transform((value) => Buffer.from(value).toString('hex')),
)
const body = z.pipe(
  z.union([z.string(), bytes]),
  z.transform((value) =>
    typeof value === 'string' ? value : ENCRYPTED + Buffer.from(value).toString('base64'),
  ),
)
const facts = { status: z.int(), code: nullable(z.string()), at: nullable(z.int()) }

const record = z.object({
  id: z.int(),
  fence: z.int(),
  owner: nullable(z.string()),
  lease_until: z.int(),
  delivery: nullable(z.string()),
  digest: nullable(digest),
  claimed: z.int(),
  expires: z.int(),
  status: nullable(z.int()),
  code: nullable(z.string()),
  answered: nullable(z.int()),
  body: nullable(body),
  answer_expires: nullable(z.int()),
})
const step = z.object({ name: z.string(), value: z.string() })
const earlierAnswer = z.object({ ...facts, body, digest, fence: z.int(), expires: z.int() })

/** A row of SQLite. */
export interface SqliteRow extends Row {
  id: number
  subject: string
}

function hashOf(text: string): Buffer {
  return hash('sha256', text, 'buffer').subarray(0, HASH_BYTES)
}

/** The digest that the rows have for a longer one, in hexadecimal. */
export function shorten(digest: string): string {
  return hashOf(digest).toString('hex')
}

/** Makes the rows of a database. */
export function createRows(database: DatabaseSync): Rows<SqliteRow> {
  const find = database.prepare(
    'SELECT * FROM records WHERE substr(subject, 1, 6) = substr(:subject, 1, 6) AND subject = :subject',
  )
  const insert = database.prepare(
    `INSERT INTO records (subject, fence, owner, lease_until, delivery, digest, claimed, expires, status, code, answered, body, answer_expires)
     VALUES (:subject, :fence, :owner, :lease_until, :delivery, :digest, :claimed, :expires, :status, :code, :answered, :body, :answer_expires)`,
  )
  const update = database.prepare(
    `UPDATE records SET fence = :fence, owner = :owner, lease_until = :lease_until, delivery = :delivery,
       digest = :digest, claimed = :claimed, expires = :expires, status = :status, code = :code, answered = :answered,
       body = :body, answer_expires = :answer_expires
     WHERE id = :id`,
  )
  const remove = database.prepare('DELETE FROM records WHERE id = ?')
  const findEarlier = database.prepare(
    'SELECT digest, fence, status, code, at, body, expires FROM answers WHERE record = ? AND delivery = ?',
  )
  const saveEarlier = database.prepare(
    `INSERT OR REPLACE INTO answers (record, delivery, digest, fence, status, code, at, body, expires)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const listSteps = database.prepare('SELECT name, value FROM steps WHERE record = ?')
  const saveStep = database.prepare('INSERT OR REPLACE INTO steps (record, name, value) VALUES (?, ?, ?)')
  const removeSteps = database.prepare('DELETE FROM steps WHERE record = ?')
  const probe = database.prepare('INSERT OR REPLACE INTO probe (id, filler) VALUES (1, zeroblob(?))')

  return {
    find(subject) {
      const found = find.get({ subject: hashOf(subject) })
      if (!found) return undefined
      const { status, code, answered, body, answer_expires, lease_until, ...row } = record.parse(found)
      const delivery = row.delivery === '' ? lastPart(subject) : row.delivery
      const at = answered === undefined ? undefined : row.claimed + answered
      const response = status === undefined || body === undefined ? undefined : { status, code, at, body }
      const answer = response && { response, expires: answer_expires ?? row.expires }
      return { ...row, subject, until: lease_until, delivery, answer }
    },
    insert(subject, row) {
      insert.run({ subject: hashOf(subject), ...toColumns(subject, row) })
    },
    update({ id, subject }, row) {
      update.run({ id, ...toColumns(subject, row) })
    },
    remove({ id }) {
      remove.run(id)
    },
    findEarlier({ id }, delivery) {
      const found = findEarlier.get(id, delivery)
      if (!found) return undefined
      const { digest, fence, expires, ...response } = earlierAnswer.parse(found)
      return { digest, fence, expires, response }
    },
    saveEarlier(
      { id },
      { delivery, digest, fence, expires, response: { status, code = null, at = null, body } },
    ) {
      const bytes = Buffer.from(digest, 'hex')
      saveEarlier.run(id, delivery, bytes, fence, status, code, at, toBytes(body), expires)
    },
    listSteps: ({ id }) =>
      z
        .array(step)
        .parse(listSteps.all(id))
        .map(({ name, value }) => [name, value]),
    saveSteps({ id }, steps) {
      for (const [name, json] of steps) saveStep.run(id, name, json)
    },
    removeSteps({ id }) {
      removeSteps.run(id)
    },
    probe() {
      probe.run(PROBE_BYTES)
    },
  }
}

function toColumns(subject: string, { until, answer, ...row }: Row) {
  const { delivery = null, owner = null, digest } = row
  const { status, code, at, body }: Partial<RecordedResponse> = answer?.response ?? {}
  return {
    fence: row.fence,
    owner,
    lease_until: until,
    delivery: delivery === lastPart(subject) ? '' : delivery,
    digest: digest === undefined ? null : Buffer.from(digest, 'hex'),
    claimed: row.claimed,
    expires: row.expires,
    status: status ?? null,
    code: code ?? null,
    answered: at === undefined ? null : at - row.claimed,
    body: body === undefined ? new Uint8Array(ROOM_BYTES) : toBytes(body),
    answer_expires: answer === undefined || answer.expires === row.expires ? null : answer.expires,
  }
}

/** The subject of a call ends with the id of its delivery. */
function lastPart(subject: string): string {
  return subject.slice(subject.lastIndexOf('/') + 1)
}

/** An encrypted text as bytes, which take a quarter less; any other text as it is. */
function toBytes(text: string): string | Uint8Array {
  if (!text.startsWith(ENCRYPTED)) return text
  const base64 = text.slice(ENCRYPTED.length)
  const bytes = Buffer.from(base64, 'base64')
  return bytes.toString('base64') === base64 ? bytes : text
}
