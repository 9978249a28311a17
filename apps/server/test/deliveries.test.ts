/** The routes for operators: the status of a delivery, its settlement, and who may ask. */
import { memoryStore } from '@org/core'
import { describe, expect, it } from 'vitest'
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
  async function ask(path: string, init: RequestInit = {}) {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
    const url = `http://host.test/deliveries/${path}`
    const response = await host.fetch(new Request(url, { headers, ...init }))
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  return {
    ...started,
    ask,
    async send(event: object, id = 'evt_1', route = 'mailer') {
      const { status, headers, body } = await send(route, event, { id, secret: credentials.webhookSecret })
      return { status, isReplay: headers.has('idempotency-replayed'), body }
    },
    settle: (given: unknown, { id = 'evt_1', ...init }: RequestInit & { id?: string } = {}) =>
      ask(`${id}/settle`, { method: 'POST', body: JSON.stringify(given), ...init }),
    stateOf: async (id = 'evt_1') => (await ask(id)).body.records?.[0].state,
  }
}

describe('GET /deliveries/{id}', () => {
  it('shows the status of a call, and nothing of its content', async () => {
    const { send, ask, world } = start()
    const id = 'a/b?c=%20 #d'
    await send(sendMail, id)
    const { status, headers, body } = await ask(encodeURIComponent(id))
    expect([status, headers.get('cache-control'), body.id]).toEqual([200, 'no-store', id])
    const call = { route: 'mailer', subject: 'call', state: 'done', claims: 1, response: { status: 200 } }
    expect(body.records).toMatchObject([{ ...call, steps: [] }])
    const [{ messageId = '' } = {}] = world.mail.messages
    for (const content of ['ada@', 'Hi', messageId]) expect(JSON.stringify(body)).not.toContain(content)
  })

  it('shows the application of a deployment if the query names the deployment, and no other delivery', async () => {
    const { send, ask, world } = start()
    const deployment = { id: 'dep_1', inputs: { applicationName: 'Shop' } }
    world.platform.addDeployment(deployment)
    await send({ name: 'DEPLOYMENT_CREATED', deployment }, 'evt_1', 'idp-server')
    const detail = expect.stringContaining('?deployment=')
    expect(await ask('evt_1')).toMatchObject({ status: 404, body: { detail } })
    expect(await ask('evt_2?deployment=dep_1')).toMatchObject({ status: 404 })
    const { body } = await ask('evt_1?deployment=dep_1')
    expect(body.records).toMatchObject([{ route: 'idp-server', deployment: 'dep_1', state: 'done' }])
    const [applicationId] = world.workspace.applications.keys()
    const application = { name: 'application', state: 'recorded', value: { applicationId } }
    expect(body.records[0].steps).toContainEqual(application)
    expect(JSON.stringify(body)).not.toMatch(/sk_|pk_|Shop|@/)
  })

  it('shows a call of a batch as begun while it is under way, and drops it with the response', async () => {
    const { send, ask, world } = start()
    const provider = world.holdMail()
    const answered = send(batch('ada@example.com', 'bob@example.com'))
    await expect.poll(provider.arrived).toBe(1)
    const underWay = { state: 'in_progress', steps: [{ name: 'call 0', state: 'begun' }] }
    expect((await ask('evt_1')).body.records).toMatchObject([underWay])
    provider.letGo()
    await answered
    expect((await ask('evt_1')).body.records).toMatchObject([{ state: 'done', steps: [] }])
  })

  it('is 503 while the host can’t reach its store', async () => {
    const { ask } = start({ store: { ...memoryStore(), read: () => Promise.reject(new Error('away')) } })
    const { status, headers, body } = await ask('evt_1')
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'overloaded', '5'])
  })
})

describe('a stranger', () => {
  /** The statuses of the routes for operators. */
  async function reach(variables: Record<string, string>, headers: Record<string, string> = {}) {
    const { get, send, settle } = start({ variables })
    await send(sendMail)
    const [metrics, delivery] = [await get('/metrics', headers), await get('/deliveries/evt_1', headers)]
    return [metrics.status, delivery.status, (await settle(notSent, { headers })).status]
  }

  it('finds no route for operators in production without OPERATOR_TOKEN, and open ones in development, but for the one that settles', async () => {
    expect(await reach(production, { authorization: 'Bearer ' })).toEqual([404, 404, 404])
    expect(await reach({})).toEqual([200, 200, 404])
  })

  it('gets 401 without the token, everywhere, and is an operator with it', async () => {
    for (const variables of [{ OPERATOR_TOKEN }, { ...production, OPERATOR_TOKEN }]) {
      for (const authorization of ['', 'Bearer operator-toke', `Basic ${OPERATOR_TOKEN}`])
        expect(await reach(variables, { authorization })).toEqual([401, 401, 401])
      for (const authorization of [`Bearer ${OPERATOR_TOKEN}`, `bearer ${OPERATOR_TOKEN}`])
        expect(await reach(variables, { authorization })).toEqual([200, 200, 422])
    }
    const lines: unknown[] = []
    const { get } = start({ logger: (_, message, facts) => lines.push({ message, ...facts }) })
    const refused = await get('/metrics')
    const message = 'A request without the token of the operator was refused.'
    expect(lines).toContainEqual({ message, route: '/metrics' })
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    expect(await refused.text()).not.toContain(OPERATOR_TOKEN)
  })
})

describe('POST /deliveries/{id}/settle', () => {
  it('lets a delivery be tried again after “not_sent”, and answered after “sent”, each once', async () => {
    const lines: unknown[] = []
    const logger: StartOptions['logger'] = (_, message, facts) => lines.push({ message, ...facts })
    const { world, send, settle, stateOf } = start({ logger })
    world.mail.faults.add(broken)
    expect(await send(sendMail)).toMatchObject({ status: 409 })
    const settled = { records: [{ state: 'settled_not_sent' }] }
    expect(await settle(notSent)).toMatchObject({ status: 200, body: settled })
    expect(lines).toContainEqual({ message: 'A delivery was settled.', delivery: 'evt_1', ...notSent })
    world.mail.faults.add(broken)
    for (const isReplay of [false, true])
      expect(await send(sendMail)).toMatchObject({ status: 409, isReplay })
    expect(await stateOf()).toBe('outcome_unknown')
    expect(await settle(sent)).toMatchObject({ status: 200, body: { records: [{ state: 'settled_sent' }] } })
    expect(await send(calling('sendEmail', { ...mail, subject: 'Another' }))).toMatchObject({ status: 422 })
    const body = { result: { messageId: 'm_1', to: mail.to }, settled: { outcome: 'sent' } }
    for (const isReplay of [false, true])
      expect(await send(sendMail)).toMatchObject({ status: 200, isReplay, body })
    expect(world.mail.messages).toHaveLength(0)
    expect(await stateOf()).toBe('done')
  })

  it('is about the unknown messages alone of a batch, as often as they are unknown', async () => {
    const { world, send, settle } = start()
    const many = batch(...Array.from({ length: 501 }, (_, at) => `p${at}@example.com`), 'no address')
    const expectBoth = async (result: object) => {
      for (const isReplay of [false, true])
        expect(await send(many)).toMatchObject({ status: 200, isReplay, body: { result } })
    }
    world.mail.faults.add({ ...broken, skip: 1 })
    await expectBoth({ sent: 500, failed: 1, unknown: 1 })
    await settle(notSent)
    world.mail.faults.add(broken)
    await expectBoth({ sent: 500, failed: 1, unknown: 1 })
    await settle(notSent)
    await expectBoth({ sent: 501, failed: 1, unknown: 0 })
    expect(world.mail.messages).toHaveLength(501)
    expect(await settle(notSent)).toMatchObject({ status: 422 })
  })

  it('makes the unknown messages of a batch sent ones', async () => {
    const { world, send, settle } = start()
    const some = batch('ada@example.com', 'bob@example.com', 'no address')
    world.mail.faults.add(broken)
    await send(some)
    await settle(sent)
    const results = [{ status: 'sent', error: null }, { status: 'sent' }, { status: 'failed' }]
    expect(await send(some)).toMatchObject({ body: { result: { sent: 2, failed: 1, unknown: 0, results } } })
    expect(world.mail.messages).toEqual([])
  })

  it('settles a call whose host died while a change was under way, and leaves unknown what a second host left so', async () => {
    let time = Date.now()
    const memory = memoryStore({ now: () => time })
    const complete = () => new Promise<boolean>(() => {})
    const dying = start({ store: { ...memory, renew: async () => true, complete } })
    const living = start({ store: memory })
    await dying.send(sendMail)
    expect(await living.settle(notSent)).toMatchObject({ body: { code: 'delivery_in_progress' } })
    time += 60_000
    expect(await living.stateOf()).toBe('outcome_unknown')
    expect(await living.settle({ route: 'mailer', outcome: 'sent' })).toMatchObject({ status: 200 })
    const body = { result: { messageId: '', rejected: [] } }
    expect(await living.send(sendMail)).toMatchObject({ status: 200, isReplay: false, body })

    living.world.mail.faults.add(broken)
    await living.send(batch(mail.to), 'evt_2')
    await living.settle(notSent, { id: 'evt_2' })
    dying.world.mail.faults.add(broken)
    await dying.send(batch(mail.to), 'evt_2')
    time += 60_000
    const unknown = { result: { sent: 0, unknown: 1 } }
    expect(await living.send(batch(mail.to), 'evt_2')).toMatchObject({ body: unknown })
    expect(living.world.mail.messages).toHaveLength(0)
  })

  it('refuses what it can’t settle, and says why', async () => {
    const { world, send, settle, stateOf } = start()
    await send(sendMail)
    world.overrides.set('idp.test', () => new Response('', { status: 500 }))
    await send(calling('deleteUser', { userId: 'user_1' }), 'evt_3', 'idp')
    const outcome = { errors: [{ path: 'outcome' }] }
    const detail = expect.stringContaining('the delivery is done')
    for (const [given, init, status, body] of [
      [notSent, {}, 422, { code: 'invalid_arguments', detail }],
      [notSent, { id: 'evt_2' }, 404, { code: 'not_found' }],
      [{ ...notSent, route: 'idp' }, {}, 404, { code: 'not_found' }],
      [notSent, { body: '{' }, 400, { code: 'invalid_json' }],
      [{ ...notSent, outcome: 'lost' }, {}, 422, outcome],
      [{ ...sent, route: 'idp' }, { id: 'evt_3' }, 422, outcome],
    ] as const)
      expect(await settle(given, init)).toMatchObject({ status, body })
    expect(await stateOf('evt_3')).toBe('outcome_unknown')
    expect(await settle({ ...notSent, route: 'idp' }, { id: 'evt_3' })).toMatchObject({ status: 200 })
  })
})
