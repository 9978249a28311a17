/** The recipients of messages in the log: as keyed hashes, so that a mail is found by its address and nobody reads one. */
import { toBase64 } from '../base64.ts'
import { breathe } from '../breathe.ts'
import { createHmac } from '../cryptography.ts'
import type { EventResponse } from '../delivery/response.ts'
import type { Operation } from '../request/operation.ts'

/** Hashes a mail address. */
export type HashAddress = (address: string) => Promise<string>

/** The hashes of recipients, by the fate of their messages. */
type Recipients = Partial<Record<'sent' | 'failed' | 'unknown' | 'pending', string[]>>

/** As many messages of an event as one line of the log holds. */
export interface LoggedMessages {
  /** Of the first message that failed. */
  failedCode?: string
  /** The provider's ids. */
  messageIds?: string[]
  /** Keyed hashes. */
  recipients?: Recipients
}

/** The most message ids, and the most recipients, of a line. */
const MOST_OF_LINE = 200
/** In base64: 72 bits. */
const HASH_LENGTH = 12

/**
 * Makes the hash of mail addresses under a key. Without the name in front of an address, and in lower case.
 *
 * @param key which readers of the log do not have
 */
export function createAddressHash(key: string): HashAddress {
  const hmac = createHmac(new TextEncoder().encode(key))
  return async (given) => {
    const written = (/<([^<>]*)>\s*$/.exec(given)?.[1] ?? given).trim().toLowerCase()
    const at = written.lastIndexOf('@') + 1
    const address = written.slice(0, at) + toAscii(written.slice(at))
    return toBase64(await hmac('recipient of a message, version 1', address)).slice(0, HASH_LENGTH)
  }
}

/** The ASCII form of a domain: events may have either, and so may whoever looks for a mail. */
function toAscii(domain: string): string {
  const url = /\P{ASCII}/u.test(domain) ? URL.parse(`http://${domain}`) : null
  return url?.hostname ?? domain
}

/** The messages of an event with their ids and recipients, in parts for the lines of the log. */
export async function recipientsByLine(
  { fates, error, replayed }: EventResponse,
  operation: Operation | undefined,
  hash: HashAddress | undefined,
): Promise<LoggedMessages[]> {
  const sends = operation?.function?.definition.sends
  if (operation?.event.name !== 'FUNCTION_CALL' || !sends || replayed) return []
  const { arguments: given } = operation.event.functionCall
  const messages = sends === 'one' ? [addressesIn(given)] : messagesIn(given)
  const parts: { failedCode?: string | undefined; ids: string[]; hashes: number; recipients: Recipients }[] =
    []
  for (const [at, addresses] of messages.entries()) {
    const { messageId, status, error: failure } = fates?.messages[at] ?? fateBy(error)
    let part = parts.at(-1)
    if (!part || part.ids.length === MOST_OF_LINE || part.hashes + addresses.length > MOST_OF_LINE) {
      if (part) await breathe()
      part = { ids: [], hashes: 0, recipients: {} }
      parts.push(part)
    }
    if (messageId) part.ids.push(messageId)
    if (status === 'failed') part.failedCode ??= failure?.code
    part.hashes += addresses.length
    if (!hash) continue
    const hashes = await Promise.all(addresses.map(hash))
    part.recipients[status] = [...(part.recipients[status] ?? []), ...hashes]
  }
  return parts
    .map(({ failedCode, ids, recipients }) => ({
      ...(failedCode !== undefined && { failedCode }),
      ...(ids.length > 0 && { messageIds: ids }),
      ...(Object.keys(recipients).length > 0 && { recipients }),
    }))
    .filter((part) => Object.keys(part).length > 0)
}

/** Of every message of a failed call. One that may be tried again says nothing: a batch may have sent a part. */
function fateBy(error: EventResponse['error']) {
  const isUnknown = error?.code === 'outcome_unknown'
  const status = isUnknown ? 'unknown' : error?.retryable ? 'pending' : 'failed'
  return { messageId: null, status, error: undefined } as const
}

/** The addresses of each message of a batch. The arguments may be invalid: then the call sent nothing. */
export function messagesIn(given: unknown): string[][] {
  const { messages, to, cc, bcc } = Object(given)
  if (Array.isArray(messages)) return messages.map(addressesIn)
  return [to].flat().map((one) => addressesIn({ to: one, cc, bcc }))
}

function addressesIn(message: unknown): string[] {
  const { to, cc, bcc } = Object(message)
  return [to, cc, bcc]
    .flat()
    .filter((address) => typeof address === 'string')
    .slice(0, MOST_OF_LINE)
}
