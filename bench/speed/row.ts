/** A row of the benchmark: its definition, its measurement and its section in Markdown. */
import { toTable } from '../shared/markdown.ts'
import { type Spread, spreadOf } from '../shared/statistics.ts'
import type { Fixture } from './fixture.ts'

/** The rounds of a quick run, which prove only that a row works. */
const QUICK_ROUNDS = 2

interface Contender {
  id: string
  title: string
  /** `floor`: the least that the same work can cost. It has no retries, typed failures and limits. */
  kind: 'ours' | 'floor'
}

type Values = Readonly<Record<string, number>>

interface StartedRow {
  /** Runs a contender before it is measured, so that its code is compiled. */
  warm?: (id: string) => Promise<unknown>
  /** Measures a contender once; the names of the values are the same each time. */
  measure: (id: string) => Promise<Values>
  stop?: () => Promise<unknown>
}

export interface RowContext {
  fixture: Fixture
  quick: boolean
  /** The contenders to start; all by default. */
  only?: readonly string[]
  /** The number of events of the memory row, if the caller chooses it. */
  events?: number | undefined
}

interface Column {
  value: string
  title: string
  format: (value: number) => string
  /** The contender to which a further column gives the ratio. */
  against?: string
}

interface Results {
  median(value: string, id: string): number
  /** The median of the ratios of the rounds, because both contenders meet the same disturbances in one round. */
  ratio(value: string, id: string, against: string): number
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
  targets(results: Results): readonly Target[]
}

/** A target that a value reaches if it is at most `most`. */
export function atMost(
  target: string,
  value: number,
  most: number,
  format: (value: number) => string,
): Target {
  return { target: `${target}: at most ${format(most)}`, measured: format(value), reached: value <= most }
}

/** A target that a value reaches if it is at least `least`. */
export function atLeast(
  target: string,
  value: number,
  least: number,
  format: (value: number) => string,
): Target {
  return { target: `${target}: at least ${format(least)}`, measured: format(value), reached: value >= least }
}

/**
 * Measures a row. Each round measures all contenders and begins with another one, so that other work of the machine
 * disturbs all of them alike.
 *
 * @returns the section in Markdown
 */
export async function measureRow(
  row: Row,
  { progress, ...context }: RowContext & { progress: (line: string) => void },
): Promise<string> {
  const ids = row.contenders.map(({ id }) => id)
  const measured = new Map(ids.map((id): [string, Values[]] => [id, []]))
  const { warm, measure, stop } = await row.start(context)
  progress('warming')
  for (const id of ids) await warm?.(id)
  const rounds = context.quick ? Math.min(row.rounds, QUICK_ROUNDS) : row.rounds
  for (let round = 1; round <= rounds; round += 1) {
    progress(`round ${round} of ${rounds}`)
    ids.push(...ids.splice(0, 1))
    for (const id of ids) measured.get(id)?.push(await measure(id))
  }
  await stop?.()

  const samplesOf = (value: string, id: string) =>
    measured.get(id)?.map((values) => values[value] ?? Number.NaN) ?? []
  function ratios(value: string, id: string, against: string): Spread {
    const others = samplesOf(value, against)
    return spreadOf(samplesOf(value, id).map((sample, at) => sample / (others[at] ?? Number.NaN)))
  }
  const titleOf = (id: string) => row.contenders.find((each) => each.id === id)?.title
  const columns = row.columns.flatMap(({ value, title, format, against }) => [
    {
      title: `${title}: median (least–most)`,
      cell: (id: string) => withRange(spreadOf(samplesOf(value, id)), format),
    },
    ...(against
      ? [
          {
            title: `${title} × ${titleOf(against)}`,
            cell: (id: string) => withRange(ratios(value, id, against), (multiple) => multiple.toFixed(2)),
          },
        ]
      : []),
  ])
  const targets = row.targets({
    median: (value, id) => spreadOf(samplesOf(value, id)).median,
    ratio: (...ratio) => ratios(...ratio).median,
  })
  return [
    row.method,
    toTable([
      ['', '', ...columns.map(({ title }) => title)],
      ...row.contenders.map(({ id, title, kind }) => [title, kind, ...columns.map(({ cell }) => cell(id))]),
    ]),
    toTable([
      ['target', 'measured', 'reached'],
      ...targets.map(({ target, measured, reached }) => [target, measured, reached ? 'yes' : '**no**']),
    ]),
  ].join('\n\n')
}

function withRange({ median, least, most }: Spread, format: (value: number) => string): string {
  return `${format(median)} (${format(least)}–${format(most)})`
}
