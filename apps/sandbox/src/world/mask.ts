/** Hides secrets: known ones by their value, others by the name of their field or by their shape. */
import { createRedactor, type Redactor } from '@org/core/internal/host'

/** Stands for a secret. */
export const MASK = '[redacted]'
/** The name of a field with a secret. */
export const SECRET_FIELD = /token|secret|password|api_?key/i
const SECRET_KEY = /\b(sk_(?:test|live)_)[\w-]+/g
/** References and publishable keys are no secrets; secret keys have a shape of their own. */
const NOT_BY_NAME = /^(\{\{|pk_(test|live)_|sk_(test|live)_[\w-]+$)/

/**
 * Makes a function that copies plain data without its secrets. The prefix of a secret key stays, so that a
 * reader sees a key in the wrong field.
 * @param redactor knows the secrets, and can learn more
 */
export function createMask(
  secrets: readonly string[],
  redactor: Redactor = createRedactor(secrets),
): <T>(data: T) => T {
  return (data) => redactor.data(JSON.parse(JSON.stringify(data, maskField)))
}

function maskField(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (SECRET_FIELD.test(name) && !NOT_BY_NAME.test(value)) return MASK
  return value.replaceAll(SECRET_KEY, `$1${MASK}`)
}
