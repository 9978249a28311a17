/**
 * The line that the host's log gets for each event: who asked for what, and what came of it. Never a body, a
 * secret or a mail address.
 *
 * @module
 */
import type { Answer } from './answer.ts'
import type { IntegrationError } from './errors.ts'
import type { PlatformEvent } from './event.ts'
import type { Logger } from './log.ts'
import { forLogs, type Redactor } from './redact.ts'

/** What came of an event, in a word. */
export type Outcome = 'ok' | 'ignored' | 'replayed' | 'refused' | 'failed'

/** What is known of an event when it is answered. */
export interface AnsweredEvent {
  route: string
  /** Absent where the request was refused before it was read. */
  event: PlatformEvent | undefined
  deliveryId: string | undefined
  answer: Answer
  durationMs: number
  /** Requests to the provider, repetitions included. */
  providerCalls: number
  redactor: Redactor
}

/** Writes the line. */
export function logEvent(logger: Logger, answered: AnsweredEvent): void {
  const { event, answer } = answered
  const clean = forLogs(answered.redactor)
  const given = (text: string | undefined) => (text === undefined ? undefined : clean.text(text))
  logger(answer.status < 500 ? 'info' : 'error', `${event?.name ?? 'refused'} ${answer.status}`, {
    route: answered.route,
    event: event?.name,
    function: event?.name === 'FUNCTION_CALL' ? given(event.functionCall.name.slice(0, 80)) : undefined,
    deployment: given(event?.deployment?.id),
    delivery: given(answered.deliveryId),
    outcome: outcomeOf(answer),
    status: answer.status,
    code: answer.error?.code,
    replayed: answer.replayed,
    durationMs: answered.durationMs,
    providerCalls: answered.providerCalls,
    ...faultOf(answer.error, answered.redactor),
  })
}

/** A `fetch` that tells of each request before it leaves. */
export function counting(send: typeof fetch, count: () => void): typeof fetch {
  return (input, init) => {
    count()
    return send(input, init)
  }
}

function outcomeOf({ status, body, replayed }: Answer): Outcome {
  if (replayed) return 'replayed'
  if (status < 400) return body.status === 'ignored' ? 'ignored' : 'ok'
  return status < 500 ? 'refused' : 'failed'
}

/** What the host's log says of a fault that its answer is silent on. */
function faultOf(error: IntegrationError | undefined, redactor: Redactor): Record<string, unknown> {
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
