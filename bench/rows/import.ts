import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { milliseconds } from '../harness/format.ts'
import { interleave } from '../harness/interleave.ts'
import { spreadOf } from '../harness/ratio.ts'
import type { BenchmarkRow, Contender } from '../harness/row.ts'

const run = promisify(execFile)
const ROUNDS = 25
const MOST_MS = 15

const modules: Readonly<Record<string, string>> = {
  ky: 'ky',
  zod: 'zod',
  resend: 'resend',
  postmark: 'postmark',
  ours: '@org/mailer',
}

const contenders: readonly Contender[] = [
  { id: 'ky', title: '`ky`', kind: 'floor' },
  { id: 'zod', title: '`zod`', kind: 'floor' },
  { id: 'resend', title: '`resend`', kind: 'peer' },
  { id: 'postmark', title: '`postmark`', kind: 'peer' },
  { id: 'ours', title: '`@org/mailer`', kind: 'ours' },
]

/** Loading the SDK. */
export const importing: BenchmarkRow = {
  id: 'import',
  title: 'Import of `@org/mailer`',
  method: 'A fresh process each time, which times one `import()`; ours is the packed package.',
  contenders,
  async run({ arrangement, contenders, random, progress, quick }) {
    const valuesOf = await interleave({
      ids: contenders.map(({ id }) => id),
      rounds: quick ? 3 : ROUNDS,
      random,
      progress,
      async measure(id) {
        const file = join(arrangement.folder, `import-${id}.mjs`)
        await writeFile(
          file,
          `const before = process.cpuUsage(); const began = performance.now(); await import('${modules[id]}')
          const importMs = performance.now() - began; const { user, system } = process.cpuUsage(before)
          console.log(JSON.stringify({ importMs, cpuMs: (user + system) / 1000 }))`,
        )
        const { stdout } = await run(process.execPath, [file])
        const cost: Record<'importMs' | 'cpuMs', number> = JSON.parse(stdout)
        return cost
      },
    })
    const samples = valuesOf('importMs')
    const { median, least } = spreadOf(samples.ours)
    return {
      figures: [
        { title: 'import', show: milliseconds, samples, against: ['postmark', 'resend'] },
        { title: 'processor time', show: milliseconds, samples: valuesOf('cpuMs'), against: [] },
      ],
      verdicts: [
        {
          target: `at most ${milliseconds(MOST_MS)}: median`,
          measured: `${milliseconds(median)} (least ${milliseconds(least)})`,
          reached: median <= MOST_MS,
        },
      ],
      facts: [],
    }
  },
}
