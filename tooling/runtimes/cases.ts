/**
 * The rows of the table: what a provider does, what is sent, and what must come of it on each runtime.
 *
 * @module
 */
import type { Call, Provider, WireResult } from './rough-provider.ts'

/** What the program sends for one case. */
interface Sending {
  /** Calls of `sendEmail`, one after another; 1 by default. */
  times?: number
  /** Messages of one `sendEmails`, instead. */
  batch?: number
  /** Runs a function of `programs/scripts.mjs` instead. */
  script?: string
  /** The index of a message that is no message. */
  unfit?: number
  /** Adds an attachment of 2 MB to each message. */
  long?: true
  timeoutMs?: number
  /** When the caller ends the call. */
  abort?: 'before' | 'after 2 s'
}

/** One row. */
export interface Case extends Provider, Sending {
  name: string
  /**
   * Each outcome that is right, message by message, as text: `sent`, or the code and the effect. `by chance`: each is
   * sent or unknown, and the provider accepted all that were sent and none but the unknown beside.
   */
  outcomes: string[] | ((runtime: string) => string[]) | 'by chance'
  /** Mails that the provider accepted; by default as many as were sent or are unknown. */
  accepted?: number
}

const sent = 'sent'
const unknown = 'outcome_unknown unknown'
const neverSent = 'provider_error none'
const tooLate = 'provider_timeout none'
const isNode = (runtime: string) => runtime.startsWith('node')

const cut = (call: Call) => call.accept().end()
const reset = (call: Call) => call.accept().resetAndDestroy()
const refuseToken = (call: Call) => call.answer(401, { ErrorCode: 10, Message: 'The token is wrong.' })
const hang = (call: Call) => void call.accept()
const half = (call: Call) => call.accept().end('HTTP/1.1 200 OK\r\ncontent-length: 200\r\n\r\n{"To":"a')
/** Accepts, and answers with the results as they are edited. */
const acceptAnd = (edit: (results: WireResult[]) => unknown[]) => (call: Call) => {
  call.accept()
  call.answer(200, edit(call.results()))
}
const answer = acceptAnd((results) => results)
const then = (first: Provider['onCall'], later: Provider['onCall']) => (call: Call) =>
  (call.number === 1 ? first : later)?.(call)

type Rows = Readonly<Record<string, Omit<Case, 'name'>>>

const broken: Case[] = Object.entries({ cut, reset, hang, half }).flatMap(([what, onCall]) => [
  { name: `${what} after acceptance`, onCall, timeoutMs: 2_000, outcomes: [unknown] },
  {
    name: `${what} after acceptance, long`,
    onCall,
    long: true,
    timeoutMs: 2_000,
    outcomes: [unknown],
  },
  {
    name: `${what} on a kept connection`,
    onCall: then(answer, onCall),
    times: 2,
    timeoutMs: 2_000,
    outcomes: [sent, unknown],
  },
  {
    name: `${what} after a batch was accepted`,
    onCall,
    batch: 3,
    timeoutMs: 2_000,
    outcomes: [unknown, unknown, unknown],
  },
])

const neverReached: Rows = {
  'refused connection': { url: 'http://127.0.0.1:9', outcomes: [neverSent] },
  'blocked port': { url: 'http://127.0.0.1:6000', outcomes: [neverSent] },
  'URL that is not HTTP': { url: 'ftp://127.0.0.1', outcomes: ['invalid_arguments none'] },
  'name without an address': { url: 'http://mail.invalid', outcomes: [neverSent] },
  'untrusted certificate': { kind: 'tls', outcomes: [neverSent] },
  'TLS to a plain port': {
    scheme: 'https',
    onConnection: (socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    outcomes: [neverSent],
  },
  'plain HTTP to a port with TLS': {
    onConnection: (socket) =>
      void socket.once('data', () => socket.end(Uint8Array.of(21, 3, 1, 0, 2, 2, 70))),
    outcomes: (runtime) => [isNode(runtime) ? neverSent : unknown],
    accepted: 0,
  },
  'silence of a firewall': {
    kind: 'deaf',
    // Node gives a connection 10 seconds, so this is the time-out of its second attempt.
    timeoutMs: 14_000,
    outcomes: (runtime) => [runtime === 'deno' ? unknown : tooLate],
    accepted: 0,
  },
  'silence while the connection is secured': {
    scheme: 'https',
    onConnection: () => {},
    timeoutMs: 1_000,
    outcomes: (runtime) => [runtime === 'deno' ? unknown : tooLate],
    accepted: 0,
  },
}

const answered: Rows = {
  sent: { onCall: answer, outcomes: [sent] },
  'sent, long': { onCall: answer, long: true, outcomes: [sent] },
  redirect: {
    onCall: (call) => call.answer(307, '', 'location: /again\r\n'),
    outcomes: [neverSent],
  },
  '401': { onCall: refuseToken, outcomes: ['credentials_rejected none'] },
  '401 of a gateway': { onCall: (call) => call.answer(401), outcomes: [neverSent] },
  '500 after acceptance': {
    onCall: (call) => {
      call.accept()
      call.answer(500)
    },
    outcomes: [unknown],
  },
  'page with 200': {
    onCall: (call) => call.answer(200, '<!doctype html>'),
    outcomes: [unknown],
    accepted: 0,
  },
  '429, with a fraction as Retry-After': {
    onCall: then((call) => call.answer(429, '', 'retry-after: 0.25\r\n'), answer),
    outcomes: [sent],
  },
  '429, with a Retry-After beyond the deadline': {
    onCall: (call) => call.answer(429, '', 'retry-after: 60.5\r\n'),
    outcomes: ['provider_rate_limited none after 60.5'],
  },
  'abort before': { onCall: answer, abort: 'before', outcomes: ['aborted none'] },
  'abort after acceptance': { onCall: hang, abort: 'after 2 s', outcomes: [unknown] },
}

const others: Rows = {
  'kept connection closed at the next call': {
    onCall: (call) => {
      answer(call)
      call.close()
    },
    times: 3,
    outcomes: 'by chance',
  },
  'signed event': {
    script: 'signed event',
    onCall: then((call) => call.answer(200, {}), answer),
    outcomes: [sent, '401'],
  },
}

const batches: Rows = {
  batch: { onCall: answer, batch: 3, outcomes: [sent, sent, sent] },
  'batch, long': { onCall: answer, batch: 3, long: true, outcomes: [sent, sent, sent] },
  'batch, answers in another order': {
    onCall: acceptAnd((results) => results.toReversed()),
    batch: 3,
    outcomes: [sent, sent, sent],
  },
  'batch, accepted without ErrorCode': {
    onCall: acceptAnd((results) => results.map(({ ErrorCode: _, ...item }) => item)),
    batch: 3,
    outcomes: [sent, sent, sent],
  },
  'batch, one answer garbled': {
    onCall: acceptAnd(([first, , third]) => [first, null, third]),
    batch: 3,
    outcomes: [sent, unknown, sent],
  },
  'batch, one message unfit': {
    onCall: answer,
    batch: 3,
    unfit: 1,
    outcomes: [sent, 'invalid_arguments none', sent],
  },
  'batch, 401': {
    onCall: refuseToken,
    batch: 3,
    outcomes: ['credentials_rejected none'],
  },
  'batch, 429 first': {
    onCall: then((call) => call.answer(429, '', 'retry-after: 0.1\r\n'), answer),
    batch: 3,
    outcomes: [sent, sent, sent],
  },
}

const scripts: Case[] = Object.entries({
  'source that is stuck, with a time limit': [sent, sent, 'provider_timeout none'],
  'source that is stuck, and a signal': [sent, sent, 'aborted none'],
  'live stream, one message at a time': [sent, sent, sent],
  'batch that comes again, with a row in front': [sent, sent, sent, sent],
  'files of every kind': [sent, sent, sent, sent, sent],
  'body that renders': [sent, sent],
  'address of another script': [sent],
}).map(([name, outcomes]) => ({ name, script: name, onCall: answer, outcomes }))

const named = Object.entries({ ...answered, ...neverReached, ...batches, ...others })

/** All rows. */
export const cases: readonly Case[] = [
  ...named.map(([name, row]) => ({ name, ...row })),
  ...broken,
  ...scripts,
]
