/** Something that happened in the world outside the hosts, or that a host was told or answered. */
type Effect =
  | { kind: 'application created'; applicationId: string; name: string }
  | { kind: 'application deleted'; applicationId: string }
  | { kind: 'mail accepted'; messageId: string; to: string }
  | { kind: 'callback'; deployment: string; what: string; body: unknown }
  | { kind: 'answer'; delivery: string; status: number; code: string | undefined; host: number }
  | { kind: 'disturbance'; what: string }
  /** A host failed in a way that it did not foresee; with what its log says. */
  | { kind: 'host fault'; delivery: string; log: string | undefined }

/** A list that only grows: what is judged after a run, and by it alone. */
export interface Journal {
  readonly effects: readonly (Effect & { at: number })[]
  write(effect: Effect): void
  of<Kind extends Effect['kind']>(kind: Kind): Extract<Effect, { kind: Kind }>[]
}

/** Makes an empty journal; its times are in milliseconds since it was made. */
export function createJournal(): Journal {
  const began = performance.now()
  const effects: (Effect & { at: number })[] = []
  return {
    effects,
    write: (effect) => void effects.push({ ...effect, at: Math.round(performance.now() - began) }),
    of: (kind) =>
      effects.filter(
        (effect): effect is Extract<Effect, { kind: typeof kind }> & { at: number } => effect.kind === kind,
      ),
  }
}
