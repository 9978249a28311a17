/** Plain numbers of what happened: labels and objects for Prometheus are made when somebody reads them. */

type Labels = Readonly<Record<string, string>>

interface Series {
  labels: Labels
  outcomes: Map<string, number>
  /** How many took as long as each bucket, and no longer than the next; at the end those that took longer. */
  took: number[]
  seconds: number
  count: number
}

/** Counts things of one kind, by labels and outcome, and how long they took. */
export class Tally {
  readonly #bounds: readonly number[]
  readonly #series = new Map<string, Series>()

  /** @param bounds of the buckets, in seconds */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
  }

  /** Counts one thing. Labels have the same order each time, and no spaces. */
  add(labels: Labels, outcome: string, seconds: number): void {
    const key = Object.values(labels).join(' ')
    let series = this.#series.get(key)
    if (!series) {
      const took = [...this.#bounds.map(() => 0), 0]
      series = { labels, outcomes: new Map(), took, seconds: 0, count: 0 }
      this.#series.set(key, series)
    }
    let at = 0
    while (seconds > (this.#bounds[at] ?? Number.POSITIVE_INFINITY)) at += 1
    series.took[at] = (series.took[at] ?? 0) + 1
    series.seconds += seconds
    series.count += 1
    series.outcomes.set(outcome, (series.outcomes.get(outcome) ?? 0) + 1)
  }

  /** How often each outcome happened. */
  *outcomes(): Generator<[labels: Labels, count: number]> {
    for (const { labels, outcomes } of this.#series.values())
      for (const [outcome, count] of outcomes) yield [{ ...labels, outcome }, count]
  }

  /** The samples of the histogram `name`. */
  *durations(name: string): Generator<{ metricName: string; labels: Labels; value: number }> {
    for (const { labels, took, seconds, count } of this.#series.values()) {
      let value = 0
      for (const [at, bound] of [...this.#bounds, '+Inf'].entries()) {
        value += took[at] ?? 0
        yield { metricName: `${name}_bucket`, labels: { le: String(bound), ...labels }, value }
      }
      yield { metricName: `${name}_sum`, labels, value: seconds }
      yield { metricName: `${name}_count`, labels, value: count }
    }
  }
}
