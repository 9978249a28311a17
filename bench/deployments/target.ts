export type Variables = Readonly<Record<string, string | undefined>>

export interface Target {
  url: string
  log: readonly string[]
  close(): Promise<void>
}
