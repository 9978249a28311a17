/**
 * The rows of the table: what a provider does, what is sent, and what must come of it on each runtime. They are what a
 * runtime can change: how it breaks off, times out, refuses, resolves, encrypts and encodes.
 */
import type { Break, Provider } from './provider.ts'

/** The messages that `programs/cases.mjs` sends for one row, if not a single mail. */
interface Sending {
  /** Calls of `sendEmail`, one after another. */
  times?: number
  /** Messages of one `sendEmails`. */
  batch?: number
  /** A function of `programs/scripts.mjs`. */
  script?: string
  /** Adds an attachment of 2 MB to each message. */
  long?: true
  timeoutMs?: number
  /** When the caller ends the call. */
  abort?: 'before' | 'after 2 s'
}

export interface Case extends Provider, Sending {
  /** The right outcomes, message by message, as text: `sent`, or the code and the effect. One mail is sent by default. */
  outcomes?: readonly string[]
  /** Other outcomes, of runtimes that can tell that nothing was sent. */
  or?: readonly string[]
  /** Mails that the provider accepted; by default as many as were sent or are unknown. */
  accepted?: number
}

export const sent = 'sent'
export const unknown = 'outcome_unknown unknown'
const neverSent = ['provider_error none']

const broken = (['cut', 'reset', 'hang', 'half'] satisfies Break[]).flatMap((how): [string, Case][] => {
  // On a busy machine, a call that is answered may take seconds, too.
  const row = { does: [how], ...(how === 'hang' && { timeoutMs: 5_000 }), outcomes: [unknown] }
  const kept = { does: ['answer', how], times: 2, outcomes: [sent, unknown] } as const
  return [
    [`${how} after acceptance`, row],
    [`${how} after acceptance, long`, { ...row, long: true }],
    [`${how} on a kept connection`, { ...row, ...kept }],
    [`${how} after a batch was accepted`, { ...row, batch: 3, outcomes: [unknown, unknown, unknown] }],
  ]
})

/** All rows, by name. */
export const cases: Readonly<Record<string, Case>> = {
  sent: {},
  'sent, long': { long: true },
  batch: { batch: 3, outcomes: [sent, sent, sent] },
  'batch, long': { batch: 3, long: true, outcomes: [sent, sent, sent] },
  redirect: { does: ['redirect'], outcomes: neverSent },
  '429, with a fraction as Retry-After': { does: ['limit', 'answer'] },
  'abort before': { abort: 'before', outcomes: ['aborted none'] },
  'abort after acceptance': { does: ['hang'], abort: 'after 2 s', outcomes: [unknown] },
  'refused connection': { url: 'http://127.0.0.1:9', outcomes: neverSent },
  'blocked port': { url: 'http://127.0.0.1:6000', outcomes: neverSent },
  'URL that is not HTTP': { url: 'ftp://127.0.0.1', outcomes: ['invalid_arguments none'] },
  'name without an address': { url: 'http://mail.invalid', outcomes: neverSent },
  'untrusted certificate': { server: 'secure', outcomes: neverSent },
  'TLS to a plain port': { scheme: 'https', outcomes: neverSent },
  'plain HTTP to a port with TLS': {
    ...{ server: 'secure', scheme: 'http', outcomes: [unknown], or: neverSent, accepted: 0 },
  },
  'silence before the connection stands': {
    ...{ server: 'silent', scheme: 'https', timeoutMs: 1_000 },
    ...{ outcomes: [unknown], or: ['provider_timeout none'], accepted: 0 },
  },
  'signed event': { script: 'signed event', outcomes: [sent, '401'], accepted: 1 },
  'batch with a journal, twice': { script: 'journal', outcomes: [sent, sent, sent, sent] },
  'files of every kind': { script: 'files', outcomes: [sent, sent, sent, sent, sent] },
  ...Object.fromEntries(broken),
}
