/**
 * Checks the options of the mailer by name.
 *
 * @module
 */
import type { FieldError } from '@org/core/errors'
import { parseAddress } from './address.ts'
import { head } from './compose.ts'
import { isRecord, readField } from './fields.ts'
import { MailError } from './mail-error.ts'

/** Tests of an option’s value, by what the value must be. */
const tests = {
  'a string': (value: unknown) => typeof value === 'string',
  'a function': (value: unknown) => typeof value === 'function',
  'an object': isRecord,
  'an object of message fields but bodies and files': (value: unknown) =>
    isRecord(value) && Object.keys(value).every((name) => Object.hasOwn(head, name)),
  'an object with read and write': (value: unknown) => isRecord(value) && Boolean(value.read && value.write),
  'a number above 0': (value: unknown) => typeof value === 'number' && value > 0,
  'an AbortSignal': (value: unknown) => typeof readField(value, 'addEventListener') === 'function',
  'one address, a@b.c or Name <a@b.c>, whose domain is ASCII or punycode (xn--…)': (value: unknown) =>
    value === '' || typeof parseAddress(value) !== 'string',
  'an http or https URL without user name, query and fragment': isHttpUrl,
  'HTTP headers by name': isHeaders,
}

/** What each option must be. */
export type Rules = Readonly<Record<string, keyof typeof tests>>

/** The runtime knows best which headers it takes. */
function isHeaders(value: unknown): boolean {
  try {
    return isRecord(value) && !value.append && Boolean(new Headers(Object.entries(value).map(toTexts)))
  } catch {
    return false
  }
}

const toTexts = ([name, value]: [string, unknown]): [string, string] => [name, String(value)]

function isHttpUrl(value: unknown): boolean {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash
}

/** The rules of `createMailer`. */
export const mailerRules: Rules = {
  apiToken: 'a string',
  fromEmail: 'one address, a@b.c or Name <a@b.c>, whose domain is ASCII or punycode (xn--…)',
  messageStream: 'a string',
  baseUrl: 'an http or https URL without user name, query and fragment',
  fetch: 'a function',
  wait: 'a function',
  timeoutMs: 'a number above 0',
  concurrency: 'a number above 0',
  headers: 'HTTP headers by name',
  defaults: 'an object of message fields but bodies and files',
}

/** The rules of each call’s options. */
export const callRules: Rules = {
  signal: 'an AbortSignal',
  timeoutMs: 'a number above 0',
  deadline: 'a number above 0',
}

/**
 * Checks options. Absent ones are left out.
 *
 * @param path what the errors call the options
 * @param isOpen other names are no faults: the options of a call may be an event’s context
 * @throws {MailError} `invalid_arguments`, with the name of each fault
 */
export function checkOptions(options: object, rules: Rules, path = 'options', isOpen = false): void {
  const errors: FieldError[] = isRecord(options) ? [] : [{ path, message: 'must be an object' }]
  for (const [name, value] of Object.entries(options ?? {})) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    const isValid = rule ? tests[rule](value) : isOpen
    if (value !== undefined && !isValid)
      errors.push({ path: `${path}.${name}`, message: rule ? `must be ${rule}` : 'is no option' })
  }
  if (errors.length > 0) throw invalidOptions(errors)
}

/** The error for options that are invalid. */
export function invalidOptions(errors: readonly FieldError[]): MailError {
  const sentence = errors.map(({ path, message }) => `${path} ${message}`).join(', ')
  return new MailError('invalid_arguments', `The options are invalid: ${sentence}.`, { errors })
}
