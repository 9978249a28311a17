import { eventNames, type PlatformEvent, platformEvent } from '../contract/event.ts'
import { fieldErrors, suggestion } from '../contract/validation.ts'
import { IntegrationError } from '../errors.ts'
import { createJsonCounter } from '../json-limits.ts'
import { parseInPieces } from '../json-pieces.ts'
import { ownTurn, timeSliced } from '../slices.ts'

/**
 * Parses the body as JSON, and the JSON as an event.
 *
 * @returns the event, and how many values the JSON has
 * @throws {IntegrationError} `invalid_json`, or `invalid_event` with the path of each fault
 */
export async function parseEvent(body: Uint8Array): Promise<{ event: PlatformEvent; values: number }> {
  const { value, values } = await parseJson(body)
  if (body.length > LARGE_BODY) await ownTurn()
  const parsed = platformEvent.safeParse(value)
  if (parsed.success) return { event: parsed.data, values }
  const errors = fieldErrors(parsed.error, '')
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  const hint = typeof name === 'string' ? suggestion(name, eventNames) : ''
  const { path = '', message = 'it is invalid' } = errors[0] ?? {}
  const detail = `${path || 'the body'}: ${message}${path === 'name' ? hint : ''}`
  throw new IntegrationError('invalid_event', `The body is not an event that this host knows: ${detail}`, {
    errors,
  })
}

/** A longer one is parsed in several turns of the event loop. In bytes. */
export const LARGE_BODY = 256 * 1024

/** So many bytes are counted between two turns. */
const COUNTED_BYTES = 64 * 1024

async function parseJson(body: Uint8Array): Promise<{ value: unknown; values: number }> {
  const yieldToLoop = body.length > LARGE_BODY ? timeSliced() : () => undefined
  const counter = createJsonCounter()
  for (let at = 0; at < body.length; at += COUNTED_BYTES) {
    await yieldToLoop()
    const excess = counter.add(body.subarray(at, at + COUNTED_BYTES))
    if (excess) throw new IntegrationError('invalid_json', `The body ${excess}.`)
  }
  try {
    return { value: await parseInPieces(body, counter.cuts, yieldToLoop), values: counter.values }
  } catch (error) {
    if (error instanceof TypeError) throw new IntegrationError('invalid_json', 'The body is not UTF-8.')
    // The engine's own message quotes the body, so only the position is passed on.
    const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
    const where = body.length === 0 ? ': it is empty' : position ? ` (see position ${position})` : ''
    throw new IntegrationError('invalid_json', `The body is not JSON${where}.`)
  }
}
