import { readNumber } from './fields.ts'

/**
 * The totals of outbound mail.
 *
 * @see https://postmarkapp.com/developer/api/stats-api#overview
 */
export interface DeliveryStats {
  /** Mails sent. */
  sent: number
  /** Mails that bounced, of every kind. */
  bounced: number
  /** Mails that failed because of an error of the SMTP API. */
  smtpApiErrors: number
  /** Bounced mails, in percent of those sent. */
  bounceRate: number
  /** Mails that their recipients reported as spam. */
  spamComplaints: number
  /** Spam complaints, in percent of the mails sent. */
  spamComplaintsRate: number
  /** How often mails were opened. */
  opens: number
  /** Mails that were opened at least once. */
  uniqueOpens: number
  /** Mails with tracking of opens or links. */
  tracked: number
  /** Mails with tracking of links. */
  withLinkTracking: number
  /** Mails with tracking of opens. */
  withOpenTracking: number
  /** Tracked links in all mails. */
  totalTrackedLinksSent: number
  /** Tracked links that were clicked at least once. */
  uniqueLinksClicked: number
  /** Clicks on tracked links. */
  totalClicks: number
  /** Opens and clicks for which the mail client is known. */
  withClientRecorded: number
  /** Opens and clicks for which the platform is known: desktop, mobile or web. */
  withPlatformRecorded: number
  /** Opens for which the time of reading is known. */
  withReadTimeRecorded: number
}

/** @returns `undefined` if the body holds no totals */
export function readStats(body: unknown): DeliveryStats | undefined {
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
