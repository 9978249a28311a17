import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import workspace from '../../../package.json' with { type: 'json' }
import { complaintsOf } from '../../complaints.ts'
import { oldest, typecheck } from '../../runtimes/typescript.ts'
import { findFaults } from '../faults.ts'
import { entriesOf, packAll } from '../pack.ts'
import { bundle, installInto, listInstalled } from '../weigh.ts'
import { root } from '../workspace.ts'

const NETWORK = { timeout: 120_000 }

/** Of the mailer and its dependencies, in bytes. */
const LARGEST_INSTALL = 970_000
/** The smallest program that sends a mail, gzipped, at its start, and what it loads for batches, templates, files and statistics, in bytes. */
const LARGEST_BUNDLE = { atStart: 13_350, later: 7_900 }

const smallestProgram = `
import { createMailer } from '@org/mailer'
const mailer = createMailer({ apiToken: 'token', fromEmail: 'shop@example.com' })
await mailer.sendEmail({ to: 'ada@example.com', subject: 'Hello', textBody: 'Hi Ada' })
`

const programs = join(import.meta.dirname, '../../runtimes/programs')
const target = await mkdtemp(join(tmpdir(), 'packages-'))
const packages = await packAll(target)
afterAll(() => rm(target, { recursive: true, force: true }))

const check = (command: string, ...options: string[]) =>
  complaintsOf(join(import.meta.dirname, '../../node_modules/.bin', command), options)

describe.each(packages.map((packed) => [packed.name, packed] as const))('%s, packed,', (_, packed) => {
  it('has the files and dependencies of a release, and no others', () => {
    expect(packed.files.length).toBeGreaterThan(5)
    expect(findFaults(packed)).toEqual([])
  })

  it('says where its code is, and names no package that is not published', () => {
    const directory = packed.name.replace('@org', 'packages')
    expect(packed.manifest).toMatchObject({
      repository: { ...workspace.repository, directory },
      homepage: expect.stringMatching(`^https://.+(?<!\\.git)/tree/main/${directory}#readme$`),
      bugs: expect.stringMatching('^https://.+(?<!\\.git)/issues$'),
      keywords: expect.arrayContaining(['webhook']),
    })
    const named = [...JSON.stringify(packed.manifest).matchAll(/@org\/[\w-]+(?=":)/g)].map(([name]) => name)
    expect(packages.map(({ name }) => name)).toEqual(expect.arrayContaining(named))
  })

  it('passes publint and attw: its types match its modules', NETWORK, async () => {
    expect(await check('publint', 'run', packed.tarball, '--strict')).toBe('')
    // Every supported Node can require ES modules.
    const options = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm']
    expect(await check('attw', packed.tarball, ...options)).toBe('')
  })
})

it('@org/core, packed, starts the thread of its SQLite store', async () => {
  const folder = packages.find(({ name }) => name === '@org/core')?.folder ?? ''
  await symlink(join(root, 'packages/core/node_modules'), join(folder, 'node_modules'))
  const { sqliteStore } = await import(join(folder, 'dist/delivery/stores/sqlite.js'))
  const store = sqliteStore({ file: join(target, 'deliveries.db') })
  await store.probe()
  await store.close()
})

describe('@org/mailer, installed to send mail,', () => {
  const project = join(target, 'project')

  it('is two packages without a schema library, and at most 0.97 MB', NETWORK, async () => {
    const needed = packages.filter(({ name }) => name === '@org/mailer' || name === '@org/core')
    await installInto(
      project,
      needed.map(({ tarball }) => tarball),
    )
    const installed = listInstalled(project)
    const bytes = installed.reduce((sum, each) => sum + each.bytes, 0)
    console.log(`Installed: ${bytes} bytes.`)
    expect(installed.map(({ name }) => name)).toEqual(['@org/core', '@org/mailer'])
    expect(bytes).toBeLessThanOrEqual(LARGEST_INSTALL)
  })

  it(`loads at most ${LARGEST_BUNDLE.atStart} gzipped bytes, and ${LARGEST_BUNDLE.later} more when they are needed`, async () => {
    const { atStart, later } = await bundle(project, smallestProgram)
    console.log(`Bundled: ${atStart} bytes as gzip, and ${later} for batches.`)
    expect(atStart).toBeLessThanOrEqual(LARGEST_BUNDLE.atStart)
    expect(later).toBeLessThanOrEqual(LARGEST_BUNDLE.later)
  })
})

describe('the packages, installed with zod,', () => {
  const project = join(target, 'everything')
  beforeAll(async () => {
    const tarballs = packages.map(({ tarball }) => tarball)
    await installInto(project, [...tarballs, 'zod@^4.4.0', `typescript@${oldest}`])
  }, NETWORK.timeout)

  it('load with `require` where ES modules do not, and know the errors of their other copies', async () => {
    const required = packages.flatMap((each) => entriesOf(each, 'require'))
    expect(required).toContain('@org/mailer')
    await cp(join(programs, 'required.cjs'), join(project, 'required.cjs'))
    const main = `
      for (const entry of ${JSON.stringify(required)}) require(entry)
      const { sendRequired } = require('./required.cjs')
      import('@org/mailer').then(async ({ isIntegrationError }) => {
        const { error, ...outcome } = await sendRequired()
        console.log(JSON.stringify({ ...outcome, isKnownElsewhere: isIntegrationError(error) }))
      })`
    await writeFile(join(project, 'main.cjs'), main)
    const options = ['--no-experimental-require-module', 'main.cjs']
    const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: project })
    expect(JSON.parse(stdout)).toEqual({
      sent: 1,
      code: 'invalid_arguments',
      isKnown: true,
      isKnownElsewhere: true,
    })
  })

  it.each([
    ['oldest', join(project, 'node_modules/typescript'), 'node16'],
    ['newest', join(import.meta.dirname, '../../node_modules/typescript'), 'bundler'],
  ] as const)('have declarations that the %s compiler reads', NETWORK, async (_, compiler, resolution) => {
    await typecheck(project, compiler, packages, resolution)
  })
})
