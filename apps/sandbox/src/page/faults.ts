/** The kinds of faults that the page can cause, and their targets. */
import type { Fault } from '@org/core/testing'
import type { PageContext } from './context.ts'

interface FaultKind {
  title: string
  /** How the host reacts. */
  hint: string
  fault: Fault
}

const retryAfter = { 'retry-after': '1' }

/** The kinds, by name. */
export const faultKinds: Readonly<Record<string, FaultKind>> = {
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
  html: {
    title: 'HTML page instead of JSON',
    hint: 'A proxy in front of the provider may respond like this, with status 200.',
    fault: { html: true },
  },
}

/** The emulated targets; a real provider can’t be broken. */
export function faultTargets({ world }: PageContext) {
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
  titles.set(fault, path === '' ? kind.title : `${kind.title}, at ${path}`)
  return fault
}

/** The title of a fault. */
export function titleOf(fault: Fault): string {
  return titles.get(fault) ?? ('status' in fault ? `status ${fault.status}` : 'a fault')
}
