/**
 * `GET /stats/outbound`, counted from the messages that are kept.
 *
 * @module
 * @see https://postmarkapp.com/developer/api/stats-api
 */
import type { AcceptedMessage } from './messages.ts'
import { invalidField, type Refusal, refuse } from './refusals.ts'
import type { MailProviderSettings, OutboundStats } from './settings.ts'

/** What is sent there bounces: the real provider has such a domain too, for tests. */
const BOUNCING_DOMAIN = '@bounce-testing.postmarkapp.com'

const filters = new Set(['tag', 'fromdate', 'todate', 'messagestream'])

/** Answers a query for statistics, or says what is wrong with it. */
export function readStats(
  query: URLSearchParams,
  messages: readonly AcceptedMessage[],
  settings: MailProviderSettings,
): OutboundStats | Refusal {
  for (const name of query.keys()) {
    if (!filters.has(name) || query.getAll(name).length > 1) return invalidField(name)
  }
  const from = query.get('fromdate')
  const to = query.get('todate')
  if (from !== null && !isDate(from)) return invalidField('fromdate')
  if (to !== null && !isDate(to)) return invalidField('todate')
  const tag = query.get('tag')
  const stream = query.get('messagestream')
  if (stream !== null && !Object.hasOwn(settings.streams, stream)) {
    return refuse('streamNotFound', `The message stream '${stream}' was not found.`)
  }

  const counted = messages.filter((message) => {
    const day = message.submittedAt.slice(0, 10)
    if (from !== null && day < from) return false
    if (to !== null && day > to) return false
    return (tag === null || message.tag === tag) && (stream === null || message.messageStream === stream)
  })
  return count(counted, settings.stats)
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
}

function count(messages: readonly AcceptedMessage[], overrides: Partial<OutboundStats>): OutboundStats {
  const opens = messages.filter(({ trackOpens }) => trackOpens).length
  const links = messages.filter(({ trackLinks }) => trackLinks !== 'None').length
  const either = messages.filter(({ trackOpens, trackLinks }) => trackOpens || trackLinks !== 'None').length
  const stats: OutboundStats = {
    Sent: messages.length,
    Bounced: messages.filter((message) => bouncing(message).length > 0).length,
    SMTPApiErrors: 0,
    BounceRate: 0,
    SpamComplaints: 0,
    SpamComplaintsRate: 0,
    Opens: 0,
    UniqueOpens: 0,
    Tracked: either,
    WithLinkTracking: links,
    WithOpenTracking: opens,
    TotalTrackedLinksSent: 0,
    UniqueLinksClicked: 0,
    TotalClicks: 0,
    WithClientRecorded: 0,
    WithPlatformRecorded: 0,
    WithReadTimeRecorded: 0,
    ...overrides,
  }
  return {
    ...stats,
    BounceRate: overrides.BounceRate ?? percent(stats.Bounced, stats.Sent),
    SpamComplaintsRate: overrides.SpamComplaintsRate ?? percent(stats.SpamComplaints, stats.Sent),
  }
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 100_000) / 1000
}

/** @returns those recipients of a message to whom it bounces, in lower case */
export function bouncing({ to, cc, bcc }: AcceptedMessage): string[] {
  return [...to, ...cc, ...bcc]
    .map((address) => address.toLowerCase())
    .filter((address) => address.endsWith(BOUNCING_DOMAIN))
}
