/** Reads parsed JSON. */

/** Tells an object with fields from any other value. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at the end of a path, or `undefined` if a step of the path is missing. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((inner, name) => (isRecord(inner) ? inner[name] : undefined), value)
}

/** The value if it is a list, otherwise an empty list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The parsed JSON of a text; the text itself if it is not JSON; `undefined` if it is empty. */
export function parse(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
