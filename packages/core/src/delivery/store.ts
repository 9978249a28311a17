// A claim (contract §4) is made on a *subject*: one call of a function, or one deployment. For each subject the
// store remembers the last claim, the recorded steps, and the response to each delivery.

import type { Json } from '../contract/handler-context.ts'

/** A response to repeat to a redelivery. */
export interface RecordedResponse {
  status: number
  /** The error code of a failure, for people who look at the record. */
  code?: string | undefined
  /** The time of the response. */
  at?: number | undefined
  /** Encrypted: only the same request can decrypt it. */
  body: string
}

/** The request for the right to work on a subject. */
export interface ClaimRequest {
  /** For example `mailer/deployment/dep_123`. */
  subject: string
  /** The delivery, if it has an id. */
  delivery?: { id: string /** Recognises the body. */; digest: string } | undefined
  /** How long the right lasts unless it is renewed, in milliseconds. */
  leaseMs: number
  /**
   * Of the lease. A request whose answer was lost is repeated with the same one, and gets the same claim.
   * @default a new one
   */
  owner?: string | undefined
}

/** The right to work on a subject. Each later write presents it, so that an owner that lost it writes nothing. */
export interface Lease {
  subject: string
  /** Random, new for every claim. */
  owner: string
  /** Counts the claims of a subject. */
  fence: number
}

/** The response of a store to a claim. */
export type ClaimResult =
  /** `progress` has the steps that earlier claims recorded. */
  | { state: 'claimed'; lease: Lease; progress: Record<string, Json> }
  /** Another claim lasts. */
  | { state: 'busy'; retryAfterMs: number }
  /** This delivery was answered before, under the claim of this fence. */
  | { state: 'done'; response: RecordedResponse; fence: number }
  /** The delivery's id was used before, with another body. */
  | { state: 'mismatch' }

/** Written when the work is done. */
export interface Completion {
  response: RecordedResponse
  progress: Record<string, Json>
  /** Whether it is the record of a deployment that was not deleted. */
  isLiving: boolean
}

/** The record of a subject, for people who look at it. Times are in milliseconds since 1970. */
export interface SubjectRecord {
  /** The number of claims. */
  fence: number
  /** The time of the last claim. */
  claimedAt: number
  /** The delivery of the last claim, if it had an id. */
  delivery: string | undefined
  /** Milliseconds left of the lease; 0 if its owner vanished, `undefined` if the claim has ended. */
  leaseMs: number | undefined
  progress: Record<string, Json>
  /** The response to the delivery that was asked for, if it has one. */
  response: Omit<RecordedResponse, 'body'> | undefined
  /** When the record expires. */
  expires: number
}

/**
 * Remembers claims, steps and responses. Every write returns `false` without a valid lease. Responses and records are
 * kept for seven days; records of living deployments, and reservations, for a century.
 *
 * `createDeliveryStore` of `@org/core/stores` makes one of any storage that can read a text, and replace it if nobody
 * else has.
 */
export interface DeliveryStore {
  claim(request: ClaimRequest): Promise<ClaimResult>
  renew(lease: Lease, leaseMs: number): Promise<boolean>
  /** Records steps. Each name in `steps` replaces its earlier value; other names stay. */
  advance(lease: Lease, steps: Record<string, Json>): Promise<boolean>
  /** Ends the work with a response. The end of a claim that has ended already changes nothing, and returns `true`. */
  complete(lease: Lease, completion: Completion): Promise<boolean>
  /** Ends the work without a response, so that the next delivery may try again; otherwise like `complete`. */
  release(lease: Lease): Promise<boolean>
  /**
   * Replaces the response of the last claim of a subject by steps, so that its delivery may try again.
   *
   * @param fence of that claim
   * @returns `false` if there was another claim meanwhile, or one lasts
   */
  reopen(
    subject: string,
    fence: number,
    toSteps: (response: RecordedResponse | undefined) => Record<string, Json>,
  ): Promise<boolean>
  /**
   * Reserves a resource of the provider, in one write and without a lease: nobody can die halfway.
   *
   * @param reservation the resource, such as `idp-server/application/app_1`, and the subject of its deployment
   * @returns the owner: the one of the request, or the one that was first
   */
  reserve(reservation: { subject: string; owner: string }): Promise<string>
  /** Reads a record, if there is one, with the response to one delivery. Changes nothing. */
  read(subject: string, delivery?: string): Promise<SubjectRecord | undefined>
  /**
   * Proves that the store takes writes.
   *
   * @throws if it is unreachable, or can’t write
   */
  probe(): Promise<void>
}
