import { memoryStore, sign } from '@org/core'
import { describe, expect, it } from 'vitest'
import { calling, credentials, mail, mailDeployment, startHost } from './hosted.ts'

const secret = credentials.webhookSecret
const signFor = (id: string, options: { timestamp?: Date; secret?: string; body?: string } = {}) =>
  sign({ secret, id, body: '', ...options })

function start(
  store = memoryStore(),
  variables: Record<string, string> = { PLATFORM_WEBHOOK_SECRET: secret },
) {
  const { send, get, ...started } = startHost({ variables, store })
  return {
    ...started,
    send: (route: string, event: unknown, id: string) => send(route, event, { id, secret }),
    async ask(path: string, headers: Record<string, string> = {}) {
      const response = await get(`/deliveries/${path}`, headers)
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
  }
}

describe('GET /deliveries/{id}', () => {
  it('shows the status of a call, and nothing of its content', async () => {
    const { send, ask, world } = start()
    await send('mailer', calling('sendEmail', mail), 'evt_1')
    const { status, headers, body } = await ask('evt_1', await signFor('evt_1'))
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body.records).toMatchObject([
      { route: 'mailer', subject: 'call', state: 'done', claims: 1, response: { status: 200 }, steps: [] },
    ])
    expect(JSON.stringify(body)).not.toMatch(/ada@|Hi|sealed:/)
    expect(JSON.stringify(body)).not.toContain(world.mail.messages[0]?.messageId)
  })

  it('shows the application of a deployment if the query names the deployment', async () => {
    const { send, ask, world } = start()
    const deployment = { id: 'dep_1', inputs: { applicationName: 'Shop' } }
    world.platform.addDeployment(deployment)
    await send('idp-server', { name: 'DEPLOYMENT_CREATED', deployment }, 'evt_1')
    const headers = await signFor('evt_1')
    expect(await ask('evt_1', headers)).toMatchObject({ status: 404, body: { detail: /\?deployment=/ } })
    const [applicationId] = world.workspace.applications.keys()
    const { body } = await ask('evt_1?deployment=dep_1', headers)
    const life = { deleted: false, lastStatus: 'running' }
    expect(body.records).toMatchObject([{ route: 'idp-server', deployment: 'dep_1', state: 'done', life }])
    const value = { applicationId }
    expect(body.records[0].steps).toContainEqual({ name: 'application', state: 'recorded', value })
    expect(JSON.stringify(body)).not.toMatch(/sk_|pk_|Shop|@/)
  })

  it('is 404 with a hint for an event without an effect', async () => {
    const { send, ask } = start()
    await send('mailer', { name: 'HEALTH_CHECK' }, 'evt_1')
    expect(await ask('evt_1', await signFor('evt_1'))).toMatchObject({
      status: 404,
      body: { code: 'not_found', detail: expect.stringContaining('Only events with an effect are recorded') },
    })
  })

  it('accepts an id of any characters, up to 200', async () => {
    const { send, ask } = start()
    const id = 'a/b?c=%20 #d'
    await send('mailer', calling('sendEmail', mail), id)
    expect(await ask(encodeURIComponent(id), await signFor(id))).toMatchObject({ status: 200, body: { id } })
    const long = 'x'.repeat(201)
    expect(await ask(long, await signFor(long))).toMatchObject({ status: 404 })
  })

  it('is 503 while the host can’t reach its store', async () => {
    const away = { ...memoryStore(), read: () => Promise.reject(new Error('away')) }
    const { status, headers, body } = await start(away).ask('evt_1', await signFor('evt_1'))
    expect({ status, body }).toMatchObject({ status: 503, body: { code: 'overloaded' } })
    expect(headers.get('retry-after')).toBe('5')
  })

  it.each([
    ['no signature', async () => ({})],
    ['another secret', () => signFor('evt_1', { secret: `whsec_${btoa('another secret')}` })],
    ['a signature of an hour ago', () => signFor('evt_1', { timestamp: new Date(Date.now() - 3_600_000) })],
    ['a signature for another delivery', () => signFor('evt_2')],
    ['a signature over a body', () => signFor('evt_1', { body: '{"name":"HEALTH_CHECK"}' })],
  ])('is 401 with %s, before the store is read', async (_, headers) => {
    const { ask } = start({ ...memoryStore(), read: () => Promise.reject(new Error('The store was read.')) })
    const refused = { status: 401, body: { code: 'invalid_signature' } }
    expect(await ask('evt_1', await headers())).toMatchObject(refused)
  })

  it('shows no other delivery of the same deployment, and its signature signs no event', async () => {
    const { send, ask, host } = start()
    await send('mailer', { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_1') }, 'evt_1')
    expect(await ask('evt_2?deployment=dep_1', await signFor('evt_2'))).toMatchObject({ status: 404 })
    expect(await ask('evt_1?deployment=dep_1', await signFor('evt_1'))).toMatchObject({ status: 200 })
    const headers = { ...(await signFor('evt_1')), 'content-type': 'application/json' }
    const empty = new Request('http://host.test/mailer/webhook', { method: 'POST', headers })
    expect((await host.fetch(empty)).status).toBe(400)
  })

  it('needs no signature if the host has no webhook secret', async () => {
    const { ask, send } = start(memoryStore(), {})
    await send('mailer', calling('sendEmail', mail), 'evt_1')
    expect(await ask('evt_1')).toMatchObject({ status: 200 })
  })
})
