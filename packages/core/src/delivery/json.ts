import { timeSliced } from '../slices.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const WIDE = /[\u0100-\uffff]/g
/** Entries of a list between two looks at the clock. */
const SLICE = 200

/** Writes a body as `JSON.stringify` does, but long lists such as the results of a batch in slices. */
export async function toJson(body: Record<string, unknown>): Promise<string> {
  // Concatenated, and not joined: the parts become one text once.
  let members = ''
  for (const [name, value] of Object.entries(body)) {
    const json = await memberJson(value)
    if (json !== undefined) members += `${members && ','}${JSON.stringify(name)}:${json}`
  }
  return `{${members}}`
}

function memberJson(value: unknown): string | undefined | Promise<string> {
  if (isLongList(value)) return listJson(value)
  const isParent = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isParent && Object.values(value).some(isLongList) ? toJson({ ...value }) : JSON.stringify(value)
}

async function listJson(list: readonly unknown[]): Promise<string> {
  let json = ''
  const yieldToLoop = timeSliced()
  for (let at = 0; at < list.length; at += SLICE) {
    await yieldToLoop()
    const slice = narrow(JSON.stringify(list.slice(at, at + SLICE)).slice(1, -1))
    json += at === 0 ? slice : `,${slice}`
  }
  return `[${json}]`
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

function isLongList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > SLICE
}
