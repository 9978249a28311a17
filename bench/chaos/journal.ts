/** Something that happened outside the hosts, or the response of a host. */
type Entry =
  | { kind: 'application created'; applicationId: string }
  | { kind: 'mail accepted'; to: readonly string[] }
  | { kind: 'callback'; deployment: string; what: string; body: unknown }
  | { kind: 'response'; delivery: string; status: number; code: string | undefined; host: number }

export type Journal = ReturnType<typeof createJournal>

/** Makes an empty journal: the record by which a run is judged. */
export function createJournal() {
  const entries: Entry[] = []
  const timesSent = new Map<string, number>()
  return {
    /** How many mails each address got. */
    timesSent,
    write(entry: Entry): void {
      entries.push(entry)
      if (entry.kind === 'mail accepted')
        for (const address of entry.to) timesSent.set(address, (timesSent.get(address) ?? 0) + 1)
    },
    of: <Kind extends Entry['kind']>(kind: Kind) =>
      entries.filter((entry): entry is Extract<Entry, { kind: Kind }> => entry.kind === kind),
  }
}
