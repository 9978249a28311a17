import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/** A table in Markdown; its first row is the head. */
export function toTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/**
 * Replaces sections of a page, each between its marks `<!-- id -->` and `<!-- /id -->`. The rest of the page is
 * written by hand, and stays.
 *
 * @throws if the page does not have the marks of a section
 */
export function replaceSections(page: string, sections: ReadonlyMap<string, string>): void {
  let text = readFileSync(page, 'utf8')
  for (const [id, content] of sections) {
    const [begin, end] = [`<!-- ${id} -->`, `<!-- /${id} -->`]
    const [before, rest] = text.split(begin)
    const after = rest?.split(end)[1]
    if (before === undefined || after === undefined) throw new Error(`${page} lacks ${begin} or ${end}.`)
    text = `${before}${begin}\n${content}\n${end}${after}`
  }
  // A run that is stopped while it writes leaves the page as it was.
  writeFileSync(`${page}.new`, text)
  renameSync(`${page}.new`, page)
}
