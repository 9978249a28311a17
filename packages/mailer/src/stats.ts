/**
 * The totals of outbound mail.
 *
 * @module
 */
import type { CallOptions, ProviderClient } from '@org/core/http'
import { capitalized, readNumber } from './fields.ts'
import { checkOptions, type Rules } from './options.ts'
import { callProvider } from './single.ts'

/** Selects the mail that {@link Mailer.getDeliveryStats} counts. */
export interface StatsFilter {
  tag?: string | undefined
  /** A day, `YYYY-MM-DD`, in the provider’s time zone. */
  fromDate?: string | undefined
  /** A day, `YYYY-MM-DD`, in the provider’s time zone. */
  toDate?: string | undefined
  messageStream?: string | undefined
}

const none = {
  sent: 0,
  bounced: 0,
  smtpApiErrors: 0,
  bounceRate: 0,
  spamComplaints: 0,
  spamComplaintsRate: 0,
  opens: 0,
  uniqueOpens: 0,
  tracked: 0,
  withLinkTracking: 0,
  withOpenTracking: 0,
  totalTrackedLinksSent: 0,
  uniqueLinksClicked: 0,
  totalClicks: 0,
  withClientRecorded: 0,
  withPlatformRecorded: 0,
  withReadTimeRecorded: 0,
}

/**
 * The totals of outbound mail; rates are in percent.
 *
 * @see https://postmarkapp.com/developer/api/stats-api#overview
 */
export type DeliveryStats = typeof none

const filterRules: Rules = {
  tag: 'a string',
  fromDate: 'a string',
  toDate: 'a string',
  messageStream: 'a string',
}

/** Asks the provider for its totals. */
export async function readStats(
  provider: ProviderClient,
  filter: StatsFilter,
  options: CallOptions,
): Promise<DeliveryStats> {
  checkOptions(filter, filterRules, 'filter')
  const { tag, fromDate, toDate, messageStream } = filter
  const query = { tag, fromdate: fromDate, todate: toDate, messagestream: messageStream }
  return callProvider(provider, { method: 'GET', path: '/stats/outbound', query }, toStats, options)
}

/** @returns `undefined` if the body holds no totals */
function toStats(body: unknown): DeliveryStats | undefined {
  if (readNumber(body, 'Sent') === undefined) return undefined
  const wireName = (name: string) => (name === 'smtpApiErrors' ? 'SMTPApiErrors' : capitalized(name))
  const totals = Object.keys(none).map((name) => [name, readNumber(body, wireName(name)) ?? 0])
  return Object.assign({ ...none }, Object.fromEntries(totals))
}
