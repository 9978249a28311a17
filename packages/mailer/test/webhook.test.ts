import type { Egress } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { runWebhook } from './webhook-support.ts'

const webhook = runWebhook()
const { provider, requests, platform, send, call } = webhook

const tokens = () => requests.map(({ headers }) => headers.get('x-mailer-server-token'))
const deployment = () => platform.deployments.get('dep_1')
const warnings = () => deployment()?.logs.flatMap(({ level, message }) => (level === 'info' ? [] : [message]))

/** Creates a deployment that the platform knows. */
function create(inputs: Record<string, unknown> = {}, handler = webhook.handler()) {
  platform.addDeployment({ id: 'dep_1', inputs })
  return deliver(handler, { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } })
}

const dedicated = { serverType: 'dedicated', apiToken: 'dedicated-token' }
const refused = (code: string, ...paths: string[]) => ({
  status: 422,
  body: { code, retryable: false, errors: paths.map((path) => ({ path: `deployment.inputs.${path}` })) },
})

describe('DEPLOYMENT_CREATED', () => {
  it.each<[object, object]>([
    [{}, {}],
    [{ serverType: '', apiToken: null, fromEmail: ' ', baseUrl: '' }, {}],
    [
      { fromEmail: 'me@example.com', messageStream: 'broadcast' },
      { fromEmail: 'me@example.com', messageStream: 'broadcast' },
    ],
  ])('connects %j to the shared server, and publishes the outputs', async (inputs, own) => {
    const connection = { apiToken: 'shared-token', apiUrl: webhook.url, messageStream: 'outbound' }
    const outputs = { ...connection, fromEmail: 'Shop <shop@example.com>', ...own }
    expect(await create({ ...inputs })).toMatchObject({ status: 200, body: { status: 'running', outputs } })
    expect(deployment()).toMatchObject({ outputs, sensitive: ['apiToken'], status: 'running' })
    expect(requests.map(({ path }) => path)).toEqual(['/server'])
    expect(tokens()).toEqual(['shared-token'])
  })

  it('connects a dedicated server with its own token, sender and base URL, by the egress rule', async () => {
    const asked: string[] = []
    const egress: Egress = {
      refuse: (url) => void asked.push(url.origin),
      fetch: (input, init) => {
        asked.push(String(input))
        return fetch(input, init)
      },
    }
    const elsewhere = webhook.handler({ shared: undefined, baseUrl: 'http://nowhere.invalid', egress })
    const own = { apiToken: 'dedicated-token', fromEmail: 'Me <me@example.com>' }
    const inputs = { ...dedicated, ...own, apiToken: ' dedicated-token\n', baseUrl: webhook.url }
    const outputs = { ...own, apiUrl: webhook.url, messageStream: 'outbound' }
    expect(await create(inputs, elsewhere)).toMatchObject({ body: { outputs } })
    expect(tokens()).toEqual(['dedicated-token'])
    expect(asked).toEqual([webhook.url, `${webhook.url}/server`])
  })

  it.each(['http://127.0.0.1:1', 'https://169.254.169.254/', 'https://mail.example.com/?path='])(
    'does not call %s unless the host allows it',
    async (baseUrl) => {
      expect(await create({ ...dedicated, baseUrl })).toMatchObject(refused('invalid_inputs', 'baseUrl'))
    },
  )

  it.each(['/other', '/?x=1'])('adds no %s to the base URL of the host unasked', async (path) => {
    const response = await create({ ...dedicated, baseUrl: webhook.url + path })
    expect(response).toMatchObject(refused('invalid_inputs', 'baseUrl'))
    const outputs = { apiToken: 'dedicated-token', apiUrl: webhook.url + path, messageStream: 'outbound' }
    const event = { name: 'HEALTH_CHECK', deployment: { id: 'dep_1', outputs } }
    await deliver(webhook.handler(), event)
    expect(requests).toEqual([])
  })

  it('sends the value of a variable to no base URL of a deployment that is not listed', async () => {
    const inputs = { ...dedicated, apiToken: '{{env.TENANT_TOKEN}}', baseUrl: webhook.url }
    const outputs = { apiToken: 'dedicated-token', apiUrl: webhook.url, messageStream: 'outbound' }
    const functionCall = { name: 'getDeliveryStats' }
    const reach = (isListed: boolean) => {
      const egress: Egress = { refuse: () => undefined, isListed: () => isListed, fetch }
      const environment = () => ({ value: 'dedicated-token' })
      const handler = webhook.handler({ environment, baseUrl: 'http://nowhere.invalid', egress })
      return deliver(handler, {
        name: 'FUNCTION_CALL',
        deployment: { id: 'dep_1', inputs, outputs },
        functionCall,
      })
    }
    expect(await reach(false)).toMatchObject(refused('invalid_inputs', 'apiToken'))
    expect(tokens()).toEqual([])
    expect(await reach(true)).toMatchObject({ status: 200 })
    expect(tokens()).toEqual(['dedicated-token'])
  })

  it.each([
    [{ serverType: 'dedicated' }, 'missing_credentials', 'apiToken'],
    [{ fromEmail: 'nobody' }, 'invalid_inputs', 'fromEmail'],
    [{ serverType: 'own' }, 'invalid_inputs', 'serverType'],
  ])('refuses the inputs %j', async (inputs, code, path) => {
    expect(await create(inputs)).toMatchObject(refused(code, path))
    expect(requests).toEqual([])
  })

  it('names the variable that a host without a shared server lacks', async () => {
    const { status, body } = await create({}, webhook.handler({ shared: { fromEmail: 'shop@example.com' } }))
    const problem = {
      code: 'missing_credentials',
      detail: expect.stringContaining('MAILER_SHARED_API_TOKEN'),
    }
    expect([status, body]).toMatchObject([422, problem])
  })

  it.each(['https://mail.elsewhere.example', 'nonsense'])(
    'sends the shared token to its own provider alone, whatever a shared deployment enters: %s',
    async (baseUrl) => {
      const { body } = await create({ apiToken: '{{env.MISSING}}', baseUrl })
      expect(body).toMatchObject({ outputs: { apiToken: 'shared-token', apiUrl: webhook.url } })
      expect(tokens()).toEqual(['shared-token'])
      expect(warnings()).toEqual([
        'The input “apiToken” has no effect: it goes with serverType dedicated.',
        'The input “baseUrl” has no effect: it goes with serverType dedicated.',
        expect.stringContaining('sandbox'),
      ])
    },
  )

  it('warns if there is no fromEmail, and connects nonetheless', async () => {
    const handler = webhook.handler({ shared: { apiToken: 'shared-token', fromEmail: '' } })
    provider.settings.server = { DeliveryType: 'Live' }
    const { status, body } = await create({}, handler)
    expect([status, body]).toMatchObject([200, { status: 'running' }])
    expect(body).not.toHaveProperty('outputs.fromEmail')
    expect(warnings()).toEqual([expect.stringContaining('fromEmail')])
    const functionCall = { name: 'getDeliveryStats' }
    const stats = { name: 'FUNCTION_CALL', deployment: { id: 'dep_1' }, functionCall }
    expect((await deliver(handler, stats)).status).toBe(200)
  })

  it('tells nobody the shared token, also if the provider repeats it', async () => {
    provider.settings.server = { Name: 'Server of shared-token' }
    await create()
    expect(deployment()?.logs[0]?.message).toMatch(/Server of (?!shared-token)/)
  })
})

it('probes with the shared token in a HEALTH_CHECK without a deployment, and says why it is unhealthy', async () => {
  const checks = [{ name: 'provider', healthy: true, latencyMs: expect.any(Number) }]
  expect((await send({ name: 'HEALTH_CHECK' })).body).toEqual({ status: 'healthy', checks })
  expect([requests.map(({ path }) => path), tokens()]).toEqual([['/server'], ['shared-token']])
  provider.settings.apiTokens = []
  const message = expect.stringContaining('does not accept the token')
  const unhealthy = { status: 'unhealthy', checks: [{ name: 'provider', healthy: false, message }] }
  expect(await send({ name: 'HEALTH_CHECK' })).toMatchObject({ status: 200, body: unhealthy })
})

it('returns the provider’s totals for a METRIC_UPDATE', async () => {
  await create()
  provider.settings.stats = { Sent: 615, Bounced: 64, SpamComplaints: 10 }
  const metrics = [
    { name: 'emails_sent', value: 615 },
    { name: 'emails_bounced', value: 64 },
    { name: 'bounce_rate', value: 10.407, unit: 'percent' },
    { name: 'spam_complaints', value: 10 },
  ]
  const { body } = await send({ name: 'METRIC_UPDATE', deployment: { id: 'dep_1' } })
  expect(body).toEqual({ metrics })
})

describe('while the provider is away, the host', () => {
  const mail = (index: number) => ({ to: `a${index}@example.org`, subject: 'Hi', textBody: 'private words' })
  const page = { path: '/email', status: 502 }

  it.each([
    ['a page with 502', page],
    [
      'an answer about somebody else',
      { path: '/email', status: 200, body: { MessageID: 'm_1', To: 'x@y.z' } },
    ],
    ['a batch that gets a page', { path: '/email/batch', status: 502 }],
    ['a batch that gets no list', { path: '/email/batch', status: 200, body: {} }],
    ['a batch that gets a list of another length', { path: '/email/batch', status: 200, body: [] }],
  ])('sends no other mail after %s, until a read succeeds', async (_, fault) => {
    provider.faults.add(fault, { path: '/server', times: 9, status: 502 })
    const isBatch = fault.path === '/email/batch'
    const first = isBatch
      ? await call('sendEmails', { messages: [mail(0)] })
      : await call('sendEmail', mail(0))
    expect(first.body).toMatchObject(isBatch ? { result: { unknown: 1 } } : { code: 'outcome_unknown' })
    const { status, body, headers } = await call('sendEmail', mail(1), 'evt_1')
    expect([status, body]).toMatchObject([502, { code: 'provider_error', retryable: true }])
    expect(headers.get('retry-after')).toBe('1')
    expect(requests.filter(({ method }) => method === 'GET')).toHaveLength(1)
  })

  it('sends again after a read, and a page of a gateway is no answer to that', async () => {
    provider.faults.add({ ...page }, { path: '/server', skip: 1, status: 200, body: { status: 'up' } })
    expect((await call('sendEmail', mail(1))).status).toBe(409)
    expect((await call('sendEmail', mail(2))).status).toBe(200)
    provider.faults.add({ ...page })
    await call('sendEmail', mail(3))
    expect((await call('sendEmail', mail(4))).body).toMatchObject({ code: 'provider_error' })
  })

  it('opens the gate by a 401, and tells that the token is wrong', async () => {
    provider.faults.add(page)
    await call('sendEmail', mail(1))
    provider.settings.apiTokens = ['another-token']
    // A webhook has its own status, and not the provider’s.
    const refused = { status: 422, body: { code: 'credentials_rejected', status: 422 } }
    expect(await call('sendEmail', mail(2))).toMatchObject(refused)
  })
})
