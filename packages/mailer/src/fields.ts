/**
 * Readers of JSON without a schema library, because the SDK must not load one.
 *
 * @module
 */

/** Whether a value is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Reads a field; `undefined` if the value is no object or has no such field. */
export function readField(body: unknown, name: string): unknown {
  return isRecord(body) ? body[name] : undefined
}

/** Reads a text; `undefined` if there is none. */
export function readText(body: unknown, name: string): string | undefined {
  const value = readField(body, name)
  return typeof value === 'string' ? value : undefined
}

/** Reads a finite number; `undefined` if there is none. */
export function readNumber(body: unknown, name: string): number | undefined {
  const value = readField(body, name)
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** The name of a field on the wire. */
export function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
