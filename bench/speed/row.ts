/** A row of the benchmark: its definition, its measurement and its section in Markdown. */
import { times } from '../shared/format.ts'
import { median, quantile } from '../shared/statistics.ts'
import type { Fixture } from './fixture.ts'

/** The rounds of a quick run, which prove only that a row works. */
const QUICK_ROUNDS = 2

type Values = Readonly<Record<string, number>>
type Format = (value: number) => string

export interface RowContext {
  fixture: Fixture
  quick: boolean
  /** The contenders to start; all by default. */
  only?: readonly string[]
}

interface Results {
  median(value: string, id: string): number
  most(value: string, id: string): number
  /** The median of the ratios of the rounds, because both contenders meet the same disturbances in one round. */
  ratio(value: string, id: string, against: string): number
}

type Target = readonly [
  title: string,
  value: number,
  shouldBe: 'at most' | 'at least',
  limit: number,
  format: Format,
]

export interface Row {
  /** For `--only`, and the mark of its section in RESULTS.md. */
  id: string
  title: string
  /** How the row measures, in a few sentences. */
  method: string
  /** Their titles by id. A floor is the least that the same work can cost: without retries, typed failures and limits. */
  contenders: Readonly<Record<string, string>>
  rounds: number
  /** Each value with its title, and the contender whose ratio the cells have, too. */
  columns: Readonly<Record<string, { title: string; format: Format; against?: string }>>
  start(context: RowContext): Promise<{
    /** Runs a contender before it is measured, so that its code is compiled. */
    warm?: (id: string) => Promise<unknown>
    /** Measures a contender once; the names of the values are the same each time. */
    measure: (id: string) => Promise<Values>
    stop?: () => Promise<unknown>
  }>
  targets(results: Results): readonly Target[]
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
  const ids = Object.keys(row.contenders)
  const rounds: Record<string, Values>[] = []
  const { warm, measure, stop } = await row.start(context)
  progress('warming')
  for (const id of ids) await warm?.(id)
  const wanted = context.quick ? Math.min(row.rounds, QUICK_ROUNDS) : row.rounds
  while (rounds.length < wanted) {
    progress(`round ${rounds.length + 1} of ${wanted}`)
    ids.push(...ids.splice(0, 1))
    const round: Record<string, Values> = {}
    for (const id of ids) round[id] = await measure(id)
    rounds.push(round)
  }
  await stop?.()

  const samples = (value: string, id: string) => rounds.map((round) => round[id]?.[value] ?? Number.NaN)
  const results: Results = {
    median: (value, id) => median(samples(value, id)),
    most: (value, id) => Math.max(...samples(value, id)),
    ratio(value, id, against) {
      const others = samples(value, against)
      return median(samples(value, id).map((sample, at) => sample / (others[at] ?? Number.NaN)))
    },
  }
  const cells = (id: string) =>
    Object.entries(row.columns).map(([value, { format, against }]) => {
      const [least, middle, most] = [0, 0.5, 1].map((share) => format(quantile(samples(value, id), share)))
      const ratio = against ? `, ${times(results.ratio(value, id, against))}` : ''
      return `${middle} (${least}–${most})${ratio}`
    })
  const titles = Object.values(row.columns).map(
    ({ title, against }) => `${title}: median (least–most)${against ? `, × ${row.contenders[against]}` : ''}`,
  )
  const targets = row.targets(results).map(([title, value, shouldBe, limit, format]) => {
    const isReached = shouldBe === 'at most' ? value <= limit : value >= limit
    return [`${title}: ${shouldBe} ${format(limit)}`, format(value), isReached ? 'yes' : '**no**']
  })
  return [
    row.method,
    toTable([['', ...titles], ...Object.entries(row.contenders).map(([id, title]) => [title, ...cells(id)])]),
    toTable([['target', 'measured', 'reached'], ...targets]),
  ].join('\n\n')
}

/** A table in Markdown; its first row is the head. */
function toTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
