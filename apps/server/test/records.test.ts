/** Records in the delivery store that another version wrote, or somebody who does not know the keys of the host. */
import { createHmac } from 'node:crypto'
import { createDeliveryStore } from '@org/core/stores'
import { expect, it, vi } from 'vitest'
import { calling, credentials, mail, production, startHost } from './hosted.ts'
import format4 from './store-of-format-4.json' with { type: 'json' }

const { webhookSecret: secret } = credentials

/** Starts a host on these records. */
function startOn(records: Map<string, string>, { time = Date.now(), keys = [secret] } = {}) {
  const storage = {
    now: () => time,
    probe: async () => {},
    read: async (key: string) => ({ text: records.get(key), time }),
    async swap(key: string, _: string, text: string) {
      records.set(key, text)
      return true
    },
  }
  const logger = vi.fn()
  const started = startHost({ store: createDeliveryStore(storage, keys), variables: production, logger })
  return { ...started, logger }
}

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
  const records = new Map<string, string>()
  const { send, world, logger } = startOn(records)
  const deliver = (name: string, id: string) => {
    const deployment = { id, inputs: { applicationName: id } }
    return send('idp-server', { name, deployment }, { id: crypto.randomUUID(), secret })
  }
  /** Creates an application, and finds its id and its record. */
  async function create(id: string) {
    world.platform.addDeployment({ id })
    const { body } = await deliver('DEPLOYMENT_CREATED', id)
    const application = String(Object(body).outputs.applicationId)
    const isOf = ([, text]: [string, string]) => text.includes(`"applicationId":"${application}"`)
    const [key = '', text = ''] = [...records].find(isOf) ?? []
    return { application, key, text }
  }
  const [victim, evil] = [await create('victim'), await create('evil')]
  records.set(evil.key, tamper(evil.text, evil.application, victim.application, victim.text))

  world.sent.length = 0
  for (const name of ['DEPLOYMENT_CREATED', 'METRIC_UPDATE', 'DEPLOYMENT_DELETED']) {
    expect(await deliver(name, 'evil')).toMatchObject({ status: 500, body: { code: 'internal_error' } })
    const reason = expect.stringContaining('The record of idp-server/deployment/evil')
    expect(logger).toHaveBeenCalledWith('error', `${name} 500`, expect.objectContaining({ reason }))
  }
  expect(world.sent.filter(({ host }) => host === 'idp.test')).toEqual([])
})

/** The fixture was written on 2026-11-24. If the records change their shape, the format gets another number. */
it('two versions of format 4 read each other’s records', async () => {
  /** Delivers events to a host with these records, and tells which answers are replayed. */
  async function deliverTo(records: Map<string, string>) {
    const { world, send } = startOn(records, { time: format4.time, keys: [] })
    world.platform.addDeployment({ id: 'dep_1' })
    const deployment = { id: 'dep_1', inputs: { applicationName: 'Shop' } }
    const batch = { to: ['ada@example.com', 'bob@example.com'], subject: 'Hi', textBody: 'x' }
    const answers = [
      await send('mailer', calling('sendEmail', mail), { id: 'evt_mail', secret }),
      await send('mailer', calling('sendEmails', batch), { id: 'evt_batch', secret }),
      await send('idp-server', { name: 'DEPLOYMENT_CREATED', deployment }, { id: 'evt_created', secret }),
    ]
    return answers.map(({ status, headers }) => [status, headers.has('idempotency-replayed')])
  }
  /** The names and types of each record; its first characters are its signature. */
  const shapesOf = (records: Map<string, string>) => {
    const typesOf = (text: string) =>
      JSON.stringify(JSON.parse(text.slice(text.indexOf('{'))), (_, value) =>
        typeof value === 'object' ? value : typeof value,
      )
    return [...records.values()].map(typesOf).toSorted()
  }
  const [old, own] = [new Map(Object.entries(format4.records)), new Map<string, string>()]
  const shapes = shapesOf(old)
  expect(await deliverTo(old)).toEqual(Array(3).fill([200, true]))
  expect(await deliverTo(own)).toEqual(Array(3).fill([200, false]))
  expect(shapesOf(own)).toEqual(shapes)
})
