import { eventNames, type PlatformEvent, platformEvent } from '../contract/event.ts'
import { fieldErrors, suggestion } from '../contract/validation.ts'
import { IntegrationError } from '../errors.ts'
import { createJsonCounter, type JsonCounter } from '../json-limits.ts'
import { decode, parseInPieces } from '../json-pieces.ts'
import { inSlice, ownTurn, timeSliced } from '../slices.ts'

/** A longer one is parsed in several turns of the event loop. In bytes. */
export const LARGE_BODY = 256 * 1024

/** So many bytes are counted between two turns. */
const COUNTED_BYTES = 64 * 1024

/** The event of a request. */
interface ParsedEvent {
  event: PlatformEvent
  /** How many values the JSON has. */
  values: number
}

/**
 * Parses the body as JSON, and the JSON as an event.
 *
 * @throws {IntegrationError} `invalid_json`, or `invalid_event` with the path of each fault
 */
export function parseEvent(body: Uint8Array): ParsedEvent | Promise<ParsedEvent> {
  return body.length > LARGE_BODY ? parseLarge(body) : inSlice(() => parseSmall(body))
}

function parseSmall(body: Uint8Array): ParsedEvent {
  const counter = createJsonCounter()
  count(counter, body)
  return { event: toEvent(parseJson(body)), values: counter.values() }
}

async function parseLarge(body: Uint8Array): Promise<ParsedEvent> {
  const counter = createJsonCounter()
  const yieldToLoop = timeSliced()
  for (let at = 0; at < body.length; at += COUNTED_BYTES) {
    await yieldToLoop()
    count(counter, body.subarray(at, at + COUNTED_BYTES))
  }
  const value = await parseInPieces(body, counter.cuts, yieldToLoop).catch((error: unknown) => {
    throw invalidJson(error, body)
  })
  await ownTurn()
  return { event: toEvent(value), values: counter.values() }
}

function count(counter: JsonCounter, bytes: Uint8Array): void {
  const excess = counter.add(bytes)
  if (excess) throw new IntegrationError('invalid_json', `The body ${excess}.`)
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(decode(body))
  } catch (error) {
    throw invalidJson(error, body)
  }
}

function invalidJson(error: unknown, body: Uint8Array): IntegrationError {
  if (error instanceof TypeError) return new IntegrationError('invalid_json', 'The body is not UTF-8.')
  // The engine's own message quotes the body, so only the position is passed on.
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
  const where = body.length === 0 ? ': it is empty' : position ? ` (see position ${position})` : ''
  return new IntegrationError('invalid_json', `The body is not JSON${where}.`)
}

function toEvent(value: unknown): PlatformEvent {
  const parsed = platformEvent.safeParse(value)
  if (parsed.success) return parsed.data
  const errors = fieldErrors(parsed.error, '')
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  const hint = typeof name === 'string' ? suggestion(name, eventNames) : ''
  const { path = '', message = 'it is invalid' } = errors[0] ?? {}
  const detail = `${path || 'the body'}: ${message}${path === 'name' ? hint : ''}`
  throw new IntegrationError('invalid_event', `The body is not an event that this host knows: ${detail}`, {
    errors,
  })
}
