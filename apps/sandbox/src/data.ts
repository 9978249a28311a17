/**
 * Looking into parsed JSON.
 *
 * @module
 */

/** Tells an object with fields from anything else. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What lies at the end of a path, or `undefined` where the path breaks off. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((inner, name) => (isRecord(inner) ? inner[name] : undefined), value)
}

/** A list, or an empty one where the value is something else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
