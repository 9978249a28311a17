// Apart from the context, whose types need zod: an SDK has a gate, too.

/** Lets the changes of one owner, such as a deployment, through to accounts. */
export interface Gate {
  /**
   * Lets a change through.
   *
   * @param account an origin and a token
   * @param probe makes a read, and tells whether the provider answered it
   * @throws {IntegrationError} `provider_error` with the effect `'none'` while the account is shut
   */
  enter(account: string, probe: () => Promise<boolean>, limits?: GateLimits): Promise<Pass>
}

/** How long a change waits at a gate. */
export interface GateLimits {
  /** Waits so many milliseconds, and tells whether the change still wants to leave; without it, no pause is waited for. */
  wait?: ((milliseconds: number) => Promise<boolean>) | undefined
  /** Ends each wait. */
  signal?: AbortSignal | undefined
  /** When the change must be over, in milliseconds since 1970. */
  deadline?: number | undefined
}

/** The right to make one change. */
export interface Pass {
  /**
   * Call it right before the change leaves, if something took time meanwhile.
   *
   * @throws {IntegrationError} `provider_error` with the effect `'none'` if the account was shut since
   */
  ensureOpen(): void
  /** Call once, when the change is over. `unmade`: it certainly had no effect. */
  leave(outcome: 'made' | 'unmade' | 'unknown'): void
}
