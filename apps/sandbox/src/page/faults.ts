/** The kinds of faults that the page can cause, their targets, and how the host should react to each. */
import type { Fault } from '@org/core/testing'
import type { TimelineCall, TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { duration } from './html.ts'

interface FaultKind {
  title: string
  /** How the host reacts. */
  hint: string
  fault: Fault
  /** The calls that the host repeats; any other one may have taken effect, or would fail again. */
  retry: 'all' | 'reads' | 'reads and callbacks' | 'none'
}

const retryAfter = { 'retry-after': '1' }

/** The kinds, by name. */
export const faultKinds: Readonly<Record<string, FaultKind>> = {
  'rate-limit': {
    title: '429, too many requests',
    hint: 'Asks for a pause of one second. Nothing happened, so the host waits and retries.',
    fault: { status: 429, headers: retryAfter, body: { Message: 'Too many requests.' } },
    retry: 'all',
  },
  unavailable: {
    title: '503, unavailable',
    hint: 'The host retries a read. It does not retry a send, which may have gone out.',
    fault: { status: 503, headers: retryAfter, body: { Message: 'Down for maintenance.' } },
    retry: 'reads and callbacks',
  },
  error: {
    title: '500, internal error',
    hint: 'Like 503, but without a time for the retry.',
    fault: { status: 500, body: { Message: 'Internal error.' } },
    retry: 'reads and callbacks',
  },
  unauthorized: {
    title: '401, credentials refused',
    hint: 'As if the key had been revoked. The host does not retry.',
    fault: { status: 401, body: { ErrorCode: 10, Message: 'The token was refused.' } },
    retry: 'none',
  },
  delay: {
    title: 'Slow response',
    hint: 'The response is late. The host gives up after ten seconds.',
    fault: { delayMs: 0 },
    retry: 'none',
  },
  'cut-before': {
    title: 'Connection cut before anything happens',
    hint: 'The host can’t tell it from the next fault.',
    fault: { cut: 'before' },
    retry: 'reads and callbacks',
  },
  'cut-after': {
    title: 'Done, but the response is lost',
    hint: 'The worst case: the effect happened, and the host can’t know.',
    fault: { cut: 'after' },
    retry: 'reads and callbacks',
  },
  'cut-during': {
    title: 'Done, but the response breaks off',
    hint: 'Half a response, then the connection is cut.',
    fault: { cut: 'during' },
    retry: 'reads and callbacks',
  },
  html: {
    title: 'HTML page instead of JSON',
    hint: 'A proxy in front of the provider may respond like this, with status 200.',
    fault: { html: true },
    // The status of a callback’s response is enough, so nobody reads its body.
    retry: 'reads',
  },
}

/** A target of faults. */
export type FaultTarget = ReturnType<typeof faultTargets>[number]

/** The emulated targets; a real provider can’t be broken. */
export function faultTargets({ world }: PageContext) {
  const targets = [
    { name: 'mail', title: 'Mail provider', faults: world.mail.emulator?.faults },
    { name: 'identity', title: 'Identity provider', faults: world.identityFaults },
    { name: 'platform', title: 'Platform', faults: world.platform.faults },
  ]
  return targets.flatMap(({ name, title, faults }) => (faults ? [{ name, title, faults }] : []))
}

const made = new WeakMap<Fault, { kind: FaultKind; title: string }>()

/**
 * Makes one fault.
 *
 * @param delayMs for the kind `delay`
 * @param path a part of the path of the affected requests; a `*` matches any text
 * @returns `undefined` if there is no such kind
 */
export function makeFault(name: string, delayMs = 0, path = ''): Fault | undefined {
  const kind = Object.hasOwn(faultKinds, name) ? faultKinds[name] : undefined
  if (!kind) return undefined
  const fault: Fault = 'delayMs' in kind.fault ? { delayMs } : { ...kind.fault }
  const escaped = path.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  if (path !== '') fault.path = new RegExp(escaped.replaceAll('*', '.*'))
  made.set(fault, { kind, title: path === '' ? kind.title : `${kind.title}, at ${path}` })
  return fault
}

/** The title of a fault. */
export function titleOf(fault: Fault): string {
  return made.get(fault)?.title ?? ('status' in fault ? `status ${fault.status}` : 'a fault')
}

/** The host gives up on a silent provider after 10 seconds, and on a silent platform after 5. */
const PATIENCE_MS = { provider: 10_000, platform: 5_000 }
/** The faults ask for a pause of one second. */
const PAUSE_MS = 1_000
/** Timers are not exact. */
const TOLERANCE_MS = 20

/**
 * Compares the reaction that a fault asks of the host with the one that followed.
 *
 * @param call the call that met it
 * @returns `fulfilled` is `undefined` while the host works on the event; `undefined` for a fault of another origin
 */
export function judgeFault(fault: Fault, call: TimelineCall, entry: TimelineEntry) {
  const kind = made.get(fault)?.kind
  if (!kind) return undefined
  const { to, method, path, request, startedMs, durationMs, failure } = call
  const done = entry.response !== undefined
  if ('delayMs' in fault) {
    const isPatient = fault.delayMs < PATIENCE_MS[to]
    const ended = `${failure ? 'gave up' : 'a response'} after ${duration(durationMs)}`
    return {
      expected: isPatient
        ? `wait ${duration(fault.delayMs)} for the response`
        : `give up after ${duration(PATIENCE_MS[to])}`,
      saw: durationMs === undefined ? '…' : ended,
      fulfilled: done ? isPatient === !failure : undefined,
    }
  }
  const endedMs = startedMs + (durationMs ?? 0)
  const isSame = (one: TimelineCall) =>
    one.method === method && one.path === path && one.request.text === request.text
  const retry = entry.calls.find((one) => one.startedMs >= endedMs && isSame(one))
  const wait = (retry?.startedMs ?? 0) - endedMs
  const saw = retry ? `retry after ${duration(wait)}` : done ? 'no retry' : '…'
  if (!isRepeated(kind, call)) return { expected: 'no retry', saw, fulfilled: done ? !retry : undefined }
  const pause = 'headers' in fault ? PAUSE_MS : 0
  const expected = pause > 0 ? `retry after ${duration(pause)}` : 'retry'
  return { expected, saw, fulfilled: retry ? wait >= pause - TOLERANCE_MS : done ? false : undefined }
}

function isRepeated({ retry }: FaultKind, { to, method }: TimelineCall): boolean {
  if (retry === 'all' || retry === 'none') return retry === 'all'
  return method === 'GET' || (to === 'platform' && retry === 'reads and callbacks')
}
