import { memoryStore } from '@org/core'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../src/metrics.ts'
import { calling, credentials, mail, mailDeployment, startHost } from './hosted.ts'

function start(store = memoryStore()) {
  const { send, get, ...started } = startHost({ store })
  return {
    ...started,
    send: (route: string, event: unknown, id: string) => send(route, event, { id }),
    async ask(path: string) {
      const response = await get(`/deliveries/${path}`)
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
  }
}

describe('GET /deliveries/{id}', () => {
  it('shows the status of a call, and nothing of its content', async () => {
    const { send, ask, world } = start()
    await send('mailer', calling('sendEmail', mail), 'evt_1')
    const { status, headers, body } = await ask('evt_1')
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body.records).toMatchObject([
      { route: 'mailer', subject: 'call', state: 'done', claims: 1, response: { status: 200 }, steps: [] },
    ])
    expect(JSON.stringify(body)).not.toMatch(/ada@|Hi/)
    expect(JSON.stringify(body)).not.toContain(world.mail.messages[0]?.messageId)
  })

  it('shows the application of a deployment if the query names the deployment', async () => {
    const { send, ask, world } = start()
    const deployment = { id: 'dep_1', inputs: { applicationName: 'Shop' } }
    world.platform.addDeployment(deployment)
    await send('idp-server', { name: 'DEPLOYMENT_CREATED', deployment }, 'evt_1')
    expect(await ask('evt_1')).toMatchObject({ status: 404, body: { detail: /\?deployment=/ } })
    const [applicationId] = world.workspace.applications.keys()
    const { body } = await ask('evt_1?deployment=dep_1')
    const life = { deleted: false, lastStatus: 'running' }
    expect(body.records).toMatchObject([{ route: 'idp-server', deployment: 'dep_1', state: 'done', life }])
    const value = { applicationId }
    expect(body.records[0].steps).toContainEqual({ name: 'application', state: 'recorded', value })
    expect(JSON.stringify(body)).not.toMatch(/sk_|pk_|Shop|@/)
  })

  it('is 404 with a hint for an event without an effect', async () => {
    const { send, ask } = start()
    await send('mailer', { name: 'HEALTH_CHECK' }, 'evt_1')
    expect(await ask('evt_1')).toMatchObject({
      status: 404,
      body: { code: 'not_found', detail: expect.stringContaining('Only events with an effect are recorded') },
    })
  })

  it('accepts an id of any characters, up to 200', async () => {
    const { send, ask } = start()
    const id = 'a/b?c=%20 #d'
    await send('mailer', calling('sendEmail', mail), id)
    expect(await ask(encodeURIComponent(id))).toMatchObject({ status: 200, body: { id } })
    // No longer one is looked for.
    expect(await start(away).ask('x'.repeat(201))).toMatchObject({ status: 404 })
  })

  const away = { ...memoryStore(), read: () => Promise.reject(new Error('away')) }
  it('is 503 while the host can’t reach its store', async () => {
    const { status, headers, body } = await start(away).ask('evt_1')
    expect({ status, body }).toMatchObject({ status: 503, body: { code: 'overloaded' } })
    expect(headers.get('retry-after')).toBe('5')
  })

  it('shows no other delivery of the same deployment', async () => {
    const { send, ask } = start()
    await send('mailer', { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_1') }, 'evt_1')
    expect(await ask('evt_2?deployment=dep_1')).toMatchObject({ status: 404 })
    expect(await ask('evt_1?deployment=dep_1')).toMatchObject({ status: 200 })
  })
})

describe.each(['/metrics', '/deliveries/evt_1'])('a stranger at GET %s', (path) => {
  const production = {
    NODE_ENV: 'production',
    CORS_ORIGINS: 'https://app.example.com',
    PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret,
  }
  const OPERATOR_TOKEN = 'operator-token-of-this-host'
  const reach = async (variables: Record<string, string>, headers: Record<string, string> = {}) => {
    const { get, send } = startHost({ variables, createMetrics })
    await send('mailer', calling('sendEmail', mail), { id: 'evt_1', secret: credentials.webhookSecret })
    return get(path, headers)
  }

  it('finds no such route in production without OPERATOR_TOKEN, and an open one in development', async () => {
    expect((await reach(production, { authorization: 'Bearer ' })).status).toBe(404)
    expect((await reach({})).status).toBe(200)
  })

  it.each([
    ['no token', {}],
    ['another token', { authorization: 'Bearer operator-toke' }],
    ['the token by another scheme', { authorization: `Basic ${OPERATOR_TOKEN}` }],
  ])('gets 401 with %s, everywhere', async (_, headers) => {
    for (const variables of [{}, production]) {
      const refused = await reach({ ...variables, OPERATOR_TOKEN }, headers)
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect(await refused.text()).not.toContain(OPERATOR_TOKEN)
    }
  })

  it('is an operator with the token', async () => {
    for (const variables of [{}, production])
      for (const authorization of [`Bearer ${OPERATOR_TOKEN}`, `bearer ${OPERATOR_TOKEN}`])
        expect((await reach({ ...variables, OPERATOR_TOKEN }, { authorization })).status).toBe(200)
  })
})
