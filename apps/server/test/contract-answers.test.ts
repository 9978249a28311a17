import { beforeAll, describe, expect, it } from 'vitest'
import { startContract } from './contract.ts'
import { credentials } from './hosted.ts'
import { calling, mail as message } from './measured.ts'

const environment = { TENANT_MAIL_TOKEN: credentials.tenantMailToken }
let contract: Awaited<ReturnType<typeof startContract>>

beforeAll(async () => {
  contract = await startContract({ environment })
})

const routes = {
  mailer: {
    serverType: 'dedicated',
    apiToken: '{{env.TENANT_MAIL_TOKEN}}',
    fromEmail: 'Shop <shop@example.com>',
  },
  idp: { serverType: 'shared' },
  'idp-server': { applicationName: 'Shop' },
}

describe.each(Object.entries(routes))('the responses of /%s/webhook', (route, inputs) => {
  const deployment = { id: `dep_${route}` }
  const files = route === 'mailer' ? [] : ['.env.local', 'middleware.ts']

  it('match the document for each event of a deployment’s life', async () => {
    contract.world.platform.addDeployment({ ...deployment, inputs })
    const sent = [
      { name: 'WEBHOOK_CHALLENGE', challenge: 'c_1' },
      { name: 'WEBHOOK_CHALLENGE' },
      { name: 'DEPLOYMENT_CREATED', deployment: { ...deployment, inputs } },
      { name: 'DEPLOYMENT_CREATED', deployment },
      { name: 'HEALTH_CHECK', deployment },
      { name: 'METRIC_UPDATE', deployment },
      { name: 'DOWNLOAD_STARTED', deployment },
      ...files.map((file) => ({ name: 'DOWNLOAD_STARTED', deployment, download: { id: 'dl_1', file } })),
    ]
    for (const event of sent) {
      expect(await contract.send(route, event)).toMatchObject({ status: 200 })
    }
  })

  it('match the document while the provider is down', async () => {
    const { mail, backend } = contract.world
    for (const faults of [mail.faults, backend.faults])
      faults.add({ status: 503, headers: { 'retry-after': '600' }, times: 9 })
    const answer = await contract.send(route, { name: 'HEALTH_CHECK', deployment })
    expect(answer.body).toMatchObject({ status: 'unhealthy', checks: [{ healthy: false }] })
    for (const faults of [mail.faults, backend.faults]) faults.clear()
  })
})

it('the responses of each mailer function match the document, under each name', async () => {
  const bounced = { ...message, to: 'nonsense' }
  for (const name of ['sendEmail', 'send'])
    expect(await contract.send('mailer', calling(name, message))).toMatchObject({ status: 200 })
  for (const name of ['sendEmails', 'sendBatch']) {
    const { body } = await contract.send('mailer', calling(name, { messages: [message, bounced] }))
    expect(body).toMatchObject({ result: { sent: 1, failed: 1 } })
    const shared = { to: ['a@example.com', 'b@example.com'], subject: 'Hi', body: 'x' }
    expect(await contract.send('mailer', calling(name, shared))).toMatchObject({
      body: { result: { sent: 2 } },
    })
  }
  expect(
    await contract.send('mailer', calling('getDeliveryStats', { fromDate: '2026-11-01' })),
  ).toMatchObject({ status: 200 })
})

it.each(['idp', 'idp-server'])('the responses of each function of %s match the document', async (route) => {
  const deployment = { id: `dep_${route}` }
  const call = async (name: string, given: object) => {
    const answer = await contract.send(route, { ...calling(name, given), deployment })
    expect(answer).toMatchObject({ status: 200 })
    return Object(answer.body).result
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

describe('a redelivery', () => {
  it('is answered with the header of a replay and without secrets', async () => {
    const event = {
      name: 'DEPLOYMENT_CREATED',
      deployment: { id: 'dep_again', inputs: { serverType: 'shared' } },
    }
    contract.world.platform.addDeployment({ id: 'dep_again' })
    const delivery = { id: 'evt_again' }
    expect((await contract.send('mailer', event, delivery)).body).toHaveProperty('outputs.apiToken')
    const again = await contract.send('mailer', event, delivery)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.body).not.toHaveProperty('outputs.apiToken')
  })

  it('of a call, accepted or refused, is answered with the header of a replay', async () => {
    const call = calling('sendEmail', message)
    const refused = { ...call, functionCall: { ...call.functionCall, arguments: { to: 'x' } } }
    for (const [id, event, status] of [
      ['evt_call', call, 200],
      ['evt_refused', refused, 422],
    ] as const) {
      await contract.send('mailer', event, { id })
      const again = await contract.send('mailer', event, { id })
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([status, 'true'])
    }
  })
})

it('a creation after the end of a deployment is ignored, as the document says', async () => {
  for (const [route, inputs] of Object.entries(routes)) {
    const deployment = { id: `dep_${route}` }
    expect((await contract.send(route, { name: 'DEPLOYMENT_DELETED', deployment })).body).toEqual({
      status: 'stopped',
    })
    const late = { name: 'DEPLOYMENT_CREATED', deployment: { ...deployment, inputs } }
    expect((await contract.send(route, late)).body).toMatchObject({ status: 'ignored' })
  }
})

it('an event that a route does not handle is ignored, as the document says', async () => {
  const { paths } = contract.document
  for (const [path, { post }] of Object.entries(paths)) {
    for (const { event, handled } of post?.['x-events'] ?? []) {
      if (handled) continue
      const answer = await contract.send(path.split('/')[1] ?? '', {
        name: event,
        deployment: { id: 'dep_1', inputs: { anything: [1] } },
        functionCall: { name: 'whatever' },
      })
      expect(answer.body).toMatchObject({ status: 'ignored' })
    }
  }
  expect(await contract.send('auth', { name: 'HEALTH_CHECK' })).toMatchObject({ body: { status: 'healthy' } })
  expect(await contract.send('auth', { name: 'WEBHOOK_CHALLENGE', challenge: 'c' })).toMatchObject({
    status: 200,
  })
})

it('this suite covers every event and function of the document', () => {
  const said = Object.entries(contract.document.paths).flatMap(([path, { post }]) =>
    (post?.['x-events'] ?? []).flatMap(({ event, function: called }) => {
      return called ? [called.name, ...called.aliases].map((name) => `${path} ${name}`) : [`${path} ${event}`]
    }),
  )
  expect(said.filter((each) => !contract.seen.has(each))).toEqual([])
  expect(said.length).toBeGreaterThan(40)
})
