import { timeSliced } from '../slices.ts'

/** Entries of a list between two looks at the clock. */
const SLICE = 200

/** Writes a body as `JSON.stringify` does, but long lists such as the results of a batch in slices. */
export async function toJson(body: Record<string, unknown>): Promise<string> {
  const members: string[] = []
  for (const [name, value] of Object.entries(body)) {
    const json = await memberJson(value)
    if (json !== undefined) members.push(`${JSON.stringify(name)}:${json}`)
  }
  return `{${members.join()}}`
}

function memberJson(value: unknown): string | undefined | Promise<string> {
  if (isLongList(value)) return listJson(value)
  const isParent = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isParent && Object.values(value).some(isLongList) ? toJson({ ...value }) : JSON.stringify(value)
}

async function listJson(list: readonly unknown[]): Promise<string> {
  const slices: string[] = []
  const yieldToLoop = timeSliced()
  for (let at = 0; at < list.length; at += SLICE) {
    await yieldToLoop()
    slices.push(JSON.stringify(list.slice(at, at + SLICE)).slice(1, -1))
  }
  return `[${slices.join()}]`
}

function isLongList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > SLICE
}
