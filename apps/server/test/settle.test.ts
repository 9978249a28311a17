import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DeliveryStore, memoryStore } from '@org/core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { hasRedis, startRedis } from '../../../bench/chaos/redis.ts'
import { openStore } from '../src/stores/open.ts'
import { calling, credentials, mail, type StartOptions, startHost } from './hosted.ts'

const OPERATOR_TOKEN = 'operator-token-of-this-host'
const broken = { method: 'POST', status: 500 }
const notSent = { route: 'mailer', outcome: 'not_sent' }
const sent = { route: 'mailer', outcome: 'sent', messageId: 'm_1' }
const batch = (...to: string[]) => calling('sendEmails', { to, subject: 'Hi', textBody: 'x' })
const people = ['ada@example.com', 'bob@example.com', 'no address']

function start({ variables = { OPERATOR_TOKEN }, ...options }: StartOptions = {}) {
  const { world, host, send, get } = startHost({ variables, ...options })
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
  return {
    world,
    send: async (event: object, id = 'evt_1', route = 'mailer') => {
      const { status, headers, body } = await send(route, event, { id })
      return { status, isReplay: headers.has('idempotency-replayed'), body }
    },
    settle: async (given: unknown, { id = 'evt_1', ...init }: RequestInit & { id?: string } = {}) => {
      const url = `http://host.test/deliveries/${id}/settle`
      const body = typeof given === 'string' ? given : JSON.stringify(given)
      const response = await host.fetch(new Request(url, { method: 'POST', headers, body, ...init }))
      return { status: response.status, body: await response.json() }
    },
    stateOf: async (id: string) =>
      (await (await get(`/deliveries/${id}`, headers)).json()).records?.[0].state,
  }
}

async function open(location: string): Promise<DeliveryStore> {
  const { store, close } = await openStore({ deliveryStore: location, recordKeys: ['key'] }, () => {})
  onTestFinished(close)
  return store
}

async function openRedis(): Promise<DeliveryStore> {
  const redis = await startRedis()
  onTestFinished(() => redis.close())
  const store = await open(redis.url)
  await vi.waitFor(() => store.probe())
  return store
}

describe.each<[string, () => Promise<DeliveryStore>]>([
  ['in memory', () => open('memory:')],
  ['in SQLite', () => open(`sqlite:${join(mkdtempSync(join(tmpdir(), 'settle-')), 'store.db')}`)],
  ...(hasRedis ? [['in Redis', openRedis] satisfies [string, typeof openRedis]] : []),
])('a delivery of unknown outcome %s', (_, openIt) => {
  it('is tried again after “not_sent”, and answered after “sent”, each once', async () => {
    const { world, send, settle, stateOf } = start({ store: await openIt() })
    world.mail.faults.add(broken)
    expect(await send(calling('sendEmail', mail))).toMatchObject({ status: 409 })
    const settled = { records: [{ state: 'settled_not_sent' }] }
    expect(await settle(notSent)).toMatchObject({ status: 200, body: settled })
    world.mail.faults.add(broken)
    expect(await send(calling('sendEmail', mail))).toMatchObject({ status: 409, isReplay: false })
    expect(await send(calling('sendEmail', mail))).toMatchObject({ status: 409, isReplay: true })
    expect(await stateOf('evt_1')).toBe('outcome_unknown')
    expect(await settle(sent)).toMatchObject({ status: 200, body: { records: [{ state: 'settled_sent' }] } })
    expect(await send(calling('sendEmail', { ...mail, subject: 'Another' }))).toMatchObject({ status: 422 })
    const body = { result: { messageId: 'm_1', to: mail.to }, settled: { outcome: 'sent' } }
    for (const isReplay of [false, true])
      expect(await send(calling('sendEmail', mail))).toMatchObject({ status: 200, isReplay, body })
    expect(world.mail.messages).toHaveLength(0)
    expect(await stateOf('evt_1')).toBe('done')
  })

  it('is the unknown messages alone of a batch', async () => {
    const { world, send, settle } = start({ store: await openIt() })
    const many = batch(...Array.from({ length: 501 }, (_, at) => `p${at}@example.com`), 'no address')
    world.mail.faults.add({ ...broken, skip: 1 })
    const unknown = { result: { sent: 500, failed: 1, unknown: 1 } }
    expect(await send(many)).toMatchObject({ status: 200, body: unknown })
    await settle(notSent)
    world.mail.faults.add(broken)
    expect(await send(many)).toMatchObject({ status: 200, isReplay: false, body: unknown })
    expect(await send(many)).toMatchObject({ status: 200, isReplay: true, body: unknown })
    expect(world.mail.messages).toHaveLength(500)
    await settle(notSent)
    const done = { result: { sent: 501, failed: 1, unknown: 0 } }
    for (const isReplay of [false, true])
      expect(await send(many)).toMatchObject({ status: 200, isReplay, body: done })
    expect(world.mail.messages).toHaveLength(501)
    expect(await settle(notSent)).toMatchObject({ status: 422 })
  })
})

describe('POST /deliveries/{id}/settle', () => {
  it('makes the unknown messages of a batch sent ones', async () => {
    const { world, send, settle } = start()
    world.mail.faults.add(broken)
    await send(batch(...people))
    expect(await settle(sent)).toMatchObject({ status: 200 })
    const results = [{ status: 'sent', error: null }, { status: 'sent' }, { status: 'failed' }]
    const result = { sent: 2, failed: 1, unknown: 0, results }
    expect(await send(batch(...people))).toMatchObject({ status: 200, body: { result } })
    expect(world.mail.messages).toHaveLength(0)
  })

  /** A host that dies before it records an answer, and one that lives on its store after a minute. */
  function startMortal() {
    let time = Date.now()
    const memory = memoryStore({ now: () => time })
    const complete = () => new Promise<boolean>(() => {})
    const dying = start({ store: { ...memory, renew: async () => true, complete } })
    const pass = () => {
      time += 60_000
    }
    return { dying, living: start({ store: memory }), pass }
  }

  it('settles a call whose host died while a change was under way', async () => {
    const { dying, living, pass } = startMortal()
    await dying.send(calling('sendEmail', mail))
    const inProgress = { status: 409, body: { code: 'delivery_in_progress' } }
    expect(await living.settle(notSent)).toMatchObject(inProgress)
    pass()
    expect(await living.stateOf('evt_1')).toBe('outcome_unknown')
    expect(await living.settle({ route: 'mailer', outcome: 'sent' })).toMatchObject({ status: 200 })
    const body = { result: { messageId: '', rejected: [] } }
    const answer = { status: 200, isReplay: false, body }
    expect(await living.send(calling('sendEmail', mail))).toMatchObject(answer)
    expect(living.world.mail.messages).toHaveLength(0)
  })

  it('is about what was unknown then: a host that dies in the next try leaves it unknown again', async () => {
    const { dying, living, pass } = startMortal()
    living.world.mail.faults.add(broken)
    await living.send(batch(mail.to))
    await living.settle(notSent)
    dying.world.mail.faults.add(broken)
    await dying.send(batch(mail.to))
    pass()
    expect(await living.send(batch(mail.to))).toMatchObject({ body: { result: { sent: 0, unknown: 1 } } })
    expect(living.world.mail.messages).toHaveLength(0)
  })

  it('refuses what it can’t settle, and says why', async () => {
    const { world, send, settle, stateOf } = start()
    await send(calling('sendEmail', mail))
    const detail = expect.stringContaining('the delivery is done')
    expect(await settle(notSent)).toMatchObject({ status: 422, body: { code: 'invalid_arguments', detail } })
    expect(await settle(notSent, { id: 'evt_2' })).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(await settle({ ...notSent, route: 'idp' })).toMatchObject({ status: 404 })
    expect(await settle('{')).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
    const refused = { status: 422, body: { errors: [{ path: 'outcome' }] } }
    expect(await settle({ route: 'mailer', outcome: 'lost' })).toMatchObject(refused)
    world.overrides.set('idp.test', () => new Response('', { status: 500 }))
    const remove = calling('deleteUser', { userId: 'user_1' })
    expect(await send(remove, 'evt_3', 'idp')).toMatchObject({ status: 409 })
    expect(await settle({ ...sent, route: 'idp' }, { id: 'evt_3' })).toMatchObject(refused)
    expect(await stateOf('evt_3')).toBe('outcome_unknown')
    expect(await settle({ ...notSent, route: 'idp' }, { id: 'evt_3' })).toMatchObject({ status: 200 })
  })

  it('is closed without the token, in development too', async () => {
    const production = { NODE_ENV: 'production', CORS_ORIGINS: 'https://app.example.com' }
    const signed = { ...production, PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret }
    for (const variables of [{}, signed]) {
      expect(await start({ variables }).settle(notSent)).toMatchObject({ status: 404 })
      const { settle } = start({ variables: { ...variables, OPERATOR_TOKEN } })
      expect(await settle(notSent, { headers: {} })).toMatchObject({ status: 401 })
      expect(await settle(notSent)).toMatchObject({ status: 404, body: { detail: /no record/ } })
    }
  })
})
