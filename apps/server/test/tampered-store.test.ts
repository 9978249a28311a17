/** Somebody who can write to the delivery store, and does not know the keys of the host. */
import { createHmac } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import type { Logger } from '@org/core'
import { sqliteStore } from '@org/core/stores/sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createFolder, credentials, startHost } from './hosted.ts'

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
  const file = `${createFolder()}/deliveries.db`
  const store = sqliteStore({ file, recordKeys: [secret] })
  onTestFinished(store.close)
  const logger = vi.fn<Logger>()
  const { send, world } = startHost({ store, variables: { PLATFORM_WEBHOOK_SECRET: secret }, logger })
  const deliver = (name: string, id: string) => {
    const deployment = { id, inputs: { applicationName: id } }
    return send('idp-server', { name, deployment }, { id: crypto.randomUUID(), secret })
  }
  async function create(id: string) {
    world.platform.addDeployment({ id })
    const { body } = await deliver('DEPLOYMENT_CREATED', id)
    return String(Object(body).outputs.applicationId)
  }
  const [victim, evil] = [await create('victim'), await create('evil')]
  const database = new DatabaseSync(file)
  const rows = database.prepare('SELECT key, text FROM records').all()
  const find = (id: string) => rows.find(({ text }) => String(text).includes(`"applicationId":"${id}"`))
  const text = tamper(String(find(evil)?.text), evil, victim, String(find(victim)?.text))
  database.prepare('UPDATE records SET text = ? WHERE key = ?').run(text, String(find(evil)?.key))
  database.close()

  world.sent.length = 0
  for (const name of ['DEPLOYMENT_CREATED', 'METRIC_UPDATE', 'DEPLOYMENT_DELETED']) {
    expect(await deliver(name, 'evil')).toMatchObject({ status: 500, body: { code: 'internal_error' } })
    const reason = expect.stringContaining('The record of idp-server/deployment/evil')
    expect(logger).toHaveBeenCalledWith('error', `${name} 500`, expect.objectContaining({ reason }))
  }
  expect(world.sent.filter(({ host }) => host === 'idp.test')).toEqual([])
})
