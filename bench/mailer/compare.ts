/**
 * Runs our mail SDK beside others, and writes what came of it to docs/comparison.md:
 *
 * `pnpm --filter @org/bench mailer [--quick]`
 *
 * Everything is run; nothing leaves this machine but npm's requests for the packages.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { failureRows } from './failures.ts'
import { importRow, installAll, weightRows } from './install.ts'
import { peers } from './peers.ts'
import { type Row, toTable } from './row.ts'
import { runtimeRows } from './runtimes.ts'
import { singleRow, streamRows } from './throughput.ts'

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const page = join(import.meta.dirname, '../../docs/comparison.md')
const say = (line: string) => process.stderr.write(`${line}\n`)
const folder = await mkdtemp(join(tmpdir(), 'compare-'))

try {
  say('installing …')
  const installed = await installAll(peers, folder)
  const rows: Row[] = await weightRows(installed)
  say('importing …')
  rows.push(await importRow(installed, values.quick ? 3 : 15))
  say('failing …')
  rows.push(...(await failureRows(installed)))
  say('travelling …')
  rows.push(...(await runtimeRows(installed, folder)))
  say('sending …')
  rows.push(...(await streamRows(installed, values.quick ? 10_000 : 100_000, values.quick ? 1 : 3)))
  rows.push(await singleRow(installed, values.quick ? 10 : 150))

  const [processor] = cpus()
  const machine = `${availableParallelism()} × ${processor?.model.trim()}, ${Math.round(totalmem() / 1e9)} GB, Node ${process.versions.node}, ${process.platform}`
  const names = installed.map(({ peer, version }) =>
    peer.name === '@org/mailer' ? peer.name : `${peer.name} ${version}`,
  )
  const pointed = peers.map(({ name, pointedBy }) => `- \`${name}\`: ${pointedBy}.`)
  const table = [
    `Measured on ${new Date().toISOString().slice(0, 10)} on ${machine}. No random numbers are used, so there is no seed.`,
    '',
    toTable(names, rows),
    '',
    'How each was pointed at a server on the same machine:',
    '',
    ...pointed,
  ].join('\n')
  process.stdout.write(`${table}\n`)
  if (!values.quick) await writeFile(page, withTable(readFileSync(page, 'utf8'), table))
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** The page with what is between its two marks replaced. */
function withTable(text: string, table: string): string {
  const [before, rest] = text.split('<!-- table -->\n')
  const after = rest?.split('<!-- /table -->')[1]
  if (before === undefined || after === undefined) throw new Error('The page has lost its marks.')
  return `${before}<!-- table -->\n${table}\n<!-- /table -->${after}`
}
