/** Something that happened outside the hosts, or the response of a host. */
type Entry =
  | { kind: 'application created' | 'application deleted'; applicationId: string }
  | { kind: 'mail accepted'; to: readonly string[] }
  | { kind: 'callback'; deployment: string; what: string; body: unknown }
  | { kind: 'answer'; delivery: string; status: number; code: string | undefined; host: number }
  | { kind: 'disturbance'; what: string }
  /** A host responded with `internal_error`; with the line of its log. */
  | { kind: 'host fault'; delivery: string; log: string | undefined }

/** The record by which a run is judged. */
export interface Journal {
  write(entry: Entry): void
  of<Kind extends Entry['kind']>(kind: Kind): readonly Extract<Entry, { kind: Kind }>[]
  /** How many mails each address got. */
  readonly timesSent: ReadonlyMap<string, number>
}

/** Makes an empty journal. */
export function createJournal(): Journal {
  const entries: Entry[] = []
  const timesSent = new Map<string, number>()
  return {
    timesSent,
    write(entry) {
      entries.push(entry)
      if (entry.kind === 'mail accepted')
        for (const address of entry.to) timesSent.set(address, (timesSent.get(address) ?? 0) + 1)
    },
    of: (kind) =>
      entries.filter((entry): entry is Extract<Entry, { kind: typeof kind }> => entry.kind === kind),
  }
}
