/**
 * Keeps secrets off the screen: the known ones by their value, others by the name of their field.
 *
 * @module
 */
import { createRedactor } from '@org/core'

const MASK = '[redacted]'
const SECRET_FIELD = /token|secret|password|api_?key/i

/** Makes a function that copies plain data without the secrets in it. */
export function createMask(secrets: readonly string[]): <T>(data: T) => T {
  const redactor = createRedactor(secrets)
  return (data) => redactor.data(JSON.parse(JSON.stringify(data, maskField)))
}

function maskField(name: string, value: unknown): unknown {
  // A reference names a secret, and is none.
  if (typeof value !== 'string' || !SECRET_FIELD.test(name) || value.startsWith('{{')) return value
  return MASK
}
