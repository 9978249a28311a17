// Responses and recorded steps name people: a user, the recipients of a mail. The store holds them encrypted.

import * as z from 'zod'
import { IntegrationError } from '../errors.ts'
import type { Claim } from './claim.ts'
import type { Cipher } from './keys.ts'
import type { EventResponse } from './response.ts'
import type { RecordedResponse } from './store.ts'

/** The start of an encrypted step. */
const PREFIX = 'encrypted:'

const responseOf = (status: number) => `response ${status}`
const stepOf = (name: string) => `step ${name}`

/**
 * The recorded response of a delivery.
 *
 * @throws {IntegrationError} `outcome_unknown` if the record is damaged: the work was done, and must not be
 * repeated
 */
export async function decryptResponse(recorded: RecordedResponse, cipher: Cipher): Promise<EventResponse> {
  const { status, body } = recorded
  try {
    return { status, json: await cipher.decrypt(body, responseOf(status)), replayed: true }
  } catch (cause) {
    const message = 'This delivery was answered before, but the record of its response is unreadable.'
    const hint = 'Check at the provider whether it took effect.'
    throw new IntegrationError('outcome_unknown', message, { hint, cause })
  }
}

/** Encrypts a response for its record. */
export function encryptResponse(status: number, json: string, cipher: Cipher): Promise<string> {
  return cipher.encrypt(json, responseOf(status))
}

/** Whether a recorded step is encrypted. */
export function isEncrypted(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(PREFIX)
}

/** A claim whose lists and objects are stored encrypted. Scalars (ids, step names) are stored in clear. */
export async function withEncryptedSteps(claim: Claim, cipher: Cipher): Promise<Claim> {
  for (const [name, value] of Object.entries(claim.progress)) {
    if (!isEncrypted(value)) continue
    try {
      const json = await cipher.decrypt(value.slice(PREFIX.length), stepOf(name))
      claim.progress[name] = z.json().parse(JSON.parse(json))
    } catch {
      // It stays as it is, and its reader does not understand it.
    }
  }
  return {
    ...claim,
    advance(name, value, by) {
      const isScalar = typeof value !== 'object' || value === null
      const encrypted = isScalar ? undefined : cipher.encrypt(JSON.stringify(value), stepOf(name))
      return claim.advance(
        name,
        value,
        by,
        encrypted?.then((text) => PREFIX + text),
      )
    },
  }
}
