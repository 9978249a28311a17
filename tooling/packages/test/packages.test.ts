import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { complaintsOf } from '../../complaints.ts'
import { findFaults } from '../faults.ts'
import { packAll } from '../pack.ts'
import { bundle, installInto, listInstalled } from '../weigh.ts'

const NETWORK = { timeout: 120_000 }

/** Of the mailer and its dependencies, in bytes. */
const LARGEST_INSTALL = 1_000_000
/** Of the smallest program that sends a mail, gzipped, in bytes. */
const LARGEST_BUNDLE = 9_000

const smallestProgram = `
import { createMailer } from '@org/mailer'
const mailer = createMailer({ apiToken: 'token', fromEmail: 'shop@example.com' })
await mailer.sendEmail({ to: 'ada@example.com', subject: 'Hello', textBody: 'Hi Ada' })
`

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

  it('passes publint', NETWORK, async () => {
    expect(await check('publint', 'run', packed.tarball, '--strict')).toBe('')
  })

  it('passes attw: its types match its modules', NETWORK, async () => {
    expect(await check('attw', '--profile', 'esm-only', packed.tarball)).toBe('')
  })
})

describe('@org/mailer, installed to send mail,', () => {
  const project = join(target, 'project')

  it('is two packages without a schema library, and at most 1 MB', NETWORK, async () => {
    const tarballs = packages
      .filter(({ name }) => name === '@org/mailer' || name === '@org/core')
      .map(({ tarball }) => tarball)
    await installInto(project, tarballs)
    const installed = listInstalled(project)
    const bytes = installed.reduce((sum, each) => sum + each.bytes, 0)
    console.log(
      `Installed: ${installed.map(({ name, bytes }) => `${name} ${bytes}`).join(', ')}; ${bytes} bytes.`,
    )
    expect(installed.map(({ name }) => name)).toEqual(['@org/core', '@org/mailer'])
    expect(bytes).toBeLessThanOrEqual(LARGEST_INSTALL)
  })

  it(`is a bundle of at most ${LARGEST_BUNDLE} gzipped bytes`, async () => {
    const { gzip } = await bundle(project, smallestProgram)
    console.log(`Bundled: ${gzip} bytes as gzip.`)
    expect(gzip).toBeLessThanOrEqual(LARGEST_BUNDLE)
  })
})
