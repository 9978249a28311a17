import { eventNames, type PlatformEvent, platformEvent } from '../contract/event.ts'
import { fieldErrors, suggestion } from '../contract/validation.ts'
import { IntegrationError } from '../errors.ts'
import { readJson } from '../json.ts'

/** The event of a request. */
interface ParsedEvent {
  event: PlatformEvent
  /** How many values the JSON has. */
  values: number
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses the body as JSON, and the JSON as an event.
 *
 * @throws {IntegrationError} `invalid_json`, or `invalid_event` with the path of each fault
 */
export function parseEvent(body: Uint8Array): ParsedEvent {
  const { value, values, excess } = parseJson(body)
  if (excess !== undefined) throw new IntegrationError('invalid_json', `The body ${excess}.`)
  return { event: toEvent(value), values }
}

function parseJson(body: Uint8Array) {
  try {
    return readJson(decoder.decode(body))
  } catch (error) {
    if (error instanceof TypeError) throw new IntegrationError('invalid_json', 'The body is not UTF-8.')
    // The engine's own message quotes the body, so only the position is passed on.
    const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
    const where = body.length === 0 ? ': it is empty' : position ? ` (see position ${position})` : ''
    throw new IntegrationError('invalid_json', `The body is not JSON${where}.`)
  }
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
