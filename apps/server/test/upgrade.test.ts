/** An upgrade and its way back: the commands of the guides, and the format of the store. */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createDeliveryStore } from '@org/core/stores'
import { describe, expect, it } from 'vitest'
import { calling, createFolder, mail, production, startHost } from './hosted.ts'
import { bundle } from './shipped.ts'
import { surround } from './surrounded.ts'

const docs = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')
/** The command of a guide that has this text. */
const commandWith = (guide: string, text: string) =>
  [...docs(guide).matchAll(/^```sh\n(.*?)^```/gms)]
    .map(([, each = '']) => each)
    .find((each) => each.includes(text))

describe('the commands of the guides', async () => {
  const { ship } = await surround()
  /** Takes the place of `/`. */
  const root = createFolder()
  const program = `${root}/opt/integration-host/current`
  for (const folder of ['bin', 'etc/systemd/system', 'opt'])
    mkdirSync(`${root}/${folder}`, { recursive: true })
  writeFileSync(`${root}/bin/systemctl`, `#!/bin/sh\necho "$@" >> ${root}/systemctl.log\n`)
  chmodSync(`${root}/bin/systemctl`, 0o755)

  /** Makes a checkout of the repository at a version, with its build. */
  function checkOut(version: string): string {
    const folder = createFolder()
    const dist = `${folder}/apps/server/dist/node`
    cpSync(bundle, dist, { recursive: true })
    for (const name of readdirSync(dist).filter((each) => each.endsWith('.mjs'))) {
      const text = readFileSync(`${dist}/${name}`, 'utf8')
      writeFileSync(`${dist}/${name}`, text.replace(/(name:"@org\/server",version:")[^"]+/, `$1${version}`))
    }
    writeFileSync(`${folder}/apps/server/package.json`, JSON.stringify({ version }))
    mkdirSync(`${folder}/docs`)
    for (const name of ['docs/integration-host.service', 'host.env'])
      writeFileSync(`${folder}/${name}`, name === 'host.env' ? '' : docs('integration-host.service'))
    return folder
  }

  /** Runs a command of a guide below {@link root}, and returns what it asks systemd for last. */
  function run(command: string | undefined, cwd: string): string | undefined {
    const rooted = (command ?? 'exit 1').replaceAll(/(?<![\w.])\/(?=opt\/|etc\/)/g, `${root}/`)
    const env = { ...process.env, PATH: `${root}/bin:${process.env.PATH}` }
    execFileSync('bash', ['-c', rooted], { cwd, env, stdio: 'pipe' })
    return readFileSync(`${root}/systemctl.log`, 'utf8').trim().split('\n').at(-1)
  }

  const folder = createFolder()
  /** Starts the host as the unit does, delivers events, and stops it. */
  async function deliver(...ids: string[]) {
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
  const upgrade = commandWith('operations.md', 'systemctl restart')

  it('install a version, replace it by the next one, and go back, on one store', async () => {
    expect(docs('integration-host.service')).toContain(
      '\nExecStart=/usr/bin/node /opt/integration-host/current/node.mjs\n',
    )
    expect(run(commandWith('deploy.md', 'daemon-reload'), checkOut('1.0.0'))).toContain('enable --now')
    expect(await deliver('evt_1')).toEqual({ version: '1.0.0', answers: [sent] })

    const next = checkOut('1.1.0')
    expect(run(upgrade, next)).toBe('restart integration-host')
    expect(await deliver('evt_1', 'evt_2')).toEqual({ version: '1.1.0', answers: [replayed, sent] })
    expect(() => run(upgrade, next)).toThrow('File exists')
    expect(readdirSync(`${program}/..`).toSorted()).toEqual(['1.0.0', '1.1.0'])
    expect(readdirSync(program).filter((name) => !name.includes('.'))).toEqual([])

    const rollback = commandWith('operations.md', 'ls /opt/integration-host/releases')?.replace(
      '0.1.0',
      '1.0.0',
    )
    expect(run(rollback, next)).toBe('restart integration-host')
    expect(await deliver('evt_1', 'evt_2')).toEqual({ version: '1.0.0', answers: [replayed, replayed] })
  })
})

/** Records that a host of format 4 wrote on 2026-11-24. If the records change their shape, the format gets another number. */
interface StoreOfFormat4 {
  time: number
  records: Record<string, string>
}

describe('two versions of one format', () => {
  const fixture = new URL('store-of-format-4.json', import.meta.url)

  /** Delivers events to a host with this store, and tells which answers are replayed. */
  async function deliverTo({ time, records }: StoreOfFormat4) {
    const store = createDeliveryStore({
      now: () => time,
      probe: async () => {},
      read: async (key) => ({ text: records[key], time }),
      async swap(key, _, { text }) {
        records[key] = text
        return true
      },
    })
    const { world, send } = startHost({ store, variables: production })
    world.platform.addDeployment({ id: 'dep_1' })
    const deployment = { id: 'dep_1', inputs: { applicationName: 'Shop' } }
    const batch = { to: ['ada@example.com', 'bob@example.com'], subject: 'Hi', textBody: 'x' }
    const secret = production.PLATFORM_WEBHOOK_SECRET
    const answers = [
      await send('mailer', calling('sendEmail', mail), { id: 'evt_mail', secret }),
      await send('mailer', calling('sendEmails', batch), { id: 'evt_batch', secret }),
      await send('idp-server', { name: 'DEPLOYMENT_CREATED', deployment }, { id: 'evt_created', secret }),
    ]
    return answers.map(({ status, headers }) => [status, headers.has('idempotency-replayed')])
  }

  /** The names and types of a record; its first characters are its signature. */
  const shapeOf = (text: string) =>
    JSON.stringify(JSON.parse(text.slice(text.indexOf('{'))), (_, value) =>
      typeof value === 'object' ? value : typeof value,
    )

  it('read each other’s records', async () => {
    const old: StoreOfFormat4 = JSON.parse(readFileSync(fixture, 'utf8'))
    const shapes = Object.values(old.records).map(shapeOf).toSorted()
    expect(await deliverTo(old)).toEqual(Array(3).fill([200, true]))

    const own: StoreOfFormat4 = { time: old.time, records: {} }
    expect(await deliverTo(own)).toEqual(Array(3).fill([200, false]))
    expect(Object.values(own.records).map(shapeOf).toSorted()).toEqual(shapes)
  })
})
