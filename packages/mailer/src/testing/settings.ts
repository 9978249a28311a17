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
  /** Replaces totals of `GET /stats/outbound` by their names there; the rates follow from the numbers. */
  stats: Readonly<Record<string, number>>
  /** Replaces fields of `GET /server`. */
  server: Readonly<Record<string, unknown>>
}
