/**
 * What the page can make go wrong, and where.
 *
 * @module
 */
import type { Fault, Faults } from '@org/core/testing'
import type { PageContext } from './context.ts'

/** One thing that can go wrong. */
interface FaultKind {
  title: string
  /** What the host is expected to make of it. */
  hint: string
  make(values: { delayMs: number }): Fault
}

/** Everything that can go wrong, by name. */
export const faultKinds: Readonly<Record<string, FaultKind>> = {
  'rate-limit': {
    title: '429, too many requests',
    hint: 'Asks for a pause of a second. Nothing was done, so the host waits, and tries again.',
    make: () => ({ status: 429, headers: { 'retry-after': '1' }, body: { Message: 'Too many requests.' } }),
  },
  unavailable: {
    title: '503, unavailable',
    hint: 'Reading is tried again. A send is not: it may have gone out.',
    make: () => ({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { Message: 'Down for maintenance.' },
    }),
  },
  error: {
    title: '500, internal error',
    hint: 'As 503, without a hint when to come back.',
    make: () => ({ status: 500, body: { Message: 'Internal error.' } }),
  },
  unauthorized: {
    title: '401, credentials refused',
    hint: 'As if the key had been revoked: final, and nothing is tried again.',
    make: () => ({ status: 401, body: { ErrorCode: 10, Message: 'The token was refused.' } }),
  },
  delay: {
    title: 'Slow answer',
    hint: 'The answer comes late; past ten seconds the host gives up.',
    make: ({ delayMs }) => ({ delayMs }),
  },
  'cut-before': {
    title: 'Connection cut before anything happens',
    hint: 'From the outside nobody can tell it from the next one.',
    make: () => ({ cut: 'before' }),
  },
  'cut-after': {
    title: 'Done, but the answer is lost',
    hint: 'The worst case: it happened, and the host can’t know.',
    make: () => ({ cut: 'after' }),
  },
  'cut-during': {
    title: 'Done, but the answer breaks off',
    hint: 'Half an answer, then the connection is cut.',
    make: () => ({ cut: 'during' }),
  },
  html: {
    title: 'HTML page instead of JSON',
    hint: 'What a proxy in front of the provider answers, with status 200.',
    make: () => ({ html: true }),
  },
}

/** One place where things can go wrong. */
export interface FaultTarget {
  name: string
  title: string
  faults: Faults
}

/** The places that are emulated; a real provider can’t be broken. */
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
 * @param path it befalls only requests to such a path
 * @returns `undefined` where there is no such kind
 */
export function makeFault(
  kind: string,
  values: { delayMs?: number; path?: RegExp | undefined },
): Fault | undefined {
  const known = Object.hasOwn(faultKinds, kind) ? faultKinds[kind] : undefined
  if (!known) return undefined
  const { delayMs = 0, path } = values
  const fault = { ...known.make({ delayMs }), path }
  titles.set(fault, known.title)
  return fault
}

/** What a pending fault is. */
export function titleOf(fault: Fault): string {
  return titles.get(fault) ?? 'Another fault'
}
