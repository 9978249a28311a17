/** Compares the reaction that a fault asks of the host with the one that followed. */
import type { TimelineCall, TimelineEntry } from '../world/timeline.ts'
import { duration } from './html.ts'

/** The host gives up on a silent provider after 10 seconds, and on a silent platform after 5. */
const PATIENCE_MS = { provider: 10_000, platform: 5_000 }
/** The faults ask for a pause of one second. */
const PAUSE_MS = 1_000
/** Timers are not exact. */
const TOLERANCE_MS = 20

/**
 * Judges the reaction to a fault.
 *
 * @param kind the kind of the fault
 * @param call the call that met it
 * @returns the expected and the observed reaction; `fulfilled` is `undefined` while the host works on the event
 */
export function judgeFault(kind: string, call: TimelineCall, entry: TimelineEntry) {
  const { to, method, path, request, startedMs, durationMs = 0, fault } = call
  const done = entry.response !== undefined
  if (fault && 'delayMs' in fault) {
    const isPatient = fault.delayMs < PATIENCE_MS[to]
    const expected = isPatient
      ? `wait ${duration(fault.delayMs)} for the response`
      : `give up after ${duration(PATIENCE_MS[to])}`
    const saw =
      call.durationMs === undefined
        ? '…'
        : `${call.failure ? 'gave up' : 'a response'} after ${duration(durationMs)}`
    return { expected, saw, fulfilled: done ? isPatient === !call.failure : undefined }
  }
  const endedMs = startedMs + durationMs
  const retry = entry.calls.find(
    (one) =>
      one.startedMs >= endedMs &&
      one.method === method &&
      one.path === path &&
      one.request.text === request.text,
  )
  const wait = (retry?.startedMs ?? 0) - endedMs
  const saw = retry ? `retry after ${duration(wait)}` : done ? 'no retry' : '…'
  const repeatable = kind === 'rate-limit' || isRepeated(kind, call)
  if (!repeatable) return { expected: 'no retry', saw, fulfilled: done ? !retry : undefined }
  const pause = fault && 'headers' in fault ? PAUSE_MS : 0
  const expected = pause > 0 ? `retry after ${duration(pause)}` : 'retry'
  return { expected, saw, fulfilled: retry ? wait >= pause - TOLERANCE_MS : done ? false : undefined }
}

/** A send may have gone out, so it is not repeated. The platform's status is enough, so its body is not read. */
function isRepeated(kind: string, { to, method }: TimelineCall): boolean {
  if (kind === 'unauthorized') return false
  return method === 'GET' || (to === 'platform' && kind !== 'html')
}
