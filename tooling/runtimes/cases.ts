/**
 * The rows of the table: what a provider does, what is sent, and what must come of it on each runtime. They are what a
 * runtime can change: how it breaks off, times out, refuses, resolves, encrypts and encodes.
 */
import type { Call, Provider } from './provider.ts'

/** What `programs/cases.mjs` sends for one row. */
interface Sending {
  /** Calls of `sendEmail`, one after another; 1 by default. */
  times?: number
  /** Messages of one `sendEmails`, instead. */
  batch?: number
  /** Runs a function of `programs/scripts.mjs` instead. */
  script?: string
  /** Adds an attachment of 2 MB to each message. */
  long?: true
  timeoutMs?: number
  /** When the caller ends the call. */
  abort?: 'before' | 'after 2 s'
}

interface Row extends Provider, Sending {
  /**
   * Each outcome that is right, message by message, as text: `sent`, or the code and the effect. `by chance`: each is
   * sent or unknown, and the provider accepted all that were sent and none but the unknown beside.
   */
  outcomes: string[] | ((runtime: string) => string[]) | 'by chance'
  /** Mails that the provider accepted; by default as many as were sent or are unknown. */
  accepted?: number
}

export type Case = Row & { name: string }

const sent = 'sent'
const unknown = 'outcome_unknown unknown'
const neverSent = 'provider_error none'
const tooLate = 'provider_timeout none'

const answer = (call: Call) => call.answer(200, call.accept())
const then = (first: (call: Call) => void, later: (call: Call) => void) => (call: Call) =>
  call.number === 1 ? first(call) : later(call)

/** What breaks after the provider has accepted. */
const breaks: Readonly<Record<string, (call: Call) => void>> = {
  cut: ({ socket }) => socket.end(),
  reset: ({ socket }) => socket.resetAndDestroy(),
  hang: () => {},
  half({ response, socket }) {
    response.writeHead(200, { 'content-length': 200 }).write('{"To":"a')
    socket.end()
  },
}
const broken = Object.entries(breaks).flatMap(([what, breakOff]): [string, Row][] => {
  const onCall = (call: Call) => {
    call.accept()
    breakOff(call)
  }
  // On a busy machine, a call that is answered may take seconds, too.
  const row = { onCall, ...(what === 'hang' && { timeoutMs: 5_000 }), outcomes: [unknown] }
  return [
    [`${what} after acceptance`, row],
    [`${what} after acceptance, long`, { ...row, long: true }],
    [
      `${what} on a kept connection`,
      { ...row, onCall: then(answer, onCall), times: 2, outcomes: [sent, unknown] },
    ],
    [`${what} after a batch was accepted`, { ...row, batch: 3, outcomes: [unknown, unknown, unknown] }],
  ]
})

const rows: Readonly<Record<string, Row>> = {
  sent: { onCall: answer, outcomes: [sent] },
  'sent, long': { onCall: answer, long: true, outcomes: [sent] },
  batch: { onCall: answer, batch: 3, outcomes: [sent, sent, sent] },
  'batch, long': { onCall: answer, batch: 3, long: true, outcomes: [sent, sent, sent] },
  redirect: { onCall: (call) => call.answer(307, '', { location: '/again' }), outcomes: [neverSent] },
  '429, with a fraction as Retry-After': {
    onCall: then((call) => call.answer(429, '', { 'retry-after': '0.25' }), answer),
    outcomes: [sent],
  },
  'abort before': { onCall: answer, abort: 'before', outcomes: ['aborted none'] },
  'abort after acceptance': { onCall: (call) => call.accept(), abort: 'after 2 s', outcomes: [unknown] },

  'refused connection': { url: 'http://127.0.0.1:9', outcomes: [neverSent] },
  'blocked port': { url: 'http://127.0.0.1:6000', outcomes: [neverSent] },
  'URL that is not HTTP': { url: 'ftp://127.0.0.1', outcomes: ['invalid_arguments none'] },
  'name without an address': { url: 'http://mail.invalid', outcomes: [neverSent] },
  'untrusted certificate': { isSecure: true, outcomes: [neverSent] },
  'TLS to a plain port': { scheme: 'https', outcomes: [neverSent] },
  'plain HTTP to a port with TLS': {
    // The alert that OpenSSL sends.
    onConnection: (socket) =>
      void socket.once('data', () => socket.end(Uint8Array.of(21, 3, 1, 0, 2, 2, 70))),
    outcomes: (runtime) => [runtime.startsWith('node') ? neverSent : unknown],
    accepted: 0,
  },
  'silence before the connection stands': {
    scheme: 'https',
    onConnection: () => {},
    timeoutMs: 1_000,
    outcomes: (runtime) => [/^(node|deno)/.test(runtime) ? unknown : tooLate],
    accepted: 0,
  },
  'kept connection closed at the next call': {
    onCall(call) {
      answer(call)
      call.socket.destroySoon()
    },
    times: 3,
    outcomes: 'by chance',
  },

  'signed event': {
    script: 'signed event',
    onCall: then((call) => call.answer(200, {}), answer),
    outcomes: [sent, '401'],
  },
  'batch with a journal, twice': { script: 'journal', onCall: answer, outcomes: [sent, sent, sent, sent] },
  'files of every kind': { script: 'files', onCall: answer, outcomes: [sent, sent, sent, sent, sent] },
  'address of another script': { script: 'address', onCall: answer, outcomes: [sent] },
}

/** All rows. */
export const cases: readonly Case[] = [...Object.entries(rows), ...broken].map(([name, row]) => ({
  name,
  ...row,
}))
