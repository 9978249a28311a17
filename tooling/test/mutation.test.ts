import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { allFaults, type Fault, findMistakes, findSurvivors } from '../mutation/mutation.ts'

const root = mkdtempSync(join(tmpdir(), 'repository-'))
const file = 'packages/sum/src/sum.ts'
const suite = 'packages/sum/test/sum.test.ts'
const wrong = 'packages/sum/test/wrong.test.ts'
const source =
  'export const add = (a: number, b: number) => a + b\nexport const subtract = (a: number, b: number) => a - b\n'
const fault = { id: 'adds-wrong', file, from: 'a + b', to: 'a * b', why: 'A sum is wrong.', suites: [suite] }
const untested = { ...fault, id: 'subtracts-wrong', from: 'a - b' }

beforeAll(() => {
  const put = (path: string, text: string) => writeFileSync(join(root, path), text)
  for (const folder of ['src', 'test', 'node_modules'])
    mkdirSync(join(root, 'packages/sum', folder), { recursive: true })
  const vitest = realpathSync(new URL('../node_modules/vitest', import.meta.url))
  symlinkSync(vitest, join(root, 'packages/sum/node_modules/vitest'))
  put(file, source)
  const sum = "import { expect, it } from 'vitest'\nimport { add } from '../src/sum.ts'\n"
  put(suite, `${sum}it('adds', () => expect(add(1, 2)).toBe(3))\n`)
  put(wrong, `${sum}it('adds', () => expect(add(1, 2)).toBe(4))\n`)
})
afterAll(() => rmSync(root, { recursive: true }))

async function run(faults: readonly Fault[]) {
  const lines: string[] = []
  const survivors = await findSurvivors(faults, { root, print: (line) => lines.push(line) })
  return { lines: lines.join('\n'), survivors }
}

it('a mutation run tells which test file notices a fault, and which fault survives', async () => {
  const { lines, survivors } = await run([fault, untested])
  expect(survivors).toEqual([untested])
  expect(lines).toMatch(/of 2 {2}adds-wrong {2}packages\/sum\/test\/sum\.test\.ts/)
  expect(lines).toMatch(/of 2 {2}subtracts-wrong {2}SURVIVES/)
  expect(readFileSync(join(root, file), 'utf8')).toBe(source)
})

it.each<[string, Partial<Fault>, string]>([
  ['a test fails without a fault', { suites: [wrong] }, `${wrong} fails without a fault.`],
  ['a test file does not load', { to: 'a +' }, `${suite} does not load.`],
  ['a package can’t be built', { build: 'packages/sum' }, 'packages/sum can’t be built.'],
])('a mutation run, in which every fault would be noticed, ends if %s', async (_, change, message) => {
  await expect(run([{ ...fault, ...change }])).rejects.toThrow(message)
})

it('the faults of this repository are where their list says', () => {
  expect(findMistakes(allFaults, join(import.meta.dirname, '../..'))).toEqual([])
})

it('a list of faults has mistakes if a text has moved or is not the only one, or a file is gone', () => {
  expect(findMistakes([fault, untested], root)).toEqual([])
  const gone = { file: 'packages/gone.ts', suites: ['packages/gone.test.ts'], id: 'gone' }
  const faults = [
    fault,
    { ...fault, from: 'a % b' },
    { ...untested, from: 'export' },
    { ...untested, ...gone },
  ]
  expect(findMistakes(faults, root)).toEqual([
    `adds-wrong: ${file} has its text 0 times instead of once.`,
    'adds-wrong: another fault has this id.',
    `subtracts-wrong: ${file} has its text 2 times instead of once.`,
    'gone: packages/gone.ts has its text 0 times instead of once.',
    'gone: there is no packages/gone.test.ts.',
  ])
})
