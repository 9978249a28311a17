/** The totals of `GET /stats/outbound`; rates are in percent. */
export type OutboundStats = Record<
  | 'Sent'
  | 'Bounced'
  | 'SMTPApiErrors'
  | 'BounceRate'
  | 'SpamComplaints'
  | 'SpamComplaintsRate'
  | 'Opens'
  | 'UniqueOpens'
  | 'Tracked'
  | 'WithLinkTracking'
  | 'WithOpenTracking'
  | 'TotalTrackedLinksSent'
  | 'UniqueLinksClicked'
  | 'TotalClicks'
  | 'WithClientRecorded'
  | 'WithPlatformRecorded'
  | 'WithReadTimeRecorded',
  number
>

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
