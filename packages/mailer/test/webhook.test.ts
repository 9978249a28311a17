import type { Egress } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { runWebhook } from './webhook-support.ts'

const webhook = runWebhook()
const { provider, requests, platform, send, call, tokens } = webhook

const deployment = () => platform.deployments.get('dep_1')
const warnings = () => deployment()?.logs.flatMap(({ level, message }) => (level === 'info' ? [] : [message]))

/** Creates a deployment that the platform knows. */
function create(inputs: Record<string, unknown> = {}, handler = webhook.handler()) {
  platform.addDeployment({ id: 'dep_1', inputs })
  return deliver(handler, { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } })
}

const dedicated = { serverType: 'dedicated', apiToken: 'dedicated-token' }
const refused = (code: string, path: string) => ({
  status: 422,
  body: { code, retryable: false, errors: [{ path: `deployment.inputs.${path}` }] },
})

describe('DEPLOYMENT_CREATED', () => {
  const own = { fromEmail: 'me@example.com', messageStream: 'broadcast' }
  it.each([
    [{ serverType: '', apiToken: null, fromEmail: ' ', baseUrl: '' }, {}],
    [own, own],
  ])('connects %j to the shared server, and publishes the outputs', async (inputs, changed) => {
    const connection = { apiToken: 'shared-token', apiUrl: webhook.url, messageStream: 'outbound' }
    const outputs = { ...connection, fromEmail: 'Shop <shop@example.com>', ...changed }
    expect(await create({ ...inputs })).toMatchObject({ status: 200, body: { status: 'running', outputs } })
    expect(deployment()).toMatchObject({ outputs, sensitive: ['apiToken'], status: 'running' })
    expect([requests.map(({ path }) => path), tokens()]).toEqual([['/server'], ['shared-token']])
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
    const fromEmail = 'Me <me@example.com>'
    const inputs = { ...dedicated, fromEmail, apiToken: ' dedicated-token\n', baseUrl: webhook.url }
    const outputs = { fromEmail, apiToken: 'dedicated-token', apiUrl: webhook.url, messageStream: 'outbound' }
    expect(await create(inputs, elsewhere)).toMatchObject({ body: { outputs } })
    expect([tokens(), asked]).toEqual([['dedicated-token'], [webhook.url, `${webhook.url}/server`]])
  })

  it.each([
    [{ serverType: 'dedicated' }, 'missing_credentials', 'apiToken'],
    [{ fromEmail: 'nobody' }, 'invalid_inputs', 'fromEmail'],
    // No server but the host’s own is called unless the host allows it.
    [{ ...dedicated, baseUrl: 'http://127.0.0.1:1' }, 'invalid_inputs', 'baseUrl'],
    [{ ...dedicated, baseUrl: 'https://mail.example.com/?path=' }, 'invalid_inputs', 'baseUrl'],
  ])('refuses the inputs %j', async (inputs, code, path) => {
    expect(await create(inputs)).toMatchObject(refused(code, path))
    expect(requests).toEqual([])
  })

  it('adds no path to the base URL of the host unless the host allows it', async () => {
    const apiUrl = `${webhook.url}/other`
    const response = await create({ ...dedicated, baseUrl: apiUrl })
    expect(response).toMatchObject(refused('invalid_inputs', 'baseUrl'))
    const outputs = { apiToken: 'dedicated-token', apiUrl, messageStream: 'outbound' }
    await send({ name: 'HEALTH_CHECK', deployment: { id: 'dep_1', outputs } })
    expect(requests).toEqual([])
  })

  it('sends the value of a variable to no base URL of a deployment that is not listed', async () => {
    const inputs = { ...dedicated, apiToken: '{{env.TENANT_TOKEN}}', baseUrl: webhook.url }
    const outputs = { apiToken: 'dedicated-token', apiUrl: webhook.url, messageStream: 'outbound' }
    const reach = (isListed: boolean) => {
      const egress: Egress = { refuse: () => undefined, isListed: () => isListed, fetch }
      const environment = () => ({ value: 'dedicated-token' })
      const handler = webhook.handler({ environment, baseUrl: 'http://nowhere.invalid', egress })
      return deliver(handler, { name: 'METRIC_UPDATE', deployment: { id: 'dep_1', inputs, outputs } })
    }
    expect(await reach(false)).toMatchObject(refused('invalid_inputs', 'apiToken'))
    expect(tokens()).toEqual([])
    expect(await reach(true)).toMatchObject({ status: 200 })
    expect(tokens()).toEqual(['dedicated-token'])
  })

  it('names the variable that a host without a shared server lacks', async () => {
    const { status, body } = await create({}, webhook.handler({ shared: { fromEmail: 'shop@example.com' } }))
    const detail = expect.stringContaining('MAILER_SHARED_API_TOKEN')
    expect([status, body]).toMatchObject([422, { code: 'missing_credentials', detail }])
  })

  it('sends the shared token to its own provider alone, whatever a shared deployment enters', async () => {
    const { body } = await create({ apiToken: '{{env.MISSING}}', baseUrl: 'https://mail.elsewhere.example' })
    expect(body).toMatchObject({ outputs: { apiToken: 'shared-token', apiUrl: webhook.url } })
    expect(tokens()).toEqual(['shared-token'])
    expect(warnings()).toEqual([
      'The input “apiToken” has no effect: it goes with serverType dedicated.',
      'The input “baseUrl” has no effect: it goes with serverType dedicated.',
      expect.stringContaining('sandbox'),
    ])
  })

  it('warns if there is no fromEmail, and connects nonetheless', async () => {
    const handler = webhook.handler({ shared: { apiToken: 'shared-token', fromEmail: '' } })
    provider.settings.server = { DeliveryType: 'Live' }
    const { status, body } = await create({}, handler)
    expect([status, body]).toMatchObject([200, { status: 'running' }])
    expect(body).not.toHaveProperty('outputs.fromEmail')
    expect(warnings()).toEqual([expect.stringContaining('fromEmail')])
    const stats = { name: 'METRIC_UPDATE', deployment: { id: 'dep_1' } }
    expect((await deliver(handler, stats)).status).toBe(200)
  })
})

it('returns the provider’s totals for a METRIC_UPDATE', async () => {
  provider.settings.stats = { Sent: 615, Bounced: 64, SpamComplaints: 10 }
  const metrics = [
    { name: 'emails_sent', value: 615 },
    { name: 'emails_bounced', value: 64 },
    { name: 'bounce_rate', value: 10.407, unit: 'percent' },
    { name: 'spam_complaints', value: 10 },
  ]
  expect((await send({ name: 'METRIC_UPDATE' })).body).toEqual({ metrics })
})

describe('while the provider is away, the host', () => {
  const mail = { to: 'ann@example.org', subject: 'Hi', textBody: 'private words' }
  const page = { path: '/email', status: 502 }
  const stranger = { path: '/email', status: 200, body: { MessageID: 'm_1', To: 'x@y.z' } }
  const tooShort = { path: '/email/batch', status: 200, body: [] }

  it.each([
    ['a page with 502', page, 'sendEmail', mail],
    ['an answer about somebody else', stranger, 'sendEmail', mail],
    ['a list of answers of another length', tooShort, 'sendEmails', { messages: [mail] }],
  ])('sends no other mail after %s, until a read succeeds', async (_, fault, name, given) => {
    provider.faults.add(fault, { path: '/server', times: 9, status: 502 })
    const { body: first } = await call(name, given)
    const isUnknown = { sendEmail: { code: 'outcome_unknown' }, sendEmails: { result: { unknown: 1 } } }
    expect(first).toMatchObject(name === 'sendEmail' ? isUnknown.sendEmail : isUnknown.sendEmails)
    const { status, body, headers } = await call('sendEmail', mail, 'evt_1')
    expect([status, body]).toMatchObject([502, { code: 'provider_error', retryable: true }])
    expect(headers.get('retry-after')).toBe('1')
    expect(requests.filter(({ method }) => method === 'GET')).toHaveLength(1)
  })

  it('sends again after a read, and a page of a gateway is no answer to that', async () => {
    provider.faults.add(page, { path: '/server', skip: 1, status: 200, body: { status: 'up' } })
    expect((await call('sendEmail', mail)).status).toBe(409)
    expect((await call('sendEmail', mail)).status).toBe(200)
    provider.faults.add(page)
    await call('sendEmail', mail)
    expect((await call('sendEmail', mail)).body).toMatchObject({ code: 'provider_error' })
  })

  it('opens the gate by a 401, and tells that the token is wrong', async () => {
    provider.faults.add(page)
    await call('sendEmail', mail)
    provider.settings.apiTokens = ['another-token']
    // A webhook has its own status, and not the provider’s.
    const wrong = { status: 422, body: { code: 'credentials_rejected', status: 422 } }
    expect(await call('sendEmail', mail)).toMatchObject(wrong)
  })
})
