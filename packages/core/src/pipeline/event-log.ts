// One log line per event, and the port for metrics and traces. Neither shows a body, a secret or a mail address.

import * as z from 'zod'
import type { EventName, PlatformEvent } from '../contract/event.ts'
import type { FunctionDefinition } from '../contract/integration.ts'
import type { EventResponse, Fates } from '../delivery/response.ts'
import type { ErrorCode, IntegrationError } from '../errors.ts'
import type { Logger, LogLevel } from '../log.ts'
import { type Redactor, textForLog } from '../redact.ts'

/** The log line of an event, with the fates of the messages that it was to send. */
export type EventRecord = Partial<Fates> & {
  /** The integration's name. */
  route: string
  /** Absent if the request was refused before it was parsed. */
  event: EventName | undefined
  /** The function that the sender named; it may not exist. */
  function: string | undefined
  deployment: string | undefined
  delivery: string | undefined
  /** One attempt of a delivery: the request's `x-request-id`, or an id of its own. */
  request: string
  /** The network address of a sender whose request was refused before its signature was checked. */
  peer: string | undefined
  /** `partial`: some messages failed. `unknown`: some effect may have happened. */
  outcome: 'ok' | 'partial' | 'unknown' | 'ignored' | 'replayed' | 'refused' | 'failed'
  /** The fates of the messages that it sent, and the provider's ids of the first ones. */
  sent?: number
  failed?: number
  unknown?: number
  messageIds?: string[]
  /** The HTTP status. */
  status: number
  /** The code of a failure. */
  code: ErrorCode | undefined
  replayed: boolean | undefined
  durationMs: number
  /** HTTP requests to the provider, retries included. */
  providerCalls: number
  /** The cause of a fault in the host. */
  reason?: string
  /** The stack frames of a fault in the host. */
  at?: string[]
}

/** One HTTP request that is about to leave. */
export interface OutboundCall {
  to: 'provider' | 'platform'
  /** The integration's name. */
  route: string
  method: string
  url: string
  /** Whether it carries a secret of the host, and not only those of a deployment. */
  usesHostSecret(): boolean
  /** An observer may add headers before it sends, such as `traceparent`. */
  headers: Record<string, string>
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
  /** Runs one event, from the request to the response. */
  event?(route: string, request: Request, handle: () => Promise<Response>): Promise<Response>
  /** Runs one outbound call: each attempt, to providers and to the platform alike. */
  call?(call: OutboundCall, send: () => Promise<Response>): Promise<Response>
  /** Receives the record of each event once, when it is answered. */
  answered?(record: EventRecord): void
}

/** The facts that accumulate while an event is handled. */
export interface Trace {
  event: PlatformEvent | undefined
  deliveryId: string | undefined
  isVerified: boolean
  readonly requestId: string
  providerCalls: number
  /** Knows the secrets of the host alone: a tenant must not hide who it is by a secret that is its own name. */
  readonly host: Redactor
  /** Knows the credentials of the host and of the deployment. */
  readonly credentials: Redactor
  /** Knows these and what people chose, such as a password, which may be a word of any response. */
  readonly redactor: Redactor
}

/** An id as proxies write it. Any other text could be anything. */
const REQUEST_ID = /^[\w.-]{1,100}$/

/** The trace of a request that has not been read yet. */
export function createTrace(host: Redactor, { headers }: Pick<Request, 'headers'>): Trace {
  const credentials = host.extend()
  const redactor = credentials.extend()
  const given = headers.get('x-request-id') ?? ''
  const requestId = REQUEST_ID.test(given) ? given : crypto.randomUUID()
  const facts = { event: undefined, deliveryId: undefined, isVerified: false, requestId, providerCalls: 0 }
  return { ...facts, host, credentials, redactor }
}

/** The fields that all lines of one event have. */
function identify(route: string, { event, deliveryId, requestId, host }: Trace) {
  const deployment = event?.deployment?.id
  return {
    route,
    deployment: deployment && textForLog(host, deployment),
    delivery: deliveryId && textForLog(host, deliveryId),
    request: textForLog(host, requestId),
  }
}

/** A logger whose lines name the event that they belong to. It does not redact the rest of a line. */
export function createEventLogger(logger: Logger, route: string, trace: Trace): Logger {
  return (level, message, facts) => logger(level, message, { ...identify(route, trace), ...facts })
}

const one = z.object({ messageId: z.string() })
const many = z.object({
  ...{ sent: z.int(), failed: z.int(), unknown: z.int() },
  results: z.array(z.object({ messageId: z.string().nullable() })),
})

/**
 * The fates of the messages that a function sent.
 *
 * @returns `undefined` for another function, for a call that will be tried again, and for a batch that did not begin
 */
export function fatesOf(
  definition: FunctionDefinition | undefined,
  { body, error }: Pick<EventResponse, 'body' | 'error'>,
): Fates | undefined {
  if (!definition?.sends) return undefined
  const none = { sent: 0, failed: 0, unknown: 0, ids: [] }
  if (error) {
    if (definition.sends === 'many' || error.retryable) return undefined
    return error.code === 'outcome_unknown' ? { ...none, unknown: 1 } : { ...none, failed: 1 }
  }
  if (definition.sends === 'one') {
    const { data } = one.safeParse(body?.result)
    return data && { ...none, sent: 1, ids: [data.messageId] }
  }
  const { data } = many.safeParse(body?.result)
  if (!data) return undefined
  const { results, ...counts } = data
  return { ...counts, ids: results.flatMap(({ messageId }) => messageId ?? []) }
}

/** The most message ids in one line. */
const IDS_OF_LINE = 200

/** Writes the log line of an event, and passes it to the observer. */
export function logEvent(
  { logger, observer }: { logger: Logger; observer: Observer },
  route: string,
  response: EventResponse,
  trace: Trace,
  { peer, durationMs }: Pick<EventRecord, 'peer' | 'durationMs'>,
): void {
  const { event, providerCalls, host, redactor } = trace
  const { ids = [], ...counts } = response.fates ?? {}
  const called = event?.name === 'FUNCTION_CALL' ? event.functionCall.name.slice(0, 80) : undefined
  const record: EventRecord = {
    ...identify(route, trace),
    event: event?.name,
    function: called === undefined ? undefined : textForLog(host, called),
    peer,
    outcome: outcomeOf(response),
    ...counts,
    ...(ids.length > 0 && { messageIds: ids.slice(0, IDS_OF_LINE) }),
    status: response.status,
    code: response.error?.code,
    replayed: response.replayed,
    durationMs,
    providerCalls,
    ...faultOf(response.error, redactor),
  }
  logger(
    record.outcome === 'unknown' ? 'warn' : response.error ? levelOfFailure(response.error) : 'info',
    `${event?.name ?? 'refused'} ${response.status}`,
    record,
  )
  for (let at = IDS_OF_LINE; at < ids.length; at += IDS_OF_LINE) {
    const messageIds = ids.slice(at, at + IDS_OF_LINE)
    logger('info', 'Further messages', { ...identify(route, trace), messageIds })
  }
  observer.answered?.(record)
}

/** Failures at which somebody should look. The operator of the host can act on few of them. */
const WARNINGS: readonly ErrorCode[] = [
  'invalid_signature',
  'outcome_unknown',
  'missing_credentials',
  'credentials_rejected',
  'provider_error',
  'provider_timeout',
  'overloaded',
]
/** Failures on which the operator of the host must act. */
const FAULTS: readonly ErrorCode[] = ['internal_error', 'platform_unavailable']

/** How loud a failure is in the log of the host. */
export function levelOfFailure({ code }: Pick<IntegrationError, 'code'>): LogLevel {
  if (FAULTS.includes(code)) return 'error'
  return WARNINGS.includes(code) ? 'warn' : 'info'
}

function outcomeOf({ status, body, error, replayed, fates }: EventResponse): EventRecord['outcome'] {
  if (replayed) return 'replayed'
  if (fates?.unknown || error?.code === 'outcome_unknown') return 'unknown'
  if (status < 400) return body?.status === 'ignored' ? 'ignored' : fates?.failed ? 'partial' : 'ok'
  return status < 500 ? 'refused' : 'failed'
}

/** The cause of a fault, which the response does not show. */
function faultOf(error: IntegrationError | undefined, redactor: Redactor) {
  if (error?.code !== 'internal_error' && error?.code !== 'outcome_unknown') return undefined
  const { cause } = error
  if (!(cause instanceof Error)) return undefined
  const frames = cause.stack?.split('\n').filter((line) => /^ +at /.test(line)) ?? []
  return {
    // Redacted before it is cut: half a secret would not be recognised.
    reason: textForLog(redactor, `${cause.name}: ${cause.message}`).slice(0, 500),
    at: redactor.data(frames.slice(0, 5)),
  }
}
