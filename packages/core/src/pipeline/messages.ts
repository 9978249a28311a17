/**
 * The messages of an event: their fates, and their recipients for the log, as keyed hashes, so that a mail is found by its
 * address and nobody reads one.
 */
import * as z from 'zod'
import { toBase64 } from '../base64.ts'
import { breathe } from '../breathe.ts'
import { createHmac } from '../cryptography.ts'
import type { EventResponse, Fates, ResponseBody } from '../delivery/response.ts'
import type { ErrorCode } from '../errors.ts'
import type { Operation } from '../request/operation.ts'

/** Hashes a mail address. */
export type HashAddress = (address: string) => Promise<string>

/** As many messages of an event as one line of the log holds. */
export interface LoggedMessages {
  /** Of the first message that failed. */
  failedCode?: string
  /** The provider's ids. */
  messageIds?: string[]
  /** Keyed hashes of the recipients, by the fate of their messages. */
  recipients?: Partial<Record<'sent' | 'failed' | 'unknown' | 'pending', string[]>>
}

/** The most recipients of a line. */
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

const results = z.array(
  z.object({
    messageId: z.string().nullable(),
    status: z.enum(['sent', 'failed', 'unknown']),
    error: z
      .object({ code: z.string().regex(/^[a-z_]{1,50}$/) })
      .nullish()
      .catch(undefined),
  }),
)

/**
 * The fates of the messages that a function sent.
 *
 * @returns `undefined` for another function, and for a call that will be tried again
 */
export function fatesOf(operation: Operation, { body, error }: EventResponse): Fates | undefined {
  const sends = operation.function?.definition.sends
  if (!sends || error?.retryable) return undefined
  const { data: messages } = results.safeParse(
    error ? ofFailure(operation, error.code) : ofResult(sends, body),
  )
  const count = (fate: string) => messages?.filter(({ status }) => status === fate).length ?? 0
  return messages && { sent: count('sent'), failed: count('failed'), unknown: count('unknown'), messages }
}

function ofFailure(operation: Operation, code: ErrorCode) {
  const status = code === 'outcome_unknown' ? 'unknown' : 'failed'
  return addressesOf(operation).map(() => ({ messageId: null, status }))
}

function ofResult(sends: 'one' | 'many', { result }: ResponseBody = {}): unknown {
  return sends === 'many' ? Object(result).results : [{ ...Object(result), status: 'sent' }]
}

/** The messages of an event with their ids and recipients, in parts for the lines of the log. */
export async function messagesByLine(
  { fates, replayed }: EventResponse,
  operation: Operation | undefined,
  hash: HashAddress | undefined,
): Promise<LoggedMessages[]> {
  const lines: LoggedMessages[] = []
  let [line, length]: [LoggedMessages, number] = [{}, MOST_OF_LINE]
  const messages = operation && !replayed ? addressesOf(operation) : []
  for (const [at, addresses] of messages.entries()) {
    // A call that may be tried again says nothing: a batch may have sent a part.
    const { messageId, status, error } = fates?.messages[at] ?? { messageId: null, status: 'pending' }
    length += addresses.length
    if (length > MOST_OF_LINE) {
      if (lines.length > 0) await breathe()
      ;[line, length] = [{}, addresses.length]
      lines.push(line)
    }
    if (error && status === 'failed') line.failedCode ??= error.code
    if (messageId) line.messageIds = [...(line.messageIds ?? []), messageId]
    if (!hash || addresses.length === 0) continue
    const hashes = await Promise.all(addresses.map(hash))
    line.recipients = { ...line.recipients, [status]: [...(line.recipients?.[status] ?? []), ...hashes] }
  }
  return lines.filter((line) => Object.keys(line).length > 0)
}

/** The addresses of each message of a call. Its arguments may be invalid. */
function addressesOf({ function: called, event }: Operation): string[][] {
  const sends = called?.definition.sends
  if (!sends || event.name !== 'FUNCTION_CALL') return []
  const { arguments: given } = event.functionCall
  if (sends === 'one') return [addressesIn(given)]
  if (Array.isArray(given.messages)) return given.messages.map(addressesIn)
  return [given.to].flat().map((to) => addressesIn({ ...given, to }))
}

function addressesIn(message: unknown): string[] {
  const { to, cc, bcc } = Object(message)
  return [to, cc, bcc]
    .flat()
    .filter((address) => typeof address === 'string')
    .slice(0, MOST_OF_LINE)
}
