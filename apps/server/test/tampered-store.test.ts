/** Somebody who can write to the delivery store, and does not know the keys of the host. */
import { createHmac } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from '@org/core/stores/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { calling, credentials, startHost } from './hosted.ts'

const { webhookSecret: secret } = credentials

it.each<[string, (text: string, evil: string, victim: string, ofVictim: string) => string]>([
  ['names the application of another deployment', (text, evil, victim) => text.replace(evil, victim)],
  ['was copied from another deployment', (_text, _evil, _victim, ofVictim) => ofVictim],
  ['is empty', () => ''],
  [
    'is signed as by a host without a key',
    (text, evil, victim) => {
      const json = text.slice(24).replace(evil, victim)
      const signed = createHmac('sha256', 'integration host: records without a key')
      signed.update(`MAC, version 1"idp-server/deployment/evil"${json}`)
      return signed.digest('base64').slice(0, 24) + json
    },
  ],
])('a record that %s is refused and logged, and nothing is read or deleted by it', async (_, tamper) => {
  const file = join(mkdtempSync(join(tmpdir(), 'tampered-')), 'deliveries.db')
  const store = sqliteStore({ file, recordKeys: [secret] })
  const lines: object[] = []
  const { send, world } = startHost({
    store,
    variables: { PLATFORM_WEBHOOK_SECRET: secret },
    logger: (level, message, data) => void lines.push({ level, message, ...data }),
  })
  const deliver = async (event: object, id: string) => {
    const deployment = { id, inputs: { applicationName: id } }
    return send('idp-server', { ...event, deployment }, { id: crypto.randomUUID(), secret })
  }
  async function create(id: string) {
    world.platform.addDeployment({ id })
    const { body } = await deliver({ name: 'DEPLOYMENT_CREATED' }, id)
    return String(Object(body).outputs.applicationId)
  }
  const [victim, evil] = [await create('victim'), await create('evil')]
  const database = new DatabaseSync(file)
  onTestFinished(async () => {
    database.close()
    await store.close()
  })
  const rows = database.prepare('SELECT key, text FROM records').all()
  const find = (id: string) => rows.find(({ text }) => String(text).includes(`"applicationId":"${id}"`))
  const text = tamper(String(find(evil)?.text), evil, victim, String(find(victim)?.text))
  database.prepare('UPDATE records SET text = ? WHERE key = ?').run(text, String(find(evil)?.key))

  const calls = world.sent.filter(({ host }) => host === 'idp.test').length
  const names = ['DEPLOYMENT_CREATED', 'METRIC_UPDATE', 'DEPLOYMENT_DELETED'].map((name) => ({ name }))
  for (const event of [...names, calling('createUser', { emailAddress: 'a@example.com' })]) {
    const { status, body } = await deliver(event, 'evil')
    expect({ status, body }).toMatchObject({ status: 500, body: { code: 'internal_error' } })
    for (const key of world.backend.instances.keys()) expect(JSON.stringify(body)).not.toContain(key)
    const reason = expect.stringContaining('The record of idp-server/deployment/evil')
    const line = { level: 'error', message: `${event.name} 500`, reason }
    expect(lines).toContainEqual(expect.objectContaining(line))
  }
  expect(world.sent.filter(({ host }) => host === 'idp.test')).toHaveLength(calls)
  expect(new Set(world.workspace.applications.keys())).toEqual(new Set([victim, evil]))
})
