import { readNumber } from './fields.ts'

/**
 * The totals of outbound mail; rates are in percent.
 *
 * @see https://postmarkapp.com/developer/api/stats-api#overview
 */
export type DeliveryStats = NonNullable<ReturnType<typeof readStats>>

/** @returns `undefined` if the body holds no totals */
export function readStats(body: unknown) {
  if (readNumber(body, 'Sent') === undefined) return undefined
  const total = (name: string) => readNumber(body, name) ?? 0
  return {
    sent: total('Sent'),
    bounced: total('Bounced'),
    smtpApiErrors: total('SMTPApiErrors'),
    bounceRate: total('BounceRate'),
    spamComplaints: total('SpamComplaints'),
    spamComplaintsRate: total('SpamComplaintsRate'),
    opens: total('Opens'),
    uniqueOpens: total('UniqueOpens'),
    tracked: total('Tracked'),
    withLinkTracking: total('WithLinkTracking'),
    withOpenTracking: total('WithOpenTracking'),
    totalTrackedLinksSent: total('TotalTrackedLinksSent'),
    uniqueLinksClicked: total('UniqueLinksClicked'),
    totalClicks: total('TotalClicks'),
    withClientRecorded: total('WithClientRecorded'),
    withPlatformRecorded: total('WithPlatformRecorded'),
    withReadTimeRecorded: total('WithReadTimeRecorded'),
  }
}
