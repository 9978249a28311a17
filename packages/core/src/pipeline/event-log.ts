// One log line per event, and the port for metrics. Neither shows a body, a secret or a mail address.

import type { EventName } from '../contract/event.ts'
import type { EventResponse, Fates } from '../delivery/response.ts'
import { causeOf, type ErrorCode, shortageOf } from '../errors.ts'
import { cutText, type Logger, type LogLevel, louder } from '../log.ts'
import { type Redactor, textForLog } from '../redact.ts'
import { MAX_ID_LENGTH, type Operation } from '../request/operation.ts'
import { type HashAddress, type LoggedMessages, messagesByLine } from './messages.ts'

/** The log line of an event. */
export interface EventRecord extends Partial<Omit<Fates, 'messages'>>, LoggedMessages {
  /** The integration's name. */
  route: string
  /** Absent if the request was refused before it was parsed. */
  event: EventName | undefined
  /** The function that the sender named; it may not exist. */
  function: string | undefined
  /** The platform's customer, if the event names it. */
  owner?: string | undefined
  deployment: string | undefined
  delivery: string | undefined
  /** One attempt of a delivery: the request's `x-request-id`, or an id of its own. */
  request: string
  /** The sender's trace: of the request's `traceparent`. */
  traceId?: string | undefined
  /** The network address of a sender whose request was refused before its signature was checked. */
  peer: string | undefined
  /** `partial`: some messages failed. `unknown`: some effect may have happened. */
  outcome: 'ok' | 'partial' | 'unknown' | 'ignored' | 'replayed' | 'refused' | 'failed'
  /** The HTTP status. */
  status: number
  /** The code of a failure. */
  code: ErrorCode | undefined
  /** The sentence of a failure. */
  detail?: string
  /** The cause of a failure: a code, the words of the error, and the host that was called. */
  reason?: string
  /** The host’s own shortage, such as `EMFILE`. */
  shortage?: string | undefined
  /** The stack frames of a fault in the host. */
  at?: string[]
  /** How often the subject of the event was claimed: of a call, its attempts. */
  attempt: number | undefined
  /** Whether it called a server of the deployment, for which no operator of the host can do anything. */
  callsOwnServer?: boolean
  /** HTTP requests to the provider and to the platform, retries included. */
  providerCalls: number
  platformCalls: number
  durationMs: number
  /** The times of an event of the future, and of the host's clock. */
  timestamp?: string
  clock?: string
  /** Further facts: entries for the deployment's log, reports that got lost, trouble with the store. */
  notes?: Note[]
}

/** A part of an event's line, with facts. */
type Note = Record<string, unknown> & { level: LogLevel; message: string }

/** One HTTP request that is about to leave. */
export interface OutboundCall {
  to: 'provider' | 'platform'
  /** The integration's name. */
  route: string
  method: string
  url: string
  /** Whether it carries a secret of the host, and not only those of a deployment. */
  usesHostSecret(): boolean
}

/** The init that core passes to a transport. */
export interface OutboundInit extends RequestInit {
  /**
   * Throws if the call must not leave any more: its claim or its time ran out while it waited for a connection. A transport
   * that can should call it right before the first byte; others may ignore it.
   */
  beforeSend?: (() => void) | undefined
  /** Whether the call is the read of a gate, which passes every circuit. */
  isProbe?: boolean | undefined
}

/** Watches events and outbound calls. It returns or throws what the work returns or throws, and nothing else. */
export interface Observer {
  /** Runs one outbound call: each attempt, to providers and to the platform alike. */
  call?(call: OutboundCall, send: () => Promise<Response>): Promise<Response>
  /** Receives the record of each event once, when it is answered. */
  answered?(record: EventRecord): void
}

/** An id as proxies write it. Any other text could be anything. */
const REQUEST_ID = /^[\w.-]{1,100}$/
/** The trace id of a `traceparent` (W3C Trace Context). */
const TRACE_ID = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-[\da-f]{16}-[\da-f]{2}(?:-|$)/

/** The facts that accumulate while an event is handled. */
export class Trace {
  /** Absent if the request is refused before. */
  operation: Operation | undefined
  isVerified = false
  readonly requestId: string
  readonly traceId: string | undefined
  /** The header `webhook-id`, which means something once the signature is checked. */
  readonly webhookId: string | null
  /** These fields of the line. */
  readonly facts: Pick<
    EventRecord,
    'attempt' | 'providerCalls' | 'platformCalls' | 'callsOwnServer' | 'timestamp' | 'clock'
  > = { attempt: undefined, providerCalls: 0, platformCalls: 0 }
  /** The last URL that was called. */
  readonly called: { provider?: string; platform?: string } = {}
  /** Why the last call to the provider failed. A batch goes on after it. */
  failedCall: string | undefined
  readonly notes: Note[] = []
  /** Whether the line of the event is written. */
  isLogged = false
  /** Knows the secrets of the host alone: a tenant must not hide who it is by a secret that is its own name. */
  readonly host: Redactor
  /** Knows the credentials of the host and of the deployment. */
  readonly credentials: Redactor
  /** Knows these and what people chose, such as a password, which may be a word of any response. */
  readonly redactor: Redactor

  constructor(host: Redactor, { headers }: Pick<Request, 'headers'>) {
    const given = headers.get('x-request-id') ?? ''
    this.requestId = REQUEST_ID.test(given) ? given : crypto.randomUUID()
    this.traceId = TRACE_ID.exec(headers.get('traceparent') ?? '')?.[1]
    this.webhookId = headers.get('webhook-id')
    this.host = host
    this.credentials = host.extend()
    this.redactor = this.credentials.extend()
  }
}

/** The fields that all lines of one event have. */
function identify(route: string, { operation, isVerified, webhookId, requestId, traceId, host }: Trace) {
  const { deliveryId = isVerified ? webhookId?.slice(0, MAX_ID_LENGTH) : undefined, event } = operation ?? {}
  const { id: deployment, owner } = event?.deployment ?? {}
  return {
    route,
    ...(owner !== undefined && { owner: textForLog(host, owner) }),
    deployment: deployment && textForLog(host, deployment),
    delivery: deliveryId && textForLog(host, deliveryId),
    request: textForLog(host, requestId),
    traceId: traceId && textForLog(host, traceId),
  }
}

/**
 * A logger for what happens during an event. It becomes a part of the event's line, or a line of its own if that is
 * written already. It does not redact.
 */
export function createEventLogger(logger: Logger, route: string, trace: Trace): Logger {
  return (level, message, facts) =>
    trace.isLogged
      ? logger(level, message, { ...identify(route, trace), ...facts })
      : void trace.notes.push({ level, message, ...facts })
}

/** The longest notes of a line, in characters. The rest is counted. */
const LONGEST_NOTES = 2_000
/** The longest sentence, cause and note of a line, in characters. */
const LONGEST_TEXT = 500

/** Where the lines of events go, and the hash of addresses, if the host has a key. */
interface EventLog {
  logger: Logger
  observer: Observer
  hashAddress: HashAddress | undefined
}

/** Writes the log line of an event, and passes it to the observer. */
export async function logEvent(
  { logger, observer, hashAddress }: EventLog,
  route: string,
  response: EventResponse,
  trace: Trace,
  { peer, durationMs }: Pick<EventRecord, 'peer' | 'durationMs'>,
): Promise<void> {
  const { facts, host, operation } = trace
  const event = operation?.event
  // Again: a secret that the handler made became known when it returned.
  const notes = trace.redactor.data(trace.notes)
  const { messages: _, ...counts } = response.fates ?? {}
  const called = event?.name === 'FUNCTION_CALL' ? event.functionCall.name.slice(0, 80) : undefined
  const [first, ...others] = await messagesByLine(response, operation, hashAddress)
  trace.isLogged = true
  const record: EventRecord = {
    ...identify(route, trace),
    event: event?.name,
    function: called === undefined ? undefined : textForLog(host, called),
    peer,
    outcome: outcomeOf(response),
    ...counts,
    ...first,
    status: response.status,
    code: response.error?.code,
    ...explain(response, trace),
    durationMs,
    ...facts,
    ...(notes.length > 0 && { notes: shorten(notes) }),
  }
  const isOdd = record.outcome === 'unknown' || facts.clock !== undefined
  const level = isOdd ? 'warn' : ((response.error && LEVELS[response.error.code]) ?? 'info')
  logger(
    notes.reduce((loudest, note) => louder(loudest, note.level), level),
    `${event?.name ?? 'refused'} ${response.status}`,
    { ...record },
  )
  for (const more of others) logger('info', 'Further messages', { ...identify(route, trace), ...more })
  observer.answered?.(record)
}

/** Keeps a line readable, and below the length at which a logger cuts it. */
function shorten(notes: readonly Note[]): Note[] {
  let length = 0
  const short = notes.map((note) => ({ ...note, message: cutText(note.message, LONGEST_TEXT) }))
  const kept = short.filter((note) => {
    length += JSON.stringify(note).length
    return length <= LONGEST_NOTES
  })
  const left = notes.length - kept.length
  return left === 0 ? kept : [...kept, { level: 'info', message: `${left} more notes were left out.` }]
}

/**
 * How loud a failure is in the log of the host. At a warning somebody should look, though the operator can act on few of
 * them; at an error the operator must act.
 */
const LEVELS: Partial<Record<ErrorCode, LogLevel>> = {
  invalid_signature: 'warn',
  outcome_unknown: 'warn',
  missing_credentials: 'warn',
  credentials_rejected: 'warn',
  provider_error: 'warn',
  provider_timeout: 'warn',
  overloaded: 'warn',
  internal_error: 'error',
  platform_unavailable: 'error',
}

function outcomeOf({ status, body, error, replayed, fates }: EventResponse): EventRecord['outcome'] {
  if (replayed) return 'replayed'
  if (fates?.unknown || error?.code === 'outcome_unknown') return 'unknown'
  if (status < 400) return body?.status === 'ignored' ? 'ignored' : fates?.failed ? 'partial' : 'ok'
  return status < 500 ? 'refused' : 'failed'
}

/**
 * Why an event failed, or some of its messages. The provider's own words are left out, because they may quote personal
 * data. Each text is redacted before it is cut: half a secret would not be recognised.
 */
function explain({ error, fates }: EventResponse, { redactor, called, failedCall, operation }: Trace) {
  const clean = (text: string) => textForLog(redactor, text).slice(0, LONGEST_TEXT)
  // A batch goes on after a call that failed. One that ends early has the reason of the call that made it end.
  const isBatch = operation?.function?.definition.sends === 'many'
  const hasFailed = fates?.failed || fates?.unknown || (isBatch && error?.retryable)
  const ofCall = hasFailed && failedCall !== undefined ? { reason: clean(failedCall) } : undefined
  if (!error) return ofCall
  const { code, message, hint, provider, cause } = error
  const isFault = code === 'internal_error' || code === 'outcome_unknown'
  // The causes of other failures are of the sender's making, and may quote it.
  const isTold = cause !== undefined && (isFault || provider !== undefined || error.status >= 500)
  const url = provider && (provider.name === 'platform' ? called.platform : called.provider)
  const stack = isFault && cause instanceof Error ? cause.stack?.split('\n') : undefined
  return {
    detail: clean(withoutQuotes(hint ? `${message} ${hint}` : message, provider?.message)),
    ...ofCall,
    ...(isTold && { reason: clean(causeOf(cause, url)), shortage: shortageOf(cause) }),
    ...(stack && { at: redactor.data(stack.filter((line) => /^ +at /.test(line)).slice(0, 5)) }),
  }
}

/** A sentence with the provider's own words left out. */
function withoutQuotes(sentence: string, words = ''): string {
  const lines = words.split('\n').filter((line) => line.length > 3)
  return lines.reduce((rest, line) => rest.replaceAll(line, '…'), sentence)
}
