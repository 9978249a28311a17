/** A row of the benchmark: its definition, its measurement and its section in Markdown. */
import type { Random } from '../chaos/random.ts'
import { toTable } from '../shared/markdown.ts'
import { type Spread, spreadOf } from '../shared/statistics.ts'
import type { Fixture } from './fixture.ts'

/** The rounds of a quick run, which prove only that a row works. */
const QUICK_ROUNDS = 2

export interface Contender {
  /** Short; `--against` takes the ids of peers. */
  id: string
  title: string
  /**
   * `ours`; `peer`, a library that does the same; or `floor`, the least that the same work can cost: it has no
   * retries, typed failures and limits.
   */
  kind: 'ours' | 'peer' | 'floor'
}

type Values = Readonly<Record<string, number | readonly number[]>>

interface StartedRow {
  /** Runs a contender before it is measured, so that its code is compiled. */
  warm?: (id: string) => Promise<unknown>
  /** Measures a contender once; the names of the values are the same each time. */
  measure: (id: string) => Promise<Values>
  stop?: () => Promise<unknown>
}

export interface RowContext {
  fixture: Fixture
  /** The contenders that this run measures. */
  contenders: readonly Contender[]
  quick: boolean
  /** The number of events of the memory row, if the caller chooses it. */
  events: number | undefined
}

interface Column {
  value: string
  title: string
  format: (value: number) => string
  /** The contenders to which further columns give the ratio. */
  against?: readonly string[]
}

interface Results {
  spread(value: string, id: string): Spread
  /**
   * One contender's values as multiples of another's, round by round, because both meet the same disturbances in one
   * round; `NaN` if one of them was not run.
   */
  ratio(value: string, id: string, against: string): Spread
}

interface Target {
  target: string
  measured: string
  reached: boolean
}

export interface Row {
  /** For `--only`, and the mark of its section in RESULTS.md. */
  id: string
  title: string
  /** How the row measures, in a few sentences. */
  method: string
  contenders: readonly Contender[]
  rounds: number
  columns: readonly Column[]
  start(context: RowContext): Promise<StartedRow>
  targets?(results: Results): readonly Target[]
  /** Sentences about this run that no table can say. */
  facts?(results: Results): readonly string[]
}

/** A target that a value reaches if it is at most `most`. */
export function target(
  target: string,
  value: number,
  most: number,
  format: (value: number) => string,
): Target {
  return { target, measured: format(value), reached: value <= most }
}

/**
 * Measures a row. Each round measures all contenders in an order of its own, so that other work of the machine
 * disturbs all of them alike.
 *
 * @returns the section in Markdown
 */
export async function measureRow(
  row: Row,
  { random, progress, ...context }: RowContext & { random: Random; progress: (line: string) => void },
): Promise<string> {
  const ids = context.contenders.map(({ id }) => id)
  const measured = new Map(ids.map((id): [string, Values[]] => [id, []]))
  const { warm, measure, stop } = await row.start(context)
  for (const id of warm ? ids : []) {
    progress(`warming ${id}`)
    await warm?.(id)
  }
  const rounds = context.quick ? Math.min(row.rounds, QUICK_ROUNDS) : row.rounds
  for (let round = 1; round <= rounds; round += 1) {
    progress(`round ${round} of ${rounds}`)
    for (const id of shuffled(ids, random)) measured.get(id)?.push(await measure(id))
  }
  await stop?.()
  const samplesOf = (value: string, id: string) =>
    measured.get(id)?.flatMap((values) => values[value] ?? []) ?? []
  const results: Results = {
    spread: (value, id) => spreadOf(samplesOf(value, id)),
    ratio(value, id, against) {
      const others = samplesOf(value, against)
      return spreadOf(samplesOf(value, id).map((sample, at) => sample / (others[at] ?? Number.NaN)))
    },
  }
  return toSection(row, context.contenders, results)
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const drawn = items.map((item) => ({ item, at: random.next() }))
  return drawn.sort((one, other) => one.at - other.at).map(({ item }) => item)
}

function toSection(row: Row, contenders: readonly Contender[], results: Results): string {
  const columns = row.columns.flatMap((column) => toColumns(column, contenders, results))
  // A target has no result if one of its contenders was left out.
  const targets = (row.targets?.(results) ?? []).filter(({ measured }) => !measured.includes('NaN'))
  const targetRows = targets.map(({ reached, ...rest }) => [
    rest.target,
    rest.measured,
    reached ? 'yes' : '**no**',
  ])
  return [
    row.method,
    toTable([
      ['', '', ...columns.map(({ title }) => title)],
      ...contenders.map(({ id, title, kind }) => [title, kind, ...columns.map(({ cell }) => cell(id))]),
    ]),
    ...(targetRows.length > 0 ? [toTable([['target', 'measured', 'reached'], ...targetRows])] : []),
    ...(row.facts?.(results) ?? []),
  ].join('\n\n')
}

function toColumns(
  { value, title, format, against = [] }: Column,
  contenders: readonly Contender[],
  { spread, ratio }: Results,
) {
  const others = against.flatMap((id) => contenders.filter((contender) => contender.id === id))
  return [
    {
      title: `${title}: median (least–most)`,
      cell: (id: string) => withRange(spread(value, id), format),
    },
    ...others.map((other) => ({
      title: `${title} × ${other.title}`,
      cell: (id: string) => withRange(ratio(value, id, other.id), (multiple) => multiple.toFixed(2)),
    })),
  ]
}

function withRange({ median, least, most }: Spread, format: (value: number) => string): string {
  return `${format(median)} (${format(least)}–${format(most)})`
}
