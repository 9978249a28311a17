import { memoryStore } from '@org/core'
import { beforeAll, describe, expect, it } from 'vitest'
import { startContract } from './contract.ts'
import { calling, credentials, mail, mailDeployment } from './hosted.ts'

// `send` and `ask` fail if a response is not one of the document's.
let contract: Awaited<ReturnType<typeof startContract>>
beforeAll(async () => {
  contract = await startContract({ environment: { TENANT_MAIL_TOKEN: credentials.tenantMailToken } })
})

const inputsByRoute = {
  mailer: { ...mailDeployment('').inputs, apiToken: '{{env.TENANT_MAIL_TOKEN}}' },
  idp: { serverType: 'shared' },
  'idp-server': { applicationName: 'Shop' },
}
const get = (path: string) => new Request(`http://host.test${path}`)

describe('the response matches the document', () => {
  it.each(Object.entries(inputsByRoute))(
    'to each event of the life of a deployment of /%s/webhook',
    async (route, inputs) => {
      const { world, send } = contract
      const deployment = { id: `dep_${route}` }
      const created = { name: 'DEPLOYMENT_CREATED', deployment: { ...deployment, inputs } }
      const files = route === 'mailer' ? [] : [{}, { file: '.env.local' }, { file: 'middleware.ts' }]
      world.platform.addDeployment({ ...deployment, inputs })
      const events = [
        { name: 'WEBHOOK_CHALLENGE', challenge: 'c_1' },
        { name: 'WEBHOOK_CHALLENGE' },
        created,
        { name: 'DEPLOYMENT_CREATED', deployment },
        { name: 'HEALTH_CHECK', deployment },
        { name: 'METRIC_UPDATE', deployment },
        ...files.map((file) => ({ name: 'DOWNLOAD_STARTED', deployment, download: { id: 'dl_1', ...file } })),
      ]
      for (const event of events) expect(await send(route, event)).toMatchObject({ status: 200 })
      for (const { faults } of [world.mail, world.backend])
        faults.add({ status: 503, headers: { 'retry-after': '600' } })
      const { body } = await send(route, { name: 'HEALTH_CHECK', deployment })
      expect(body).toMatchObject({ status: 'unhealthy', checks: [{ healthy: false }] })
      for (const { faults } of [world.mail, world.backend]) faults.clear()
      expect((await send(route, { name: 'DEPLOYMENT_DELETED', deployment })).body).toEqual({
        status: 'stopped',
      })
      expect((await send(route, created)).body).toMatchObject({ status: 'ignored' })
    },
  )

  it('to each function of the mailer, by each of its names', async () => {
    const { send } = contract
    for (const name of ['sendEmail', 'send'])
      expect(await send('mailer', calling(name, mail))).toMatchObject({ status: 200 })
    for (const name of ['sendEmails', 'sendBatch']) {
      const messages = [mail, { ...mail, to: 'nonsense' }]
      const { body } = await send('mailer', calling(name, { messages }))
      expect(body).toMatchObject({ result: { sent: 1, failed: 1 } })
      const shared = { ...mail, to: ['a@example.com', 'b@example.com'] }
      expect((await send('mailer', calling(name, shared))).body).toMatchObject({ result: { sent: 2 } })
    }
    const stats = calling('getDeliveryStats', { fromDate: '2026-11-01' })
    expect(await send('mailer', stats)).toMatchObject({ status: 200 })
  })

  it.each(['idp', 'idp-server'])('to each function of %s', async (route) => {
    const deployment = { id: `dep_users_${route}`, inputs: { applicationName: 'Users' } }
    contract.world.platform.addDeployment(deployment)
    await contract.send(route, { name: 'DEPLOYMENT_CREATED', deployment })
    const call = async (name: string, given: object) => {
      const sent = { ...calling(name, given), deployment: { id: deployment.id } }
      const { status, body } = await contract.send(route, sent)
      expect({ status, body }).toMatchObject({ status: 200 })
      return Object(body).result
    }
    const user = await call('createUser', {
      emailAddress: [`ada@${route}.example.com`],
      firstName: 'Ada',
      password: 'correct horse battery staple',
      publicMetadata: { plan: 'gold', nested: { list: [1, null] } },
    })
    await call('getUser', { userId: user.id })
    await call('updateUser', { userId: user.id, lastName: 'Lovelace', publicMetadata: { plan: null } })
    await call('createUser', { emailAddress: `bob@${route}.example.com`, skipPasswordRequirement: true })
    const { nextCursor } = await call('listUsers', { limit: 1, orderBy: '-created_at' })
    expect(nextCursor).toEqual(expect.any(String))
    await call('listUsers', { limit: 1, startingAfter: nextCursor })
    await call('countUsers', { query: 'ada' })
    await call('createOrganization', { name: 'Engines', createdBy: user.id, maxAllowedMemberships: 0 })
    await call('listOrganizations', { includeMembersCount: true })
    await call('listOrganizations', {})
    await call('deleteUser', { userId: user.id })
  })

  it('to a redelivery: with the header of a replay, and without sensitive outputs', async () => {
    const deployment = { id: 'dep_again', inputs: { serverType: 'shared' } }
    contract.world.platform.addDeployment({ id: 'dep_again' })
    const event = { name: 'DEPLOYMENT_CREATED', deployment }
    const sendTwice = async (sent: object, id: string) => {
      const first = await contract.send('mailer', sent, { id })
      const second = await contract.send('mailer', sent, { id })
      expect(second.headers.get('idempotency-replayed')).toBe('true')
      return [first, second] as const
    }
    const [first, second] = await sendTwice(event, 'evt_again')
    expect(first.body).toHaveProperty('outputs.apiToken')
    expect(second.body).not.toHaveProperty('outputs.apiToken')
    expect(await sendTwice(calling('sendEmail', mail), 'evt_call')).toMatchObject([{}, { status: 200 }])
    expect(await sendTwice(calling('sendEmail', { to: 'x' }), 'evt_refused')).toMatchObject([
      {},
      { status: 422 },
    ])
  })

  it('to each event that a route ignores, and to those that every route handles', async () => {
    for (const [path, { post }] of Object.entries(contract.document.paths)) {
      for (const { event, handled } of post?.['x-events'] ?? []) {
        if (handled && event !== 'HEALTH_CHECK' && event !== 'WEBHOOK_CHALLENGE') continue
        const { body } = await contract.send(path.split('/')[1] ?? '', {
          name: event,
          deployment: { id: 'dep_1', inputs: { anything: [1] } },
          functionCall: { name: 'whatever' },
        })
        if (!handled) expect(body).toMatchObject({ status: 'ignored' })
      }
    }
  })

  it('to every event and function: none is left out above', () => {
    const described = Object.entries(contract.document.paths).flatMap(([path, { post }]) =>
      (post?.['x-events'] ?? []).flatMap(({ event, function: called }) =>
        called ? [called.name, ...called.aliases].map((name) => `${path} ${name}`) : [`${path} ${event}`],
      ),
    )
    expect(described.filter((each) => !contract.seen.has(each))).toEqual([])
    expect(described.length).toBeGreaterThan(40)
  })

  it.each(['/healthz', '/readyz', '/integrations', '/openapi.json', '/docs', '/metrics'])(
    'to GET %s',
    async (path) => {
      expect(await contract.ask('get', path, get(path))).toMatchObject({ status: 200 })
    },
  )

  it('to GET /readyz of a host that can’t reach its store', async () => {
    const away = { ...memoryStore(), ping: () => Promise.reject(new Error('The store is away.')) }
    const { ask } = await startContract({ store: away })
    expect(await ask('get', '/readyz', get('/readyz'))).toMatchObject({ status: 503 })
  })

  it('to GET /deliveries/{id} of a recorded delivery', async () => {
    await contract.send('mailer', calling('sendEmail', mail), { id: 'evt_recorded' })
    const recorded = await contract.ask('get', '/deliveries/{id}', get('/deliveries/evt_recorded'))
    expect(recorded).toMatchObject({ status: 200 })
  })
})
