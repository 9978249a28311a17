/**
 * Keeps secrets off the screen: the known ones by their value, others by the name of their field or by their
 * looks.
 *
 * @module
 */
import { createRedactor, type Redactor } from '@org/core/internal'

const MASK = '[redacted]'
const SECRET_FIELD = /token|secret|password|api_?key/i
const SECRET_KEY = /\b(sk_(?:test|live)_)[\w-]+/g
/** A reference names a secret and is none, a publishable key is public, and a secret key is known by its looks. */
const NOT_BY_NAME = /^(\{\{|pk_(test|live)_|sk_(test|live)_[\w-]+$)/

/**
 * Makes a function that copies plain data without the secrets in it. Of a secret key the prefix stays, so that
 * a key in the wrong place can be seen.
 *
 * @param redactor knows the secrets; whoever has it may tell it of more
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
