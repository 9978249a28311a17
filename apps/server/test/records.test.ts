/** Records in the delivery store that another version wrote, or somebody who does not know the keys of the host. */
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
    swap: async (key: string, _: string, text: string) => records.set(key, text).has(key),
  }
  const logger = vi.fn()
  const started = startHost({ store: createDeliveryStore(storage, keys), variables: production, logger })
  const deliver = (route: string, event: object, id: string) => started.send(route, event, { id, secret })
  return { ...started, logger, deliver }
}

const eventOf = (name: string, id: string) => ({
  name,
  deployment: { id, inputs: { applicationName: 'Shop' } },
})
const applicationIn = (text: string) => /"applicationId":"(\w+)"/.exec(text)?.[1] ?? ''

it.each<[string, (evil: string, victim: string) => string]>([
  [
    'names the application of another deployment',
    (evil, victim) => evil.replace(applicationIn(evil), applicationIn(victim)),
  ],
  ['was copied from another deployment', (_, victim) => victim],
  ['is empty', () => ''],
])('a record that %s is refused and logged, and nothing is read or deleted by it', async (_, tamper) => {
  const records = new Map<string, string>()
  const { deliver, world, logger } = startOn(records)
  for (const id of ['victim', 'evil']) {
    world.platform.addDeployment({ id })
    await deliver('idp-server', eventOf('DEPLOYMENT_CREATED', id), `evt_${id}`)
  }
  const of = (id: string) => [...records].find(([, text]) => text.includes(`"evt_${id}"`)) ?? ['', '']
  const [[, victim], [key, evil]] = [of('victim'), of('evil')]
  records.set(key, tamper(evil, victim))

  world.sent.length = 0
  for (const name of ['DEPLOYMENT_CREATED', 'METRIC_UPDATE', 'DEPLOYMENT_DELETED']) {
    const problem = { status: 500, body: { code: 'internal_error' } }
    expect(await deliver('idp-server', eventOf(name, 'evil'), name)).toMatchObject(problem)
    const reason = expect.stringContaining('The record of idp-server/deployment/evil')
    expect(logger).toHaveBeenCalledWith('error', `${name} 500`, expect.objectContaining({ reason }))
  }
  expect(world.sent.filter(({ host }) => host === 'idp.test')).toEqual([])
})

/** The fixture was written on 2026-11-24. If the records change their shape, the format gets another number. */
it('two versions of format 4 read each other’s records', async () => {
  /** Delivers events to a host with these records, and tells which answers are replayed. */
  async function deliverTo(records: Map<string, string>) {
    const { world, deliver } = startOn(records, { time: format4.time, keys: [] })
    world.platform.addDeployment({ id: 'dep_1' })
    const batch = { to: ['ada@example.com', 'bob@example.com'], subject: 'Hi', textBody: 'x' }
    const answers = [
      await deliver('mailer', calling('sendEmail', mail), 'evt_mail'),
      await deliver('mailer', calling('sendEmails', batch), 'evt_batch'),
      await deliver('idp-server', eventOf('DEPLOYMENT_CREATED', 'dep_1'), 'evt_created'),
    ]
    return answers.map(({ status, headers }) => [status, headers.has('idempotency-replayed')])
  }
  const typeOf = (_: string, value: unknown) => (typeof value === 'object' ? value : typeof value)
  /** The names and types of each record; its first characters are its signature. */
  const shapesOf = (records: Map<string, string>) =>
    [...records.values()].map((text) => JSON.stringify(JSON.parse(text.slice(24)), typeOf)).toSorted()
  const [old, own] = [new Map(Object.entries(format4.records)), new Map<string, string>()]
  const shapes = shapesOf(old)
  expect(await deliverTo(old)).toEqual(Array(3).fill([200, true]))
  expect(await deliverTo(own)).toEqual(Array(3).fill([200, false]))
  expect(shapesOf(own)).toEqual(shapes)
})
