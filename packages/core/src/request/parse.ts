import { eventNames, type PlatformEvent, platformEvent } from '../contract/event.ts'
import { fieldErrors, suggestion } from '../contract/validation.ts'
import { IntegrationError } from '../errors.ts'
import { createJsonCounter } from '../json-limits.ts'
import { ownTurn } from '../slices.ts'

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

async function parseJson(body: Uint8Array): Promise<{ value: unknown; values: number }> {
  // `JSON.parse` itself cannot give way: ten megabytes of small objects take it 50 ms.
  const yieldToLoop = () => (body.length > LARGE_BODY ? ownTurn() : undefined)
  await yieldToLoop()
  const counter = createJsonCounter()
  const excess = counter.add(body)
  if (excess) throw new IntegrationError('invalid_json', `The body ${excess}.`)
  await yieldToLoop()
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw new IntegrationError('invalid_json', 'The body is not UTF-8.')
  }
  await yieldToLoop()
  try {
    return { value: JSON.parse(text), values: counter.values }
  } catch (error) {
    // The engine's own message quotes the body, so only the position is passed on.
    const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
    const where = text === '' ? ': it is empty' : position ? ` (see position ${position})` : ''
    throw new IntegrationError('invalid_json', `The body is not JSON${where}.`)
  }
}
