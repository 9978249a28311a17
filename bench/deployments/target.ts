/** The variables of a host. */
export type Variables = Readonly<Record<string, string | undefined>>

/** A deployed host. */
export interface Target {
  /** Without a slash at the end. */
  url: string
  /** What it has written to its log so far. */
  log: readonly string[]
  close(): Promise<void>
}
