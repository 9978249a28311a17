/** The commands of the guides, as they stand there: an installation, an upgrade and its way back, and a backup. */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { calling, createFolder, mail } from './hosted.ts'
import { bundle } from './shipped.ts'
import { surround } from './surrounded.ts'

const { ship } = await surround()
const docs = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')
/** The command of a guide that has this text. */
const commandWith = (guide: string, text: string) =>
  [...docs(guide).matchAll(/^```sh\n(.*?)^```/gms)]
    .map(([, each = '']) => each)
    .find((each) => each.includes(text)) ?? 'exit 1'

const folder = createFolder()
/** Starts the host as the unit does, delivers mails, and stops it. An answer says whether it is replayed. */
async function deliver(program: string, ...ids: string[]) {
  const host = ship({ program, folder, environment: { DELIVERY_STORE: 'sqlite:deliveries.db' } })
  const answers = []
  for (const id of ids) answers.push(await host.send('mailer', calling('sendEmail', mail), id))
  host.kill('SIGTERM')
  expect(await host.exit).toBe(0)
  return {
    version: host.log.find((line) => line.version)?.version,
    answers: answers.map(({ status, headers }) => [status, headers.has('idempotency-replayed')]),
  }
}
const [sent, replayed] = [
  [200, false],
  [200, true],
]

it('the commands of the guides install a version, replace it by the next one, and go back, on one store', async () => {
  /** Takes the place of `/`. */
  const root = createFolder()
  const program = `${root}/opt/integration-host/current`
  for (const each of ['bin', 'etc/systemd/system', 'opt']) mkdirSync(`${root}/${each}`, { recursive: true })
  writeFileSync(`${root}/bin/systemctl`, `#!/bin/sh\necho "$@" >> ${root}/systemctl.log\n`)
  chmodSync(`${root}/bin/systemctl`, 0o755)

  /** Makes a checkout of the repository at a version, with its build. */
  function checkOut(version: string): string {
    const checkout = createFolder()
    const dist = `${checkout}/apps/server/dist/node`
    cpSync(bundle, dist, { recursive: true })
    for (const name of readdirSync(dist).filter((each) => each.endsWith('.mjs'))) {
      const text = readFileSync(`${dist}/${name}`, 'utf8')
      writeFileSync(`${dist}/${name}`, text.replace(/(name:"@org\/server",version:")[^"]+/, `$1${version}`))
    }
    writeFileSync(`${checkout}/apps/server/package.json`, JSON.stringify({ version }))
    mkdirSync(`${checkout}/docs`)
    writeFileSync(`${checkout}/docs/integration-host.service`, docs('integration-host.service'))
    writeFileSync(`${checkout}/host.env`, '')
    return checkout
  }

  /** Runs a command of a guide below {@link root}, and returns what it asks systemd for last. */
  function run(command: string, cwd: string): string | undefined {
    const rooted = command.replaceAll(/(?<![\w.])\/(?=opt\/|etc\/)/g, `${root}/`)
    const env = { ...process.env, PATH: `${root}/bin:${process.env.PATH}` }
    execFileSync('bash', ['-c', rooted], { cwd, env, stdio: 'pipe' })
    return readFileSync(`${root}/systemctl.log`, 'utf8').trim().split('\n').at(-1)
  }

  const start = 'ExecStart=/usr/bin/node /opt/integration-host/current/node.mjs'
  expect(docs('integration-host.service').split('\n')).toContain(start)
  expect(run(commandWith('deploy.md', 'daemon-reload'), checkOut('1.0.0'))).toContain('enable --now')
  expect(await deliver(program, 'evt_1')).toEqual({ version: '1.0.0', answers: [sent] })

  const next = checkOut('1.1.0')
  const upgrade = commandWith('operations.md', 'systemctl restart')
  expect(run(upgrade, next)).toBe('restart integration-host')
  expect(await deliver(program, 'evt_1', 'evt_2')).toEqual({ version: '1.1.0', answers: [replayed, sent] })
  expect(() => run(upgrade, next)).toThrow('File exists')
  expect(readdirSync(`${program}/..`).toSorted()).toEqual(['1.0.0', '1.1.0'])
  expect(readdirSync(program).filter((name) => !name.includes('.'))).toEqual([])

  const rollback = commandWith('operations.md', 'ls /opt/integration-host/releases')
  expect(run(rollback.replace('0.1.0', '1.0.0'), next)).toBe('restart integration-host')
  const back = { version: '1.0.0', answers: [replayed, replayed] }
  expect(await deliver(program, 'evt_1', 'evt_2')).toEqual(back)
})

it('the commands of docs/operations.md back up a store, on every day, and restore it', async () => {
  const run = (part: string) =>
    execFileSync('sh', ['-c', commandWith('operations.md', part)], { cwd: folder })
  await deliver(bundle, 'evt_3')
  for (const _ of ['a day', 'the next one']) run('VACUUM INTO')
  await deliver(bundle, 'evt_4')
  run('install -m 600')
  expect((await deliver(bundle, 'evt_3', 'evt_4')).answers).toEqual([replayed, sent])
})
