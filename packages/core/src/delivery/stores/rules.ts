/**
 * The rules of claims, for the stores that keep rows: in memory, or in SQLite.
 *
 * @module
 */
import type { DeliveryStore, Lease, RecordedResponse } from '../store.ts'
import { readSteps, UNFINISHED_MS, writeSteps } from './records.ts'

/** A response, and when it expires. */
interface Answer {
  response: RecordedResponse
  expires: number
}

/** The answer to a delivery that is not the last one of its subject. */
export interface EarlierAnswer extends Answer {
  delivery: string
  digest: string
  /** Of the claim under which it was given. */
  fence: number
}

/** The record of a subject, without its steps and its earlier answers. */
export interface Row {
  fence: number
  owner: string | undefined
  until: number
  /** The delivery of the last claim. */
  delivery: string | undefined
  /** Absent after a release: then the delivery may come back with another body. */
  digest: string | undefined
  claimed: number
  expires: number
  /** The answer to `delivery`. */
  answer: Answer | undefined
}

/** Where the rows are. */
export interface Rows<Found extends Row> {
  find(subject: string): Found | undefined
  insert(subject: string, row: Row): void
  update(found: Found, row: Row): void
  /** Removes a row with its steps and its earlier answers. */
  remove(found: Found): void
  findEarlier(found: Found, delivery: string): Omit<EarlierAnswer, 'delivery'> | undefined
  saveEarlier(found: Found, answer: EarlierAnswer): void
  listSteps(found: Found): readonly (readonly [name: string, json: string])[]
  saveSteps(found: Found, steps: readonly (readonly [name: string, json: string])[]): void
  removeSteps(found: Found): void
  /** @throws if it can't be written */
  probe(): void
}

/** The operations of a store, at a time in milliseconds since 1970. */
export type Operations = {
  [Name in keyof DeliveryStore]: (
    time: number,
    ...values: Parameters<DeliveryStore[Name]>
  ) => Awaited<ReturnType<DeliveryStore[Name]>>
}

/** Makes the operations of a store from its rows. */
export function createOperations<Found extends Row>(rows: Rows<Found>): Operations {
  const isHeld = ({ owner, until }: Row, time: number) => owner !== undefined && until > time
  const isKept = (row: Row, time: number) => row.expires > time || isHeld(row, time)

  function write(time: number, { subject, owner, fence }: Lease, apply: (row: Found) => void): boolean {
    const row = rows.find(subject)
    if (row?.owner !== owner || row.fence !== fence || !isHeld(row, time)) return false
    apply(row)
    return true
  }

  return {
    claim(time, { subject, delivery, leaseMs, owner = crypto.randomUUID() }) {
      const stored = rows.find(subject)
      const row = stored && isKept(stored, time) ? stored : undefined
      const isLast = row?.delivery === delivery?.id
      const known =
        row &&
        delivery &&
        (isLast
          ? { ...row.answer, digest: row.digest, fence: row.fence }
          : rows.findEarlier(row, delivery.id))
      const { digest, response, fence = 0, expires = Number.POSITIVE_INFINITY } = known ?? {}
      if (delivery && digest !== undefined && expires > time) {
        if (digest !== delivery.digest) return { state: 'mismatch' }
        if (response) return { state: 'done', response, fence }
      }
      if (row && isHeld(row, time)) {
        if (row.owner !== owner) return { state: 'busy', retryAfterMs: row.until - time }
        const lease = { subject, owner, fence: row.fence, delivery: row.delivery }
        return { state: 'claimed', lease, progress: readSteps(rows.listSteps(row)) }
      }

      const lease = { subject, owner, fence: (row?.fence ?? 0) + 1, delivery: delivery?.id }
      const claimed: Row = {
        fence: lease.fence,
        owner: lease.owner,
        until: time + leaseMs,
        delivery: delivery?.id,
        digest: delivery?.digest,
        claimed: time,
        expires: Math.max(row?.expires ?? 0, time + UNFINISHED_MS),
        answer: undefined,
      }
      if (!row) {
        if (stored) rows.remove(stored)
        rows.insert(subject, claimed)
        return { state: 'claimed', lease, progress: {} }
      }
      const { answer, delivery: last, digest: lastDigest } = row
      if (answer && answer.expires > time && last !== undefined && lastDigest !== undefined)
        rows.saveEarlier(row, { ...answer, delivery: last, digest: lastDigest, fence: row.fence })
      const progress = readSteps(rows.listSteps(row))
      rows.update(row, claimed)
      return { state: 'claimed', lease, progress }
    },

    renew: (time, lease, leaseMs) =>
      write(time, lease, (row) => rows.update(row, { ...row, until: time + leaseMs })),

    advance: (time, lease, steps) => write(time, lease, (row) => rows.saveSteps(row, writeSteps(steps))),

    complete: (time, lease, { response, progress, keepMs, keepResponseMs }) =>
      write(time, lease, (row) => {
        rows.removeSteps(row)
        rows.saveSteps(row, writeSteps(progress))
        const answer = row.delivery === undefined ? undefined : { response, expires: time + keepResponseMs }
        rows.update(row, { ...row, owner: undefined, until: 0, expires: time + keepMs, answer })
      }),

    release: (time, lease) =>
      write(time, lease, (row) =>
        rows.update(row, { ...row, owner: undefined, until: 0, digest: undefined }),
      ),

    reserve(time, { subject, owner, keepMs }) {
      const stored = rows.find(subject)
      const row = stored && isKept(stored, time) ? stored : undefined
      const { owner: first } = row ? readSteps(rows.listSteps(row)) : {}
      if (typeof first === 'string') return first
      if (stored) rows.remove(stored)
      rows.insert(subject, {
        fence: (row?.fence ?? 0) + 1,
        owner: undefined,
        until: 0,
        delivery: undefined,
        digest: undefined,
        claimed: time,
        expires: time + keepMs,
        answer: undefined,
      })
      const reserved = rows.find(subject)
      if (reserved) rows.saveSteps(reserved, writeSteps({ owner }))
      return owner
    },

    read(time, subject, asked) {
      const row = rows.find(subject)
      if (!row || !isKept(row, time)) return undefined
      const { fence, claimed, delivery, owner, until, expires, answer } = row
      const found = asked === undefined || asked === delivery ? answer : rows.findEarlier(row, asked)
      const isAnswered = asked !== undefined && found !== undefined && found.expires > time
      return {
        fence,
        claimedAt: claimed,
        delivery,
        leaseMs: owner === undefined ? undefined : Math.max(0, until - time),
        progress: readSteps(rows.listSteps(row)),
        response: isAnswered ? factsOf(found.response) : undefined,
        expires,
      }
    },

    probe: () => rows.probe(),
  }
}

function factsOf({ status, code, at }: RecordedResponse): Omit<RecordedResponse, 'body'> {
  return { status, code, at }
}
