/**
 * One call of the provider: one mail, or a read.
 *
 * @module
 */
import type { CallOptions, ProviderClient, ProviderRequest } from '@org/core/http'
import type { ComposedMessage } from './compose.ts'
import { refusalError, SENDING } from './errors.ts'
import { toMailError } from './mail-error.ts'
import { callRules, checkOptions } from './options.ts'
import { findNamed, isAbout, readSendResponse } from './wire.ts'

/** A mail that the provider accepted. */
export interface SentEmail {
  messageId: string
  /** ISO 8601, UTC. */
  submittedAt: string
  /** The recipients, as the provider names them. */
  to: string
  /** Recipients that the provider left out because they are inactive. */
  rejected: string[]
}

const SINGLE: ProviderRequest = { method: 'POST', path: '/email', change: SENDING }

/** Sends a message that is composed. */
export async function sendComposed(
  provider: ProviderClient,
  { json, to, recipients }: ComposedMessage,
  options: CallOptions,
): Promise<SentEmail> {
  const read = (body: unknown) => {
    const response = readSendResponse(body)
    if (response?.accepted === false) throw refusalError(response.refusal, { status: 200 })
    // An answer about somebody else leaves the outcome unknown, and shuts the gate.
    return response && isAbout(response, { to }) ? response : undefined
  }
  const accepted = await callProvider(provider, { ...SINGLE, body: json }, read, options, recipients)
  const { messageId, submittedAt, message } = accepted
  return { messageId, submittedAt, to: accepted.to || to, rejected: findNamed(message, recipients) }
}

/**
 * Calls the provider.
 *
 * @param read reads the body of a response; `undefined` means that it is not what the provider promises
 * @param recipients those of the mail that is sent
 * @throws {MailError} also if an option is invalid
 */
export async function callProvider<Value>(
  provider: ProviderClient,
  request: ProviderRequest,
  read: (body: unknown) => Value | undefined,
  options: CallOptions,
  recipients?: readonly string[],
): Promise<Value> {
  checkOptions(options, callRules, 'options', true)
  try {
    return await provider.call(request, read, options)
  } catch (error) {
    throw toMailError(error, { recipients })
  }
}
