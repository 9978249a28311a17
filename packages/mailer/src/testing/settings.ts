/** The totals of a server that has sent nothing; rates are in percent. */
export const noStats = {
  Sent: 0,
  Bounced: 0,
  SMTPApiErrors: 0,
  BounceRate: 0,
  SpamComplaints: 0,
  SpamComplaintsRate: 0,
  Opens: 0,
  UniqueOpens: 0,
  Tracked: 0,
  WithLinkTracking: 0,
  WithOpenTracking: 0,
  TotalTrackedLinksSent: 0,
  UniqueLinksClicked: 0,
  TotalClicks: 0,
  WithClientRecorded: 0,
  WithPlatformRecorded: 0,
  WithReadTimeRecorded: 0,
}
/** The totals of `GET /stats/outbound`; rates are in percent. */
export type OutboundStats = typeof noStats

/** `GET /server`: the fields that a client reads, and those that it must not repeat. */
export interface ServerInfo {
  ID: number
  Name: string
  ApiTokens: readonly string[]
  DeliveryType: 'Live' | 'Sandbox'
}

/** How the provider behaves; a test may change it at any time. */
export interface MailProviderSettings {
  /** @default ['server-token'] */
  apiTokens: readonly string[]
  /**
   * The confirmed senders: addresses, and domains without `@`. Other senders are refused with code 400.
   * @default undefined: every sender is accepted
   */
  senders: readonly string[] | undefined
  /**
   * The ids of the message streams.
   * @default ['outbound', 'broadcast']
   */
  streams: readonly string[]
  /** Replaces statistics, field by field; the rates follow from the numbers. */
  stats: Partial<OutboundStats>
  /** Replaces fields of `GET /server`. */
  server: Partial<ServerInfo>
}

/** The settings of a provider that is made without options. */
export const defaultSettings: MailProviderSettings = {
  apiTokens: ['server-token'],
  senders: undefined,
  streams: ['outbound', 'broadcast'],
  stats: {},
  server: {},
}
