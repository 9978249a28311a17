/**
 * Compares our mail SDK with others, and writes the table of docs/comparison.md: `pnpm --filter @org/bench mailer`.
 * npm installs the SDKs; every mail goes to a server on this machine.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../../tooling/packages/workspace.ts'
import { describeMachine } from '../shared/machine.ts'
import { replaceSections, toTable } from '../shared/markdown.ts'
import { failureRows } from './failures.ts'
import { installAll, weightRows } from './install.ts'
import { peers } from './peers.ts'

const folder = await mkdtemp(join(tmpdir(), 'compare-'))
try {
  console.error('installing …')
  const installed = await installAll(peers, folder)
  console.error('measuring …')
  const rows = [...(await weightRows(installed)), ...(await failureRows(installed))]
  const names = installed.map(({ peer, version }) =>
    peer.name === '@org/mailer' ? `\`${peer.name}\`` : `\`${peer.name} ${version}\``,
  )
  const content = [
    `Measured on ${new Date().toISOString().slice(0, 10)}; ${describeMachine()}.`,
    toTable([['', ...names], ...rows.map(({ title, cells }) => [title, ...cells])]),
    rows.flatMap(({ title, note }) => (note ? [`- ${title}: ${note}`] : [])).join('\n'),
    'The options that point each SDK at a server on the same machine:',
    peers.map(({ name, pointedBy }) => `- \`${name}\`: ${pointedBy}.`).join('\n'),
  ].join('\n\n')
  console.log(content)
  replaceSections(join(root, 'docs/comparison.md'), new Map([['table', content]]))
} finally {
  await rm(folder, { recursive: true, force: true })
}
