/**
 * The faults that the page can cause, and their targets.
 *
 * @module
 */
import type { Fault, Faults } from '@org/core/testing'
import type { PageContext } from './context.ts'

const retryAfter = { 'retry-after': '1' }

/** The kinds of faults, by name; a hint says how the host reacts. */
export const faultKinds: Readonly<Record<string, { title: string; hint: string; fault: Fault }>> = {
  'rate-limit': {
    title: '429, too many requests',
    hint: 'Asks for a pause of one second. Nothing happened, so the host waits and retries.',
    fault: { status: 429, headers: retryAfter, body: { Message: 'Too many requests.' } },
  },
  unavailable: {
    title: '503, unavailable',
    hint: 'The host retries a read. It does not retry a send, which may have gone out.',
    fault: { status: 503, headers: retryAfter, body: { Message: 'Down for maintenance.' } },
  },
  error: {
    title: '500, internal error',
    hint: 'Like 503, but without a time for the retry.',
    fault: { status: 500, body: { Message: 'Internal error.' } },
  },
  unauthorized: {
    title: '401, credentials refused',
    hint: 'As if the key had been revoked. The host does not retry.',
    fault: { status: 401, body: { ErrorCode: 10, Message: 'The token was refused.' } },
  },
  delay: {
    title: 'Slow response',
    hint: 'The response is late. The host gives up after ten seconds.',
    fault: { delayMs: 0 },
  },
  'cut-before': {
    title: 'Connection cut before anything happens',
    hint: 'The host can’t tell it from the next fault.',
    fault: { cut: 'before' },
  },
  'cut-after': {
    title: 'Done, but the response is lost',
    hint: 'The worst case: the effect happened, and the host can’t know.',
    fault: { cut: 'after' },
  },
  'cut-during': {
    title: 'Done, but the response breaks off',
    hint: 'Half a response, then the connection is cut.',
    fault: { cut: 'during' },
  },
  html: {
    title: 'HTML page instead of JSON',
    hint: 'A proxy in front of the provider may answer so, with status 200.',
    fault: { html: true },
  },
}

/** A target of faults. */
export interface FaultTarget {
  name: string
  title: string
  faults: Faults
}

/** The emulated targets; a real provider can’t be broken. */
export function faultTargets({ world }: PageContext): FaultTarget[] {
  const targets = [
    { name: 'mail', title: 'Mail provider', faults: world.mail.emulator?.faults },
    { name: 'identity', title: 'Identity provider', faults: world.identityFaults },
    { name: 'platform', title: 'Platform', faults: world.platform.faults },
  ]
  return targets.flatMap(({ name, title, faults }) => (faults ? [{ name, title, faults }] : []))
}

const titles = new WeakMap<Fault, string>()

/**
 * Makes one fault.
 *
 * @param values the delay in milliseconds, and the path of the affected requests
 * @returns `undefined` if there is no such kind
 */
export function makeFault(
  kind: string,
  { delayMs = 0, path }: { delayMs?: number; path?: RegExp | undefined },
): Fault | undefined {
  const known = Object.hasOwn(faultKinds, kind) ? faultKinds[kind] : undefined
  if (!known) return undefined
  const fault: Fault = kind === 'delay' ? { delayMs, path } : { ...known.fault, path }
  titles.set(fault, known.title)
  return fault
}

/** The title of a pending fault. */
export function titleOf(fault: Fault): string {
  return titles.get(fault) ?? 'Another fault'
}
