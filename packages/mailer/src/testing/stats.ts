import type { AcceptedMessage } from './messages.ts'
import { invalidField, Refusal } from './refusals.ts'
import type { MailProviderSettings, OutboundStats } from './settings.ts'

const filters = new Set(['tag', 'fromdate', 'todate', 'messagestream'])

/**
 * Counts the accepted messages for `GET /stats/outbound`.
 *
 * @throws {Refusal} if a filter is invalid
 * @see https://postmarkapp.com/developer/api/stats-api
 */
export function readStats(
  query: URLSearchParams,
  messages: readonly AcceptedMessage[],
  { streams, stats }: MailProviderSettings,
): OutboundStats {
  for (const [name, value] of query) {
    const isDay = /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
    if (!filters.has(name) || (name.endsWith('date') && !isDay)) throw invalidField(name)
  }
  const stream = query.get('messagestream')
  if (stream !== null && !Object.hasOwn(streams, stream)) {
    throw new Refusal('streamNotFound', `The message stream '${stream}' was not found.`, 404)
  }
  const tag = query.get('tag')
  const from = query.get('fromdate') ?? ''
  const to = query.get('todate') ?? '9999'
  const counted = messages.filter((message) => {
    const day = message.submittedAt.slice(0, 10)
    const matches =
      (tag === null || message.tag === tag) && (stream === null || message.messageStream === stream)
    return matches && day >= from && day <= to
  })
  const withLinks = counted.filter(({ trackLinks }) => trackLinks !== 'None')
  const withOpens = counted.filter(({ trackOpens }) => trackOpens)
  const totals = {
    Sent: counted.length,
    Bounced: 0,
    SMTPApiErrors: 0,
    SpamComplaints: 0,
    Opens: 0,
    UniqueOpens: 0,
    Tracked: new Set([...withLinks, ...withOpens]).size,
    WithLinkTracking: withLinks.length,
    WithOpenTracking: withOpens.length,
    TotalTrackedLinksSent: 0,
    UniqueLinksClicked: 0,
    TotalClicks: 0,
    WithClientRecorded: 0,
    WithPlatformRecorded: 0,
    WithReadTimeRecorded: 0,
    ...stats,
  }
  const rate = (count: number) => (totals.Sent === 0 ? 0 : Math.round((count / totals.Sent) * 100_000) / 1000)
  return { BounceRate: rate(totals.Bounced), SpamComplaintsRate: rate(totals.SpamComplaints), ...totals }
}
