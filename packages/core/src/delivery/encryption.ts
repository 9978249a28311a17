// Responses and recorded steps name people: a user, the recipients of a mail. The store holds them encrypted.

import * as z from 'zod'
import type { Json } from '../contract/handler-context.ts'
import { IntegrationError } from '../errors.ts'
import type { Claim } from './claim.ts'
import { type Cipher, isEncrypted } from './keys.ts'
import type { EventResponse } from './response.ts'
import type { RecordedResponse } from './store.ts'

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

const responseOf = (status: number) => `response ${status}`
const stepOf = (name: string) => `step ${name}`

/** A claim whose lists and objects are stored encrypted. Scalars (ids, step names) are stored in clear. */
export async function withEncryptedSteps(claim: Claim, cipher: Cipher): Promise<Claim> {
  for (const [name, value] of Object.entries(claim.progress))
    claim.progress[name] = await decryptStep(name, value, cipher)
  return {
    ...claim,
    advance(name, value, by) {
      const isScalar = typeof value !== 'object' || value === null
      return claim.advance(
        name,
        value,
        by,
        isScalar ? undefined : cipher.encrypt(JSON.stringify(value), stepOf(name)),
      )
    },
  }
}

/** A step that cannot be decrypted stays as it is; its reader will not understand it. */
async function decryptStep(name: string, value: Json, cipher: Cipher): Promise<Json> {
  if (typeof value !== 'string' || !isEncrypted(value)) return value
  try {
    return z.json().parse(JSON.parse(await cipher.decrypt(value, stepOf(name))))
  } catch {
    return value
  }
}
