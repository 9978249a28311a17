import { memoryStore, sign } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { createWorld, credentials } from './hosted.ts'
import { calling, mail, mailDeployment } from './measured.ts'

const secret = credentials.webhookSecret
const signed = { PLATFORM_WEBHOOK_SECRET: secret, CORS_ORIGINS: 'https://app.example.com' }
const signFor = (id: string, options: { timestamp?: Date; secret?: string; body?: string } = {}) =>
  sign({ secret, id, body: '', ...options })

/** A host, and who asks it about deliveries. */
function startAsked(variables: Record<string, string> = signed, store = memoryStore()) {
  const world = createWorld()
  const host = world.start({ variables, store })
  return {
    world,
    send: (route: string, event: unknown, id: string) =>
      deliver(host.fetch, event, { id, secret, url: `http://host.test/${route}/webhook` }),
    async ask(path: string, headers: Record<string, string> = {}) {
      const response = await host.fetch(new Request(`http://host.test/deliveries/${path}`, { headers }))
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
  }
}

describe('GET /deliveries/{id}', () => {
  it('says what became of a call, and nothing of what was in it', async () => {
    const { send, ask, world } = startAsked()
    await send('mailer', calling('sendEmail', mail), 'evt_1')
    const { status, headers, body } = await ask('evt_1', await signFor('evt_1'))
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toMatchObject({
      id: 'evt_1',
      records: [
        { route: 'mailer', subject: 'call', state: 'done', claims: 1, answer: { status: 200 }, steps: [] },
      ],
    })
    expect(JSON.stringify(body)).not.toMatch(/ada@|Hi|sealed:/)
    expect(JSON.stringify(body)).not.toContain(world.mail.messages[0]?.messageId)
  })

  it('says which application a deployment has, where the deployment is named', async () => {
    const { send, ask, world } = startAsked()
    const inputs = { applicationName: 'Shop' }
    world.platform.addDeployment({ id: 'dep_1', inputs })
    await send('idp-server', { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }, 'evt_1')
    const headers = await signFor('evt_1')
    expect(await ask('evt_1', headers)).toMatchObject({ status: 404, body: { detail: /\?deployment=/ } })
    const [applicationId] = world.workspace.applications.keys()
    const { body } = await ask('evt_1?deployment=dep_1', headers)
    expect(body.records).toMatchObject([{ route: 'idp-server', deployment: 'dep_1', state: 'done' }])
    const step = { name: 'applicationId', state: 'recorded', value: applicationId }
    expect(body.records[0].steps).toContainEqual(step)
    expect(JSON.stringify(body)).not.toMatch(/sk_|pk_|Shop/)
  })

  it('says of a batch which calls are answered, and which one is in flight', async () => {
    const store = memoryStore()
    const seen: { steps: { state: string }[] }[] = []
    // One write after another, and a look at the record after each.
    let turn: Promise<unknown> = Promise.resolve()
    const { send, ask } = startAsked(signed, {
      ...store,
      advance(lease, steps) {
        const written = turn.then(async () => {
          const kept = await store.advance(lease, steps)
          const { body } = await ask('evt_1', await signFor('evt_1'))
          expect(JSON.stringify(body)).not.toMatch(/ada@|sealed:/)
          seen.push(...body.records)
          return kept
        })
        turn = written
        return written
      },
    })
    await send('mailer', calling('sendEmails', { messages: Array(501).fill(mail) }), 'evt_1')
    const states = seen.map(({ steps }) => steps.map(({ state }) => state).sort())
    expect(states.slice(2)).toEqual([
      ['begun', 'recorded'],
      ['recorded', 'recorded'],
    ])
    expect(seen[2]).toMatchObject({
      state: 'in_progress',
      steps: [{ name: 'call 0' }, { name: 'call 1' }],
      redelivery: expect.stringContaining('409 (delivery_in_progress)'),
    })
  })

  it('knows nothing of what has no effect, and says why', async () => {
    const { send, ask } = startAsked()
    await send('mailer', { name: 'HEALTH_CHECK' }, 'evt_1')
    const { status, headers, body } = await ask('evt_1', await signFor('evt_1'))
    expect({ status, body }).toMatchObject({
      status: 404,
      body: { code: 'not_found', detail: expect.stringContaining('Only events with an effect are recorded') },
    })
    expect(headers.get('content-type')).toBe('application/problem+json')
  })

  it('finds an id whatever is in it', async () => {
    const { send, ask } = startAsked()
    const id = 'a/b?c=%20 #d'
    await send('mailer', calling('sendEmail', mail), id)
    expect(await ask(encodeURIComponent(id), await signFor(id))).toMatchObject({ status: 200, body: { id } })
    const long = 'x'.repeat(201)
    expect(await ask(long, await signFor(long))).toMatchObject({ status: 404 })
  })

  it('is 503 while the store can’t be reached', async () => {
    const away = { ...memoryStore(), read: () => Promise.reject(new Error('away')) }
    const { status, headers, body } = await startAsked(signed, away).ask('evt_1', await signFor('evt_1'))
    expect({ status, body }).toMatchObject({ status: 503, body: { code: 'overloaded' } })
    expect(headers.get('retry-after')).toBe('5')
  })
})

describe('who may ask', () => {
  it.each([
    ['nobody signed', async () => ({})],
    ['another secret signed', () => signFor('evt_1', { secret: `whsec_${btoa('another secret')}` })],
    ['was signed an hour ago', () => signFor('evt_1', { timestamp: new Date(Date.now() - 3_600_000) })],
    ['was signed for another delivery', () => signFor('evt_2')],
    ['was signed with a body', () => signFor('evt_1', { body: '{"name":"HEALTH_CHECK"}' })],
  ])('what %s is refused, before the store is asked', async (_, headers) => {
    const read = () => Promise.reject(new Error('The store was asked.'))
    const { ask } = startAsked(signed, { ...memoryStore(), read })
    expect(await ask('evt_1', await headers())).toMatchObject({
      status: 401,
      body: { code: 'invalid_signature' },
    })
  })

  it('one signature opens nothing of what other deliveries did with a deployment', async () => {
    const { send, ask, world } = startAsked()
    world.platform.addDeployment(mailDeployment('dep_1'))
    const event = { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_1') }
    await send('mailer', event, 'evt_1')
    const stranger = await signFor('evt_2')
    expect(await ask('evt_2?deployment=dep_1', stranger)).toMatchObject({ status: 404 })
    expect(await ask('evt_1?deployment=dep_1', await signFor('evt_1'))).toMatchObject({ status: 200 })
  })

  it('a signature for asking is none for an event', async () => {
    const { world } = startAsked()
    const host = world.start({ variables: signed })
    const headers = { ...(await signFor('evt_1')), 'content-type': 'application/json' }
    const empty = new Request('http://host.test/mailer/webhook', { method: 'POST', headers })
    expect((await host.fetch(empty)).status).toBe(400)
    expect(world.sent).toEqual([])
  })

  it('everyone may where the host holds no secret, but no page of any origin', async () => {
    const { ask, send } = startAsked({ CORS_ORIGINS: 'https://app.example.com' })
    await send('mailer', calling('sendEmail', mail), 'evt_1')
    const { status, headers } = await ask('evt_1', { origin: 'https://app.example.com' })
    expect(status).toBe(200)
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })
})
