/** Writes the examples of all documents to where the root’s `tsconfig.json` finds them. */
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeExamples } from './examples.ts'
import { root } from './packages/workspace.ts'

/** Documents beside a README, by the package that their examples import. */
const documents: Record<string, string[]> = {
  'packages/mailer': ['../../README.md'],
  'apps/server': ['../../docs/platform-api.md'],
}

for (const readme of globSync('{packages/*,tooling/new-integration/template}/README.md', { cwd: root }))
  documents[dirname(readme)] = ['README.md', ...(documents[dirname(readme)] ?? [])]

for (const [home, files] of Object.entries(documents)) await writeExamples(join(root, home), files, 'types')
