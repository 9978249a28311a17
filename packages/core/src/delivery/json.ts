import { timeSliced } from '../slices.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const WIDE = /[\u0100-\uffff]/g
/** So many values are written in about a millisecond. */
const MANY_VALUES = 4_000
/** A list with many values is cut into so many parts, and each of them again if it still has many. */
const PARTS = 8
/** The most entries in a part of a list. */
const MOST_ENTRIES = 200

/** Writes plain data as `JSON.stringify` does: a little at once, and much of it in slices. */
export function toJson(data: Record<string, unknown>): string | Promise<string> {
  return hasManyValues(data) ? toJsonInSlices(data) : JSON.stringify(data)
}

function toJsonInSlices(data: object): Promise<string> {
  const yieldToLoop = timeSliced()

  async function write(value: unknown): Promise<string | undefined> {
    await yieldToLoop()
    if (typeof value === 'object' && value !== null && hasManyValues(value))
      return Array.isArray(value) ? writeList(value) : writeObject(value)
    const json = JSON.stringify(value)
    return json === undefined ? undefined : narrow(json)
  }

  async function writeList(list: readonly unknown[]): Promise<string> {
    if (list.length === 1) return `[${(await write(list[0])) ?? 'null'}]`
    // Concatenated, and not joined: the parts become one text once.
    let json = ''
    const entries = Math.min(MOST_ENTRIES, Math.ceil(list.length / PARTS))
    for (let at = 0; at < list.length; at += entries) {
      const part = await write(list.slice(at, at + entries))
      json += `${json && ','}${part?.slice(1, -1)}`
    }
    return `[${json}]`
  }

  async function writeObject(object: object): Promise<string> {
    let json = ''
    for (const [name, value] of Object.entries(object)) {
      const member = await write(value)
      if (member !== undefined) json += `${json && ','}${JSON.stringify(name)}:${member}`
    }
    return `{${json}}`
  }

  return writeObject(data)
}

function hasManyValues(data: object): boolean {
  const waiting: object[] = [data]
  let count = 0
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const value of Array.isArray(next) ? next : Object.values(next)) {
      count += 1
      if (count > MANY_VALUES) return true
      if (typeof value === 'object' && value !== null) waiting.push(value)
    }
  }
  return false
}

/**
 * Escapes every character beyond Latin-1. One of them would make the whole text take two bytes for each character, and
 * a batch has megabytes of it.
 */
function narrow(json: string): string {
  const escaped = json.replace(WIDE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  // An engine keeps the width of the text that it replaced something in.
  return escaped === json ? json : decoder.decode(encoder.encode(escaped))
}
