/**
 * A row as Markdown.
 *
 * @module
 */
import { ratioOf, type Spread, spreadOf } from './ratio.ts'
import type { BenchmarkRow, Contender, Figure, Measured } from './row.ts'

/** The table of a row, its targets, and what else there is to say of the run. */
export function toSection(row: BenchmarkRow, contenders: readonly Contender[], measured: Measured): string {
  const { figures, verdicts, facts } = measured
  const columns = figures.flatMap((figure) => columnsOf(figure, contenders))
  const table = toTable([
    ['', '', ...columns.map(({ title }) => title)],
    ...contenders.map(({ id, title, kind }) => [title, kind, ...columns.map(({ cell }) => cell(id))]),
  ])
  const targets = toTable([
    ['target', 'measured', 'reached'],
    ...verdicts.map(({ target, measured, reached }) => [target, measured, reached ? 'yes' : '**no**']),
  ])
  const paragraphs = [row.method, table, verdicts.length > 0 ? targets : '', ...facts]
  return paragraphs
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .join('\n\n')
}

interface Column {
  title: string
  cell: (id: string) => string
}

function columnsOf({ title, show, samples, against }: Figure, contenders: readonly Contender[]): Column[] {
  const values: Column = {
    title: `${title}: median (least–most)`,
    cell: (id) => (samples[id] ? withRange(spreadOf(samples[id]), show) : ''),
  }
  const ratios = against.flatMap((id): Column[] => {
    const other = contenders.find((contender) => contender.id === id)
    if (!other) return []
    return [
      {
        title: `${title} × ${other.title}`,
        cell: (id) => {
          const ratio = ratioOf(samples, id, other.id)
          return ratio ? withRange(ratio, (value) => value.toFixed(2)) : ''
        },
      },
    ]
  })
  return [values, ...ratios]
}

function withRange({ median, least, most }: Spread, show: (value: number) => string): string {
  return `${show(median)} (${show(least)}–${show(most)})`
}

function toTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
