/** Whether the account may send. */
export type AccountState =
  /** To everyone. */
  | 'approved'
  /** To its own domain only: code 412. */
  | 'pending'
  /** Not at all: code 413. */
  | 'blocked'
  /** Not until someone pays: code 405. */
  | 'out-of-credits'

/** What a message stream is for. */
export type StreamType = 'Transactional' | 'Broadcasts' | 'Inbound'

/** `GET /stats/outbound`. */
export interface OutboundStats {
  Sent: number
  Bounced: number
  SMTPApiErrors: number
  /** In percent. */
  BounceRate: number
  SpamComplaints: number
  /** In percent. */
  SpamComplaintsRate: number
  Opens: number
  UniqueOpens: number
  Tracked: number
  WithLinkTracking: number
  WithOpenTracking: number
  TotalTrackedLinksSent: number
  UniqueLinksClicked: number
  TotalClicks: number
  WithClientRecorded: number
  WithPlatformRecorded: number
  WithReadTimeRecorded: number
}

/** `GET /server`. */
export interface ServerInfo {
  ID: number
  Name: string
  ApiTokens: readonly string[]
  ServerLink: string
  Color: string
  SmtpApiActivated: boolean
  RawEmailEnabled: boolean
  DeliveryType: 'Live' | 'Sandbox'
  InboundAddress: string
  InboundHookUrl: string
  BounceHookUrl: string
  OpenHookUrl: string
  DeliveryHookUrl: string
  ClickHookUrl: string
  PostFirstOpenOnly: boolean
  InboundDomain: string
  InboundHash: string
  InboundSpamThreshold: number
  TrackOpens: boolean
  TrackLinks: 'None' | 'HtmlAndText' | 'HtmlOnly' | 'TextOnly'
  IncludeBounceContentInHook: boolean
  EnableSmtpApiErrorHooks: boolean
}

/** How the provider behaves; a test may change it while the provider runs. */
export interface MailProviderSettings {
  /** @default ['server-token'] */
  apiTokens: readonly string[]
  /**
   * The confirmed senders: addresses, and domains without `@`. Others are refused with code 400.
   * @default undefined: everyone may send
   */
  senders: readonly string[] | undefined
  /** Addresses that are known, but not confirmed: refused with code 401. */
  unconfirmedSenders: readonly string[]
  /** The message streams, by id. */
  streams: Readonly<Record<string, StreamType>>
  /** @default 'approved' */
  account: AccountState
  /**
   * How a partly delivered message names the inactive addresses: both wordings have been seen.
   * @default 'short'
   */
  inactiveWording: 'short' | 'long'
  /** Replaces what is counted, field by field; the rates follow the numbers. */
  stats: Partial<OutboundStats>
  /** Replaces what `GET /server` answers, field by field. */
  server: Partial<ServerInfo>
}

/** The settings of a provider for which nothing else is asked. */
export const defaultSettings: MailProviderSettings = {
  apiTokens: ['server-token'],
  senders: undefined,
  unconfirmedSenders: [],
  streams: { outbound: 'Transactional', broadcast: 'Broadcasts', inbound: 'Inbound' },
  account: 'approved',
  inactiveWording: 'short',
  stats: {},
  server: {},
}

/** What `GET /server` answers. */
export function describeServer({ apiTokens, server }: MailProviderSettings): ServerInfo {
  return {
    ID: 1,
    Name: 'Emulated server',
    ApiTokens: apiTokens,
    ServerLink: 'https://mail.invalid/servers/1/streams',
    Color: 'blue',
    SmtpApiActivated: true,
    RawEmailEnabled: false,
    DeliveryType: 'Sandbox',
    InboundAddress: 'inbound@mail.invalid',
    InboundHookUrl: '',
    BounceHookUrl: '',
    OpenHookUrl: '',
    DeliveryHookUrl: '',
    ClickHookUrl: '',
    PostFirstOpenOnly: false,
    InboundDomain: '',
    InboundHash: 'inbound',
    InboundSpamThreshold: 0,
    TrackOpens: false,
    TrackLinks: 'None',
    IncludeBounceContentInHook: false,
    EnableSmtpApiErrorHooks: false,
    ...server,
  }
}
