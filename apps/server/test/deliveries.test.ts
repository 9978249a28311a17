/** The routes for operators: the status of a delivery, its settlement, and who may ask. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from '@org/core'
import { sqliteStore } from '@org/core/stores/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMetrics } from '../src/metrics.ts'
import { calling, credentials, mail, production, type StartOptions, startHost } from './hosted.ts'

const OPERATOR_TOKEN = credentials.operatorToken
const broken = { method: 'POST', status: 500 }
const notSent = { route: 'mailer', outcome: 'not_sent' }
const sent = { route: 'mailer', outcome: 'sent', messageId: 'm_1' }
const sendMail = calling('sendEmail', mail)
const batch = (...to: string[]) => calling('sendEmails', { to, subject: 'Hi', textBody: 'x' })

function start({ variables = { OPERATOR_TOKEN }, ...options }: StartOptions = {}) {
  const { host, send, ...started } = startHost({ variables, createMetrics, ...options })
  const authorized = { authorization: `Bearer ${OPERATOR_TOKEN}` }
  async function ask(path: string, init: RequestInit = {}) {
    const url = `http://host.test/deliveries/${path}`
    const response = await host.fetch(new Request(url, { headers: authorized, ...init }))
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  return {
    ...started,
    ask,
    async send(event: object, id = 'evt_1', route = 'mailer') {
      const { status, headers, body } = await send(route, event, { id, secret: credentials.webhookSecret })
      return { status, isReplay: headers.has('idempotency-replayed'), body }
    },
    async settle(given: unknown, { id = 'evt_1', ...init }: RequestInit & { id?: string } = {}) {
      const body = typeof given === 'string' ? given : JSON.stringify(given)
      return ask(`${id}/settle`, { method: 'POST', body, ...init })
    },
    stateOf: async (id: string) => (await ask(id)).body.records?.[0].state,
  }
}

describe('GET /deliveries/{id}', () => {
  it('shows the status of a call, and nothing of its content', async () => {
    const { send, ask, world } = start()
    const id = 'a/b?c=%20 #d'
    await send(sendMail, id)
    const { status, headers, body } = await ask(encodeURIComponent(id))
    expect([status, headers.get('cache-control'), body.id]).toEqual([200, 'no-store', id])
    expect(body.records).toMatchObject([
      { route: 'mailer', subject: 'call', state: 'done', claims: 1, response: { status: 200 }, steps: [] },
    ])
    expect(JSON.stringify(body)).not.toMatch(/ada@|Hi/)
    expect(JSON.stringify(body)).not.toContain(world.mail.messages[0]?.messageId)
  })

  it('shows the application of a deployment if the query names the deployment, and no other delivery', async () => {
    const { send, ask, world } = start()
    const deployment = { id: 'dep_1', inputs: { applicationName: 'Shop' } }
    world.platform.addDeployment(deployment)
    await send({ name: 'DEPLOYMENT_CREATED', deployment }, 'evt_1', 'idp-server')
    expect(await ask('evt_1')).toMatchObject({ status: 404, body: { detail: /\?deployment=/ } })
    expect(await ask('evt_2?deployment=dep_1')).toMatchObject({ status: 404 })
    const { body } = await ask('evt_1?deployment=dep_1')
    const life = { deleted: false, lastStatus: 'running' }
    expect(body.records).toMatchObject([{ route: 'idp-server', deployment: 'dep_1', state: 'done', life }])
    const [applicationId] = world.workspace.applications.keys()
    const value = { applicationId }
    expect(body.records[0].steps).toContainEqual({ name: 'application', state: 'recorded', value })
    expect(JSON.stringify(body)).not.toMatch(/sk_|pk_|Shop|@/)
  })

  it('is 503 while the host can’t reach its store, and looks for no id of more than 200 characters', async () => {
    const { ask } = start({ store: { ...memoryStore(), read: () => Promise.reject(new Error('away')) } })
    const { status, headers, body } = await ask('evt_1')
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'overloaded', '5'])
    const detail = expect.stringContaining('Only events with an effect are recorded')
    expect(await ask('x'.repeat(201))).toMatchObject({ status: 404, body: { code: 'not_found', detail } })
  })
})

describe.each(['/metrics', '/deliveries/evt_1'])('a stranger at GET %s', (path) => {
  const reach = async (variables: Record<string, string>, headers: Record<string, string> = {}) => {
    const { get, send } = start({ variables })
    await send(sendMail)
    return get(path, headers)
  }

  it('finds no such route in production without OPERATOR_TOKEN, and an open one in development', async () => {
    expect((await reach(production, { authorization: 'Bearer ' })).status).toBe(404)
    expect((await reach({})).status).toBe(200)
  })

  it('gets 401 without the token, everywhere, and is an operator with it', async () => {
    for (const variables of [{ OPERATOR_TOKEN }, { ...production, OPERATOR_TOKEN }]) {
      for (const authorization of ['', 'Bearer operator-toke', `Basic ${OPERATOR_TOKEN}`]) {
        const refused = await reach(variables, { authorization })
        expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
        expect(await refused.text()).not.toContain(OPERATOR_TOKEN)
      }
      for (const authorization of [`Bearer ${OPERATOR_TOKEN}`, `bearer ${OPERATOR_TOKEN}`])
        expect((await reach(variables, { authorization })).status).toBe(200)
    }
  })
})

describe('POST /deliveries/{id}/settle', () => {
  it('lets a delivery be tried again after “not_sent”, and answered after “sent”, each once', async () => {
    const store = sqliteStore({ file: join(mkdtempSync(join(tmpdir(), 'settle-')), 'store.db') })
    onTestFinished(store.close)
    const { world, send, settle, stateOf } = start({ store })
    world.mail.faults.add(broken)
    expect(await send(sendMail)).toMatchObject({ status: 409 })
    const settled = { records: [{ state: 'settled_not_sent' }] }
    expect(await settle(notSent)).toMatchObject({ status: 200, body: settled })
    world.mail.faults.add(broken)
    expect(await send(sendMail)).toMatchObject({ status: 409, isReplay: false })
    expect(await send(sendMail)).toMatchObject({ status: 409, isReplay: true })
    expect(await stateOf('evt_1')).toBe('outcome_unknown')
    expect(await settle(sent)).toMatchObject({ status: 200, body: { records: [{ state: 'settled_sent' }] } })
    expect(await send(calling('sendEmail', { ...mail, subject: 'Another' }))).toMatchObject({ status: 422 })
    const body = { result: { messageId: 'm_1', to: mail.to }, settled: { outcome: 'sent' } }
    for (const isReplay of [false, true])
      expect(await send(sendMail)).toMatchObject({ status: 200, isReplay, body })
    expect(world.mail.messages).toHaveLength(0)
    expect(await stateOf('evt_1')).toBe('done')
  })

  it('is about the unknown messages alone of a batch, as often as they are unknown', async () => {
    const { world, send, settle } = start()
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

  it('makes the unknown messages of a batch sent ones', async () => {
    const { world, send, settle } = start()
    const some = batch('ada@example.com', 'bob@example.com', 'no address')
    world.mail.faults.add(broken)
    await send(some)
    expect(await settle(sent)).toMatchObject({ status: 200 })
    const results = [{ status: 'sent', error: null }, { status: 'sent' }, { status: 'failed' }]
    expect(await send(some)).toMatchObject({ body: { result: { sent: 2, failed: 1, unknown: 0, results } } })
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
    await dying.send(sendMail)
    const inProgress = { status: 409, body: { code: 'delivery_in_progress' } }
    expect(await living.settle(notSent)).toMatchObject(inProgress)
    pass()
    expect(await living.stateOf('evt_1')).toBe('outcome_unknown')
    expect(await living.settle({ route: 'mailer', outcome: 'sent' })).toMatchObject({ status: 200 })
    const body = { result: { messageId: '', rejected: [] } }
    expect(await living.send(sendMail)).toMatchObject({ status: 200, isReplay: false, body })
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
    await send(sendMail)
    const detail = expect.stringContaining('the delivery is done')
    expect(await settle(notSent)).toMatchObject({ status: 422, body: { code: 'invalid_arguments', detail } })
    expect(await settle(notSent, { id: 'evt_2' })).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(await settle({ ...notSent, route: 'idp' })).toMatchObject({ status: 404 })
    expect(await settle('{')).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
    const refused = { status: 422, body: { errors: [{ path: 'outcome' }] } }
    expect(await settle({ route: 'mailer', outcome: 'lost' })).toMatchObject(refused)
    world.overrides.set('idp.test', () => new Response('', { status: 500 }))
    expect(await send(calling('deleteUser', { userId: 'user_1' }), 'evt_3', 'idp')).toMatchObject({
      status: 409,
    })
    expect(await settle({ ...sent, route: 'idp' }, { id: 'evt_3' })).toMatchObject(refused)
    expect(await stateOf('evt_3')).toBe('outcome_unknown')
    expect(await settle({ ...notSent, route: 'idp' }, { id: 'evt_3' })).toMatchObject({ status: 200 })
  })

  it.each([{}, production])('is closed without the token with the variables %j', async (variables) => {
    expect(await start({ variables }).settle(notSent)).toMatchObject({ status: 404 })
    const { settle } = start({ variables: { ...variables, OPERATOR_TOKEN } })
    expect(await settle(notSent, { headers: {} })).toMatchObject({ status: 401 })
    expect(await settle(notSent)).toMatchObject({ status: 404, body: { detail: /no record/ } })
  })
})
