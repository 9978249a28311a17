/**
 * Finding events in the timeline.
 *
 * @module
 */
import type { TimelineCall, TimelineEntry } from './timeline.ts'

/** What is looked for. */
export interface TimelineFilter {
  /** Every one of its words has to occur. */
  text: string
  route: string
  outcome: string
  /** Whether the events of the walk are shown. */
  walk: boolean
}

/** How an event ended, by the words of the filter. */
export const outcomes = {
  ok: 'succeeded',
  failed: 'failed',
  trouble: 'had a failing call',
  replayed: 'was replayed',
} as const

/** Whether a call went wrong. */
export function isTrouble({ status, durationMs }: TimelineCall): boolean {
  return durationMs !== undefined && (status === undefined || status >= 400)
}

/** Whether an event is what is looked for. */
export function fitsFilter(entry: TimelineEntry, { text, route, outcome, walk }: TimelineFilter): boolean {
  if (!walk && entry.source === 'walk') return false
  if (route !== '' && entry.route !== route) return false
  if (!hasOutcome(entry, outcome)) return false
  if (text === '') return true
  const { number, event, subject, deployment, deliveryId, answer, calls } = entry
  const facts = [
    `#${number}`,
    entry.route,
    event,
    subject,
    deployment,
    deliveryId,
    answer?.status,
    answer?.code,
  ]
  const callFacts = calls.map(
    (call) => `${call.to} ${call.method} ${call.path} ${call.status ?? call.failure}`,
  )
  const hay = [...facts, ...callFacts].join(' ').toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => hay.includes(word))
}

function hasOutcome({ answer, calls }: TimelineEntry, outcome: string): boolean {
  switch (outcome) {
    case 'ok':
      return answer !== undefined && answer.status < 400
    case 'failed':
      return answer !== undefined && answer.status >= 400
    case 'trouble':
      return calls.some(isTrouble)
    case 'replayed':
      return answer?.replayed === true
    default:
      return true
  }
}
