/**
 * Upgrades a file of an earlier version, which kept the columns of `subjects` and of all `answers` apart.
 *
 * @module
 */
import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { recordedResponse } from './records.ts'
import { createRows, shorten } from './sqlite-rows.ts'
import { SCHEMA } from './sqlite-schema.ts'

const orUndefined = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined)
const digest = z.string().transform(shorten)
const subjectRow = z.object({
  subject: z.string(),
  fence: z.int(),
  owner: orUndefined(z.string()),
  lease_until: z.int(),
  delivery: orUndefined(z.string()),
  digest: orUndefined(digest),
  claimed: z.int(),
  expires: z.int(),
})
const stepRow = z.object({ name: z.string(), value: z.string() })
const answerRow = recordedResponse.extend({ delivery: z.string(), digest, expires: z.int() })

/** Whether a file has the layout of an earlier version. */
export function hasEarlierLayout(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'subjects'").get() !== undefined
}

/** Moves every record into the layout of this version. */
export function upgrade(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE steps RENAME TO earlier_steps;
    ALTER TABLE answers RENAME TO earlier_answers;
    DROP INDEX answers_by_expiry;
    ${SCHEMA}`)
  const rows = createRows(database)
  const steps = database.prepare('SELECT * FROM earlier_steps WHERE subject = ?')
  const answers = database.prepare('SELECT * FROM earlier_answers WHERE subject = ?')
  for (const found of database.prepare('SELECT * FROM subjects').iterate()) {
    const { lease_until: until, ...row } = subjectRow.parse(found)
    rows.insert(row.subject, { ...row, until, answer: undefined })
    const inserted = rows.find(row.subject)
    if (!inserted) continue
    rows.saveSteps(
      inserted,
      z
        .array(stepRow)
        .parse(steps.all(row.subject))
        .map(({ name, value }) => [name, value]),
    )
    for (const { delivery, digest, expires, ...response } of z
      .array(answerRow)
      .parse(answers.all(row.subject))) {
      const isLast = row.owner === undefined && row.delivery === delivery
      if (isLast) rows.update(inserted, { ...inserted, digest, answer: { response, expires } })
      else rows.saveEarlier(inserted, { delivery, digest, expires, response })
    }
  }
  // A host of that version fails at its start, instead of going on without these records.
  database.exec(`
    DROP TABLE subjects; DROP TABLE earlier_steps; DROP TABLE earlier_answers;
    CREATE VIEW subjects AS SELECT 'A later version of the host has upgraded this file.'`)
}
