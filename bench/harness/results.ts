/**
 * The page that the results are kept on: a section for each row, each with the day, the seed and the machine it
 * was measured on. What people have to say about a row is in `notes/<row>.md`, and is merged in.
 *
 * @module
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchmarkRow } from './row.ts'

const page = join(import.meta.dirname, '../RESULTS.md')
const notes = join(import.meta.dirname, '../notes')
const HEAD = `# Results

Written by \`pnpm bench\`; what is below “Notes” comes from \`bench/notes/\`. Every section is one interleaved run: the contenders take turns in an order that its seed draws, and a ratio is the median of the rounds’ own ratios. On a machine that others use too, the ratios are worth more than the figures.`

/** A row as it was measured. */
export interface Section {
  row: BenchmarkRow
  /** When, and on what. */
  provenance: string
  /** Markdown. */
  content: string
}

/**
 * Writes the page anew with these sections; those of other rows stay as they are, each with its own day.
 *
 * @param rows all rows, in the order of the page
 */
export function writeResults(rows: readonly BenchmarkRow[], measured: readonly Section[]): void {
  const known = readSections()
  for (const { row, provenance, content } of measured) known.set(row.id, `_${provenance}_\n\n${content}`)
  const sections = rows.map((row) => {
    const body = known.get(row.id) ?? '_Not measured yet._'
    return [`## ${row.title}`, `<!-- ${row.id} -->\n${body}\n<!-- /${row.id} -->`, ...notesOf(row)].join(
      '\n\n',
    )
  })
  // In one step: a run that is ended meanwhile leaves the page as it was.
  writeFileSync(`${page}.new`, `${[HEAD, ...sections].join('\n\n')}\n`)
  renameSync(`${page}.new`, page)
}

function readSections(): Map<string, string> {
  const text = existsSync(page) ? readFileSync(page, 'utf8') : ''
  return new Map(
    [...text.matchAll(/<!-- ([\w-]+) -->\n(.*?)\n<!-- \/\1 -->/gs)].map(([, id = '', body = '']) => [
      id,
      body,
    ]),
  )
}

function notesOf({ id }: BenchmarkRow): string[] {
  const file = join(notes, `${id}.md`)
  return existsSync(file) ? [`### Notes`, readFileSync(file, 'utf8').trim()] : []
}
