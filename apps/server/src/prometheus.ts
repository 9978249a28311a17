/**
 * Counting, and Prometheus’ text format. Of our own, because an event of 60 µs should not pay 5 for being counted:
 * the usual client joins the labels to a text for every observation, and here they lead to a number each by each.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 * @module
 */

/** The type of what {@link Counted.render} and {@link renderReadings} write. */
export const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8'

/** The labels of one series, by name. */
type Labels = Readonly<Record<string, string>>

/** Something that happens, and takes its time. */
export interface Counted {
  /**
   * Counts one.
   *
   * @param words the value of each label, in their order: few ones, because each new one stays
   * @param outcome what came of it: also one of few
   */
  add(words: readonly string[], outcome: string, seconds: number): void
  /** `<name>s_total`, with the outcome as a label, and the histogram `<name>_duration_seconds`. */
  render(): string
}

/** What {@link countTimed} counts. */
export interface CountedOptions {
  /** Singular, for example `webhook_event`. */
  name: string
  /** Plural, for example `Events that were answered`. */
  what: string
  labels: readonly string[]
  /** The upper ends of the histogram's buckets, ascending, in seconds. */
  buckets: readonly number[]
}

interface Series {
  words: readonly string[]
  outcomes: Map<string, number>
  /** Those that took as long as each bucket says, and longer than the one before; at the end, the others. */
  took: number[]
  seconds: number
}

/** One word after another leads from the root to the series. */
interface Branch {
  next: Map<string, Branch>
  series: Series | undefined
}

/** Counts something by its labels and by what came of it, and how long it took. */
export function countTimed({ name, what, labels, buckets }: CountedOptions): Counted {
  const root = createBranch()
  const all: Series[] = []

  function seriesOf(words: readonly string[]): Series {
    let branch = root
    for (const word of words) {
      let next = branch.next.get(word)
      if (!next) {
        next = createBranch()
        branch.next.set(word, next)
      }
      branch = next
    }
    if (!branch.series) {
      const took = Array.from({ length: buckets.length + 1 }, () => 0)
      branch.series = { words: [...words], outcomes: new Map(), took, seconds: 0 }
      all.push(branch.series)
    }
    return branch.series
  }

  return {
    add(words, outcome, seconds) {
      const series = seriesOf(words)
      const { outcomes, took } = series
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      let bucket = 0
      while (seconds > (buckets[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1
      took[bucket] = (took[bucket] ?? 0) + 1
      series.seconds += seconds
    },
    render() {
      const labelsOf = ({ words }: Series) =>
        Object.fromEntries(labels.map((label, at) => [label, words[at] ?? '']))
      const total = `${name}s_total`
      const duration = `${name}_duration_seconds`
      const counts = all.flatMap((series) =>
        [...series.outcomes].map(([outcome, count]) => line(total, { ...labelsOf(series), outcome }, count)),
      )
      const durations = all.flatMap((series) => histogram(duration, labelsOf(series), buckets, series))
      return [
        head(total, 'counter', `${what}.`),
        ...counts,
        head(duration, 'histogram', `${what}: how long they took.`),
        ...durations,
      ].join('')
    },
  }
}

function createBranch(): Branch {
  return { next: new Map(), series: undefined }
}

function histogram(
  name: string,
  labels: Labels,
  buckets: readonly number[],
  { took, seconds }: Series,
): string[] {
  let sum = 0
  const ends = took.map((count, at) => {
    sum += count
    return line(`${name}_bucket`, { ...labels, le: String(buckets[at] ?? '+Inf') }, sum)
  })
  return [...ends, line(`${name}_sum`, labels, seconds), line(`${name}_count`, labels, sum)]
}

/** Something that is looked at when it is asked for. */
export interface Reading {
  name: string
  help: string
  type: 'counter' | 'gauge'
  /** A number, or one for each of several series. */
  read(): number | readonly (readonly [Labels, number])[] | Promise<number>
}

/** Reads everything, and writes it down. */
export async function renderReadings(readings: readonly Reading[]): Promise<string> {
  const parts = readings.map(async ({ name, help, type, read }) => {
    const found = await read()
    const series = typeof found === 'number' ? [[{}, found] as const] : found
    return head(name, type, help) + series.map(([labels, value]) => line(name, labels, value)).join('')
  })
  return (await Promise.all(parts)).join('')
}

function head(name: string, type: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, word]) => `${label}="${escaped(word)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
}

function escaped(word: string): string {
  return word.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
}
