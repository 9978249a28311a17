/** Lets the changes of one owner, such as a deployment, through to accounts. */
export interface Gate {
  /**
   * Lets a change through.
   *
   * @param account an origin and a token
   * @param probe makes a read, and tells whether the provider answered it
   * @param wait waits so many milliseconds, and tells whether it goes on; without it, nothing waits
   * @throws {IntegrationError} `provider_error` with the effect `'none'` while the account is shut
   */
  enter(account: string, probe: () => Promise<boolean>, wait?: Wait): Promise<Pass>
}

/** Waits, and tells whether its caller still wants to go on. */
export type Wait = (milliseconds: number) => Promise<boolean>

/** The right to make one change. */
export interface Pass {
  /** Call once, when the change is over. `unmade`: it certainly had no effect. */
  leave(outcome: 'made' | 'unmade' | 'unknown'): void
}
