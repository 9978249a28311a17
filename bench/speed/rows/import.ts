import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { milliseconds } from '../../shared/format.ts'
import type { Row } from '../row.ts'

const run = promisify(execFile)
const MOST_MS = 15

export const importing: Row = {
  id: 'import',
  title: 'Import of `@org/mailer`',
  method: 'A fresh process each time measures one `import()`. Ours is the packed package.',
  contenders: [
    { id: 'ky', title: '`ky`', kind: 'floor' },
    { id: 'zod', title: '`zod`', kind: 'floor' },
    { id: 'resend', title: '`resend`', kind: 'peer' },
    { id: 'postmark', title: '`postmark`', kind: 'peer' },
    { id: 'ours', title: '`@org/mailer`', kind: 'ours' },
  ],
  rounds: 25,
  columns: [
    { value: 'importMs', title: 'import', format: milliseconds, against: ['postmark', 'resend'] },
    { value: 'cpuMs', title: 'processor time', format: milliseconds },
  ],
  start: async ({ fixture }) => ({
    async measure(id) {
      const file = join(fixture.folder, `import-${id}.mjs`)
      await writeFile(
        file,
        `const before = process.cpuUsage(); const began = performance.now()
        await import('${id === 'ours' ? '@org/mailer' : id}')
        const importMs = performance.now() - began; const { user, system } = process.cpuUsage(before)
        console.log(JSON.stringify({ importMs, cpuMs: (user + system) / 1000 }))`,
      )
      const { stdout } = await run(process.execPath, [file])
      const cost: Record<'importMs' | 'cpuMs', number> = JSON.parse(stdout)
      return cost
    },
  }),
  targets({ spread }) {
    const { median, least } = spread('importMs', 'ours')
    return [
      {
        target: `at most ${milliseconds(MOST_MS)}: median`,
        measured: `${milliseconds(median)} (least ${milliseconds(least)})`,
        reached: median <= MOST_MS,
      },
    ]
  },
}
