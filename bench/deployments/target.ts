export type Variables = Readonly<Record<string, string | undefined>>

export interface Target {
  /** Without a slash at the end. */
  url: string
  /** The lines of its log so far. */
  log: readonly string[]
  close(): Promise<void>
}
