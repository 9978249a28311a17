/** One line of the comparison: a cell for each SDK, in the order of the SDKs. */
export interface Row {
  title: string
  cells: string[]
  /** How it was run, where that differs between the SDKs. */
  note?: string | undefined
}

/** The rows as a table in Markdown, with their notes below. */
export function toTable(names: readonly string[], rows: readonly Row[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const head = [line(['', ...names.map((name) => `\`${name}\``)]), line(['', ...names].map(() => '---'))]
  const notes = rows.flatMap(({ title, note }) => (note ? [`- ${title}: ${note}`] : []))
  return [...head, ...rows.map(({ title, cells }) => line([title, ...cells])), '', ...notes].join('\n')
}
