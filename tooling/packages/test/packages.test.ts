import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import workspace from '../../../package.json' with { type: 'json' }
import { entriesOf, packAll } from '../pack.ts'
import { installInto, weigh, weighBundle } from '../weigh.ts'
import { dependencyFields, root, SOURCE_CONDITION } from '../workspace.ts'

const NETWORK = { timeout: 120_000 }

/** Of the mailer and its dependencies, in bytes. */
const LARGEST_INSTALL = 900_000
/** The smallest program that sends a mail, as gzipped bytes: at its start, and with batches, templates, files and statistics. */
const LARGEST_BUNDLE = { atStart: 12_500, all: 18_700 }

const smallestProgram = `
import { createMailer } from '@org/mailer'
const mailer = createMailer({ apiToken: 'token', fromEmail: 'shop@example.com' })
await mailer.sendEmail({ to: 'ada@example.com', subject: 'Hello', textBody: 'Hi Ada' })
`

const typedProgram = `
import type { DeploymentStatus } from '@org/core'
import { createMailer, isIntegrationError, type Message } from '@org/mailer'
import { createHandler } from '@org/mailer/webhook'
import { createPlatformClient } from '@org/platform-client'

const status: DeploymentStatus = 'running'
const platform = createPlatformClient({ baseUrl: 'https://platform.example.com' })
platform.setStatus('dep_1', { status })
const message: Message = { to: 'ada@example.com', subject: 'Hello', textBody: 'Hi Ada' }
createMailer({ apiToken: 'token' }).sendEmail(message).then(({ messageId }) => messageId.length)
export const handle: (request: Request) => Promise<Response> = createHandler({ platform, verify: 'none' })
export const codeOf = (reason: unknown) => (isIntegrationError(reason) ? reason.code : undefined)
`

const target = await mkdtemp(join(tmpdir(), 'packages-'))
const packages = await packAll(target)
afterAll(() => rm(target, { recursive: true, force: true }))

/** Runs a command in a folder, and fails with what it printed. */
async function run(folder: string, command: string, ...options: string[]): Promise<string> {
  try {
    return (await promisify(execFile)(command, options, { cwd: folder })).stdout
  } catch (error) {
    return expect.fail(Object(error).stdout || String(error))
  }
}
const check = (command: string, ...options: string[]) =>
  run(root, join(import.meta.dirname, '../../node_modules/.bin', command), ...options)

describe.concurrent.each(packages)('$name, packed,', (packed) => {
  const { files, manifest, name, tarball } = packed

  it('has the files of a release, and no others', () => {
    // There is no changelog before the first release.
    const changelog = manifest.version === '0.0.0' ? [] : ['CHANGELOG.md']
    const built = files.filter((file) => /^dist\/[\w/-]+\.(d\.c?ts|c?js)$/.test(file))
    expect(built.length).toBeGreaterThan(2)
    expect(files).toEqual(['LICENSE', 'README.md', 'package.json', ...changelog, ...built].sort())
  })

  it('says where its code is, and names nothing that only this repository has', () => {
    const directory = name.replace('@org', 'packages')
    expect(manifest).toMatchObject({
      repository: { ...workspace.repository, directory },
      homepage: expect.stringMatching(`^https://.+(?<!\\.git)/tree/main/${directory}#readme$`),
      bugs: expect.stringMatching('^https://.+(?<!\\.git)/issues$'),
      keywords: expect.arrayContaining(['webhook']),
    })
    const ranges = dependencyFields.flatMap((field) => Object.entries(manifest[field] ?? {}))
    for (const [, range] of ranges) expect(range).toMatch(/^[\d^]/)
    expect(JSON.stringify(manifest.exports)).not.toContain(SOURCE_CONDITION)
    const ours = ranges.map(([dependency]) => dependency).filter((dependency) => /^@org\//.test(dependency))
    expect(packages.map((each) => each.name)).toEqual(expect.arrayContaining(ours))
  })

  it('imports no part of core that is for our apps alone', async () => {
    for (const file of files.filter((file) => /\.(c?js|ts)$/.test(file)))
      expect(await readFile(join(packed.folder, file), 'utf8')).not.toMatch(/@org\/core\/internal/)
  })

  it('passes publint and attw: its types match its modules', NETWORK, async () => {
    await check('publint', 'run', tarball, '--strict')
    // Every supported Node can require ES modules.
    await check('attw', tarball, '--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm')
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

  it('is two packages without a schema library, and at most 0.9 MB', NETWORK, async () => {
    const needed = packages.filter(({ name }) => name === '@org/mailer' || name === '@org/core')
    await installInto(
      project,
      needed.map(({ tarball }) => tarball),
    )
    const modules = join(project, 'node_modules')
    const installed = (await readdir(modules)).filter((name) => !name.startsWith('.'))
    expect([installed, await readdir(join(modules, '@org'))]).toEqual([['@org'], ['core', 'mailer']])
    const bytes = weigh(join(modules, '@org'))
    console.log(`Installed: ${bytes} bytes.`)
    expect(bytes).toBeLessThanOrEqual(LARGEST_INSTALL)
  })

  it(`loads at most ${LARGEST_BUNDLE.atStart} gzipped bytes at its start, and ${LARGEST_BUNDLE.all} in all`, async () => {
    const { atStart, all } = await weighBundle(project, smallestProgram)
    console.log(`Bundled: ${atStart} bytes as gzip at the start, ${all} in all.`)
    expect(atStart).toBeLessThanOrEqual(LARGEST_BUNDLE.atStart)
    expect(all).toBeLessThanOrEqual(LARGEST_BUNDLE.all)
  })
})

describe('the packages, installed with zod,', () => {
  const project = join(target, 'everything')
  beforeAll(async () => {
    const tarballs = packages.map(({ tarball }) => tarball)
    await installInto(project, [...tarballs, 'zod@^4.4.0', 'typescript@5.4.5'])
  }, NETWORK.timeout)

  it('load with `require` where ES modules do not, and know the errors of their other copies', async () => {
    const required = packages.flatMap((each) => entriesOf(each, 'require'))
    expect(required).toContain('@org/mailer')
    await cp(join(import.meta.dirname, '../../runtimes/programs/required.cjs'), join(project, 'required.cjs'))
    const main = `
      for (const entry of ${JSON.stringify(required)}) require(entry)
      const { sendRequired } = require('./required.cjs')
      import('@org/mailer').then(async ({ isIntegrationError }) => {
        const { error, ...outcome } = await sendRequired()
        console.log(JSON.stringify({ ...outcome, isKnownElsewhere: isIntegrationError(error) }))
      })`
    await writeFile(join(project, 'main.cjs'), main)
    const output = await run(project, process.execPath, '--no-experimental-require-module', 'main.cjs')
    const outcome = { sent: 1, code: 'invalid_arguments', isKnown: true, isKnownElsewhere: true }
    expect(JSON.parse(output)).toEqual(outcome)
  })

  it.each([
    ['5.4, the oldest,', join(project, 'node_modules/typescript'), 'node16', 'node16'],
    ['7, as for Node,', join(root, 'node_modules/typescript'), 'nodenext', 'nodenext'],
    ['7, as for bundlers,', join(root, 'node_modules/typescript'), 'esnext', 'bundler'],
  ])('have declarations that TypeScript %s reads', NETWORK, async (_, compiler, module, moduleResolution) => {
    const importAll = (entries: readonly string[]) =>
      entries.map((entry, index) => `export * as entry${index} from '${entry}'\n`).join('')
    const compilerOptions = {
      ...{ module, moduleResolution, target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], types: [] },
      ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true },
      // The compiler's own declarations are the only ones that are not checked.
      ...{ skipLibCheck: false, skipDefaultLibCheck: true },
    }
    const files = {
      'program.ts': typedProgram,
      'entries.ts': importAll(packages.flatMap((each) => entriesOf(each))),
      'required.cts': importAll(packages.flatMap((each) => entriesOf(each, 'require'))),
    }
    const config = JSON.stringify({ compilerOptions, files: Object.keys(files) })
    for (const [file, text] of Object.entries({ ...files, 'tsconfig.json': config }))
      await writeFile(join(project, file), text)
    await run(project, process.execPath, join(compiler, 'bin/tsc'), '-p', '.')
  })
})
