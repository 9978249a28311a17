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

const isFunction = (value: unknown) => typeof value === 'function'
const isText = (value: unknown) => typeof value === 'string'
const isTime = (value: unknown) => typeof value === 'number' && value > 0
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
/** Written by the mailer or the runtime. */
const OWN_HEADERS = /^(?:accept|connection|content-.*|host|transfer-encoding|x-mailer-server-token)$/i
const isHeaderName = (value: unknown) =>
  typeof value === 'string' && HEADER_NAME.test(value) && !OWN_HEADERS.test(value)
const isHeaders = (value: unknown) =>
  isRecord(value) &&
  typeof value.append !== 'function' &&
  Object.entries(value).every(
    ([name, text]) => isHeaderName(name) && isText(text) && !/[^\t -~]/.test(String(text)),
  )

function isHttpUrl(value: unknown): boolean {
  const url = isText(value) && URL.canParse(String(value)) ? new URL(String(value)) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash
}

const duration: Rule = [isTime, 'a number of milliseconds above 0']

/** The rules of `createMailer`. */
export const mailerRules = {
  apiToken: [isText, 'a string'],
  fromEmail: [(value) => isText(value) || isRecord(value), 'an address'],
  messageStream: [isText, 'a string'],
  baseUrl: [isHttpUrl, 'an http or https URL without user name, query and fragment'],
  fetch: [isFunction, 'a function'],
  wait: [isFunction, 'a function'],
  timeoutMs: duration,
  concurrency: [(value) => Number.isInteger(value) && Number(value) > 0, 'a whole number above 0'],
  headers: [isHeaders, 'an object with names and values of headers, without those that the mailer writes'],
  tokenHeader: [isHeaderName, 'the name of a header that the mailer does not write'],
  defaults: [(value) => typeof value === 'object' && value !== null, 'an object'],
} satisfies Record<string, Rule>

const signal: Rule = [
  (value) => isRecord(value) && 'aborted' in value && typeof value.addEventListener === 'function',
  'an AbortSignal',
]

/** The rules of each call’s options. */
export const callRules = {
  signal,
  stop: signal,
  timeoutMs: duration,
  outageMs: duration,
  deadline: [isTime, 'a time in milliseconds since 1970'],
  onProgress: [isFunction, 'a function'],
  resend: [isFunction, 'a function'],
  // Those of the host.
  stopping: signal,
  gate: [isRecord, 'a gate'],
  parse: [isFunction, 'a function'],
  journal: [
    (value) => typeof value === 'object' && value !== null && 'read' in value && 'write' in value,
    'an object with read and write',
  ],
} satisfies Record<string, Rule>

/** The rules of the filter of the statistics. */
export const filterRules = {
  tag: [isText, 'a string'],
  fromDate: [isText, 'a day, YYYY-MM-DD'],
  toDate: [isText, 'a day, YYYY-MM-DD'],
  messageStream: [isText, 'a string'],
} satisfies Record<string, Rule>

/**
 * Checks options. Absent ones are left out.
 *
 * @param facts `isClosed`: unknown names are faults, too; the options of a call may be an event’s context
 * @throws {MailError} `invalid_arguments`, with the name of each fault
 */
export function checkOptions(
  options: object,
  rules: Readonly<Record<string, Rule>>,
  { path = 'options', isClosed = false }: { path?: string; isClosed?: boolean } = {},
): void {
  if (typeof options !== 'object' || options === null) throw invalid([{ path, message: 'must be an object' }])
  const errors: FieldError[] = []
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (value === undefined) continue
    if (!rule && isClosed) errors.push({ path: `${path}.${name}`, message: 'is no option' })
    if (!rule || rule[0](value)) continue
    errors.push({ path: `${path}.${name}`, message: `must be ${rule[1]}` })
  }
  if (errors.length > 0) throw invalid(errors)
}

/** @throws {MailError} `invalid_arguments` if the default sender is no address */
export function checkSender(fromEmail: unknown): void {
  const fault = fromEmail === undefined || fromEmail === '' ? undefined : parseAddress(fromEmail)
  if (typeof fault === 'string') throw invalid([{ path: 'options.fromEmail', message: fault }])
}

/** @throws {MailError} `invalid_arguments` if the messages of a batch are neither a list nor a stream */
export function checkSource(messages: unknown): void {
  const isObject = typeof messages === 'object' && messages !== null
  if (isObject && (Symbol.iterator in messages || Symbol.asyncIterator in messages)) return
  throw invalid([
    { path: 'messages', message: 'must be a list, an iterable or an async iterable of messages' },
  ])
}

function invalid(errors: readonly FieldError[]): MailError {
  const sentence = errors.map(({ path, message }) => `${path} ${message}`).join(', ')
  return new MailError('invalid_arguments', `The options are invalid: ${sentence}.`, { errors })
}
