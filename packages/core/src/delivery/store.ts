/**
 * The port through which an effect happens once (contract §4), and the claim that core makes on it.
 *
 * A claim is made on a *subject*: one call of a function, or one deployment. The store remembers, for each
 * subject, who works on it, how far the work got, and what each delivery was answered.
 *
 * @module
 */

/** Data that survives JSON. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** An answer to give again to a redelivery. */
export interface RecordedAnswer {
  status: number
  /** What went wrong, of a failure; for people who look at the record. */
  code?: string | undefined
  /** When it was given, in milliseconds since 1970. */
  at?: number | undefined
  /** Sealed: only the request that it answers can open it. */
  body: string
}

/** The request for the right to work on a subject. */
export interface ClaimRequest {
  /** For example `mailer/deployment/dep_123`. */
  subject: string
  /** The delivery that asks, where it has an id. */
  delivery?: { id: string /** SHA-256 of the body. */; digest: string } | undefined
  /** How long the right lasts unless it is renewed, in milliseconds. */
  leaseMs: number
}

/** The right to work on a subject. Each later write must show it, so that a holder that lost it can write nothing. */
export interface Lease {
  subject: string
  /** Random, new for every claim. */
  owner: string
  /** Counts the claims of a subject. */
  fence: number
}

/** What a store answers to a claim. */
export type ClaimResult =
  /** The right is given. `takenOver`: an earlier holder vanished in the middle of its work. */
  | { state: 'claimed'; lease: Lease; takenOver: boolean; progress: Record<string, Json> }
  /** Another holder works on it. */
  | { state: 'busy'; retryAfterMs: number }
  /** This delivery was answered before. */
  | { state: 'done'; answer: RecordedAnswer }
  /** The delivery's id was used before, with another body. */
  | { state: 'mismatch' }

/** What is written when the work is done. */
export interface Completion {
  answer: RecordedAnswer
  progress: Record<string, Json>
  /** How long the record is kept, in milliseconds. */
  keepMs: number
}

/** What is recorded of a subject, as it is: for people who look at it. */
export interface SubjectRecord {
  /** How often it was claimed. */
  fence: number
  /** When it was claimed last, in milliseconds since 1970. */
  claimedAt: number
  /** The delivery that claimed it last, where it had an id. */
  delivery: string | undefined
  /** Milliseconds that are left of the lease; 0 where its holder vanished, `undefined` where nobody holds it. */
  leaseMs: number | undefined
  progress: Record<string, Json>
  /** What each delivery was answered. */
  answers: ({ delivery: string } & Omit<RecordedAnswer, 'body'>)[]
  /** Until when it is kept, in milliseconds since 1970. */
  expires: number
}

/** Remembers what was claimed, how far it got, and what was answered. Every write is refused (`false`) without a valid lease. */
export interface DeliveryStore {
  claim(request: ClaimRequest): Promise<ClaimResult>
  /** Extends the lease. */
  renew(lease: Lease, leaseMs: number): Promise<boolean>
  /**
   * Writes down how far the work got: each name in `steps` replaces what was recorded under it, and the others
   * stay. So a step costs as much as it is long, however many there were before it.
   */
  advance(lease: Lease, steps: Record<string, Json>): Promise<boolean>
  /** Ends the work with an answer. */
  complete(lease: Lease, completion: Completion): Promise<boolean>
  /** Ends the work without one, so that the next delivery may try again. */
  release(lease: Lease): Promise<boolean>
  /**
   * Looks at what is recorded, and changes nothing.
   *
   * @returns `undefined` where nothing is
   */
  read(subject: string): Promise<SubjectRecord | undefined>
  /** Resolves where the store can be reached, and throws where it can't. */
  ping(): Promise<void>
}
