/**
 * The line that the host's log gets for each event: who asked for what, and what came of it. Never a body, a
 * secret or a mail address.
 *
 * @module
 */
import type { Answer } from '../response.ts'
import type { IntegrationError } from '../errors.ts'
import type { PlatformEvent } from '../contract/event.ts'
import type { Logger } from '../log.ts'
import type { EventOutcome, EventRecord, Observer } from './observer.ts'
import { forLogs, type Redactor } from '../redact.ts'

/** What is found out of a request on its way. */
export interface Trace {
  deliveryId: string | undefined
  /** Requests to the provider, repetitions included. */
  providerCalls: number
  /** Knows the credentials of the host and of the deployment. */
  readonly credentials: Redactor
  /** Beside them, knows what people chose, as a password, which may be a word of any answer. */
  readonly redactor: Redactor
}

/** What is known of a request before it is read. */
export function createTrace(configured: Redactor): Trace {
  const credentials = configured.extend()
  return { deliveryId: undefined, providerCalls: 0, credentials, redactor: credentials.extend() }
}

/** What is known of an event when it is answered. */
export interface AnsweredEvent {
  route: string
  /** Absent where the request was refused before it was read. */
  event: PlatformEvent | undefined
  answer: Answer
  durationMs: number
  trace: Trace
}

/** Writes the line, and tells the observer what it says. */
export function logEvent(logger: Logger, answered: AnsweredEvent, observer?: Observer): void {
  const { event, answer, trace } = answered
  const clean = forLogs(trace.redactor)
  const given = (text: string | undefined) => (text === undefined ? undefined : clean.text(text))
  const record: EventRecord = {
    route: answered.route,
    event: event?.name,
    function: event?.name === 'FUNCTION_CALL' ? given(event.functionCall.name.slice(0, 80)) : undefined,
    deployment: given(event?.deployment?.id),
    delivery: given(trace.deliveryId),
    outcome: outcomeOf(answer),
    status: answer.status,
    code: answer.error?.code,
    replayed: answer.replayed,
    durationMs: answered.durationMs,
    providerCalls: trace.providerCalls,
    ...faultOf(answer.error, trace.redactor),
  }
  logger(answer.status < 500 ? 'info' : 'error', `${event?.name ?? 'refused'} ${answer.status}`, record)
  observer?.answered?.(record)
}

/** A `fetch` whose requests are counted. */
export function counting(send: typeof fetch, trace: Pick<Trace, 'providerCalls'>): typeof fetch {
  return (input, init) => {
    trace.providerCalls += 1
    return send(input, init)
  }
}

function outcomeOf({ status, body, replayed }: Answer): EventOutcome {
  if (replayed) return 'replayed'
  if (status < 400) return body.status === 'ignored' ? 'ignored' : 'ok'
  return status < 500 ? 'refused' : 'failed'
}

/** What the host's log says of a fault that its answer is silent on. */
function faultOf(
  error: IntegrationError | undefined,
  redactor: Redactor,
): Pick<EventRecord, 'reason' | 'at'> {
  if (error?.code !== 'internal_error' && error?.code !== 'outcome_unknown') return {}
  const { cause } = error
  if (!(cause instanceof Error)) return {}
  const frames = cause.stack?.split('\n').filter((line) => /^ +at /.test(line)) ?? []
  return {
    // Cleaned before it is cut: half a secret would not be known any more.
    reason: forLogs(redactor).text(`${cause.name}: ${cause.message}`).slice(0, 500),
    at: redactor.data(frames.slice(0, 5)),
  }
}
