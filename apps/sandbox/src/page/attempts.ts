/** The attempts at a call, and the waits between them. */
import type { OutboundCall } from '../world/exchange.ts'
import { hasFailed } from '../world/timeline.ts'
import { duration } from './html.ts'

/** A call, and its place among the attempts at the same thing. */
export interface Attempt {
  call: OutboundCall
  index: number
  /** From 1. */
  attempt: number
  /** The pause before the attempt; `undefined` for the first one. */
  wait: { fromMs: number; reason: string; text: string } | undefined
}

/** The calls with their attempts: a call that follows a failed one to the same place is another attempt. */
export function attemptsOf(calls: readonly OutboundCall[]): Attempt[] {
  const latest = new Map<string, Attempt>()
  return calls.map((call, index) => {
    const key = `${call.method} ${call.url}`
    const before = latest.get(key)
    const again = before && hasFailed(before.call) ? before : undefined
    const asked = again?.call.response.headers.find(([name]) => name === 'retry-after')?.[1]
    const fromMs = again ? again.call.startedMs + (again.call.durationMs ?? 0) : 0
    const reason = asked === undefined ? 'back-off' : `Retry-After: ${asked}`
    const text = `waited ${duration(call.startedMs - fromMs)} (${reason})`
    const number = (again?.attempt ?? 0) + 1
    const attempt = { call, index, attempt: number, wait: again && { fromMs, reason, text } }
    latest.set(key, attempt)
    return attempt
  })
}

/** The attempts at the call that needed most. */
export function mostAttempts(calls: readonly OutboundCall[]): number {
  return Math.max(0, ...attemptsOf(calls).map(({ attempt }) => attempt))
}
