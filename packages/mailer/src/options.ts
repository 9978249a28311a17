/**
 * Checks the options of the mailer by name.
 *
 * @module
 */
import type { FieldError } from '@org/core/errors'
import { parseAddress } from './address.ts'
import { isRecord } from './fields.ts'
import { MailError } from './mail-error.ts'

/** The rule of an option: a test, and the words of the error. */
type Rule = readonly [isValid: (value: unknown) => boolean, expected: string]
/** Rules by name. */
export type Rules = Readonly<Record<string, Rule>>

const a = (type: string): Rule => [(value) => typeof value === type, `a ${type}`]
const time = (expected: string): Rule => [(value) => typeof value === 'number' && value > 0, expected]
const object: Rule = [isRecord, 'an object']

/** The runtime knows best which headers it takes. */
function isHeaders(value: unknown): boolean {
  if (!isRecord(value) || typeof value.append === 'function') return false
  try {
    return Boolean(new Headers(Object.entries(value).map(([name, text]) => [name, String(text)])))
  } catch {
    return false
  }
}

function isHttpUrl(value: unknown): boolean {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash
}

/** A test of an option’s value, and what it must be. */
export const rules = {
  function: a('function'),
  string: a('string'),
  object,
  duration: time('a number of milliseconds above 0'),
  signal: [
    (value) => isRecord(value) && 'aborted' in value && typeof value.addEventListener === 'function',
    'an AbortSignal',
  ],
} satisfies Rules

/** The rules of `createMailer`. */
export const mailerRules: Rules = {
  apiToken: rules.string,
  fromEmail: [(value) => typeof value === 'string' || isRecord(value), 'an address'],
  messageStream: rules.string,
  baseUrl: [isHttpUrl, 'an http or https URL without user name, query and fragment'],
  fetch: rules.function,
  wait: rules.function,
  timeoutMs: rules.duration,
  concurrency: [(value) => Number.isInteger(value) && Number(value) > 0, 'a whole number above 0'],
  headers: [isHeaders, 'an object with names and values of headers'],
  tokenHeader: [(value) => isHeaders({ [String(value)]: '' }), 'the name of a header'],
  defaults: object,
}

/** The rules of each call’s options. */
export const callRules: Rules = {
  signal: rules.signal,
  timeoutMs: rules.duration,
  deadline: time('a time in milliseconds since 1970'),
}

/** The rules of the filter of the statistics. */
export const filterRules: Rules = {
  tag: rules.string,
  fromDate: rules.string,
  toDate: rules.string,
  messageStream: rules.string,
}

/**
 * Checks options. Absent ones are left out.
 *
 * @param facts `isClosed`: unknown names are faults, too; the options of a call may be an event’s context
 * @throws {MailError} `invalid_arguments`, with the name of each fault
 */
export function checkOptions(
  options: object,
  allowed: Rules,
  { path = 'options', isClosed = false }: { path?: string; isClosed?: boolean } = {},
): void {
  if (!isRecord(options)) throw invalidOptions([{ path, message: 'must be an object' }])
  const errors: FieldError[] = []
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(allowed, name) ? allowed[name] : undefined
    if (value === undefined || (!rule && !isClosed) || rule?.[0](value)) continue
    errors.push({ path: `${path}.${name}`, message: rule ? `must be ${rule[1]}` : 'is no option' })
  }
  if (errors.length > 0) throw invalidOptions(errors)
}

/** @throws {MailError} `invalid_arguments` if the default sender is no address */
export function checkSender(fromEmail: unknown): void {
  const fault = fromEmail === undefined || fromEmail === '' ? undefined : parseAddress(fromEmail)
  if (typeof fault === 'string') throw invalidOptions([{ path: 'options.fromEmail', message: fault }])
}

/** The error for options that are invalid. */
export function invalidOptions(errors: readonly FieldError[]): MailError {
  const sentence = errors.map(({ path, message }) => `${path} ${message}`).join(', ')
  return new MailError('invalid_arguments', `The options are invalid: ${sentence}.`, { errors })
}
