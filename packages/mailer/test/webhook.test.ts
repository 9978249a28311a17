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
const own = { fromEmail: 'me@example.com', messageStream: 'broadcast' }

describe('DEPLOYMENT_CREATED', () => {
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
    const inputs = { ...dedicated, ...own, apiToken: ' dedicated-token\n', baseUrl: webhook.url }
    const outputs = { ...own, apiToken: 'dedicated-token', apiUrl: webhook.url }
    expect(await create(inputs, elsewhere)).toMatchObject({ body: { outputs } })
    expect([tokens(), asked]).toEqual([['dedicated-token'], [webhook.url, `${webhook.url}/server`]])
  })

  it.each([
    [{ serverType: 'dedicated' }, 'missing_credentials', 'apiToken', ''],
    // No URL but the host’s own is called unless the host allows it.
    [{ ...dedicated, baseUrl: 'http://127.0.0.1:1' }, 'invalid_inputs', 'baseUrl', ''],
    [{ ...dedicated, fromEmail: 'a@bücher.example' }, 'invalid_inputs', 'fromEmail', 'xn--'],
  ])('refuses the inputs %j', async (inputs, code, name, word) => {
    const message = expect.stringContaining(word)
    const body = { code, retryable: false, errors: [{ path: `deployment.inputs.${name}`, message }] }
    expect(await create(inputs)).toMatchObject({ status: 422, body })
    expect(requests).toEqual([])
  })

  it('adds no path to the base URL of the host unless the host allows it', async () => {
    const apiUrl = `${webhook.url}/other`
    const response = await create({ ...dedicated, baseUrl: apiUrl })
    expect(response).toMatchObject({ status: 422, body: { code: 'invalid_inputs' } })
    const outputs = { apiToken: 'dedicated-token', apiUrl, messageStream: 'outbound' }
    await send({ name: 'HEALTH_CHECK', deployment: { id: 'dep_1', outputs } })
    expect(requests).toEqual([])
  })

  it('sends the value of a variable to no base URL of a deployment that is not listed', async () => {
    const inputs = { ...dedicated, apiToken: '{{env.TENANT_TOKEN}}', baseUrl: webhook.url }
    const outputs = { apiToken: 'dedicated-token', apiUrl: webhook.url, messageStream: 'outbound' }
    for (const [isListed, status] of [
      [false, 422],
      [true, 200],
    ] as const) {
      const egress: Egress = { refuse: () => undefined, isListed: () => isListed, fetch }
      const environment = () => ({ value: 'dedicated-token' })
      const handler = webhook.handler({ environment, baseUrl: 'http://nowhere.invalid', egress })
      const event = { name: 'METRIC_UPDATE', deployment: { id: 'dep_1', inputs, outputs } }
      expect(await deliver(handler, event)).toMatchObject({ status })
      expect(tokens()).toEqual(isListed ? ['dedicated-token'] : [])
    }
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

  it('warns if there is no fromEmail, connects nonetheless, and reads the statistics', async () => {
    const handler = webhook.handler({ shared: { apiToken: 'shared-token', fromEmail: '' } })
    provider.settings.server = { DeliveryType: 'Live', Name: 'x'.repeat(10_000) }
    const { body } = await create({}, handler)
    expect(body).toEqual({ status: 'running', outputs: expect.not.objectContaining({ fromEmail: '' }) })
    expect(warnings()).toEqual([expect.stringContaining('fromEmail')])
    expect(deployment()?.logs[0]?.message).toMatch(/^Connected to the mail server “x{500}”\.$/)
    provider.settings.stats = { Sent: 615, Bounced: 64, SpamComplaints: 10 }
    const metrics = [
      { name: 'emails_sent', value: 615 },
      { name: 'emails_bounced', value: 64 },
      { name: 'bounce_rate', value: 10.407, unit: 'percent' },
      { name: 'spam_complaints', value: 10 },
    ]
    const update = { name: 'METRIC_UPDATE', deployment: { id: 'dep_1' } }
    expect((await deliver(handler, update)).body).toEqual({ metrics })
  })
})

describe('FUNCTION_CALL', () => {
  const mail = { to: 'ann@example.org', subject: 'Hello', textBody: 'private words' }
  const sendEmail = { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: mail } }
  it.each([
    ['outputs', {}, 'broadcast'],
    ['inputs', { serverType: 'dedicated', messageStream: '' }, 'outbound'],
  ])('sends with the %s of the deployment', async (kind, more, messageStream) => {
    const values = { apiToken: 'dedicated-token', ...own, ...more }
    if (kind === 'inputs') platform.addDeployment({ id: 'dep_1', inputs: values })
    const outputs = kind === 'outputs' ? { ...values, apiUrl: webhook.url } : undefined
    await send({ ...sendEmail, deployment: { id: 'dep_1', outputs } })
    expect(provider.messages).toMatchObject([{ from: 'me@example.com', messageStream }])
    expect(tokens()).toEqual(['dedicated-token'])
  })

  it('sends the shared token only to its own provider, whatever base URL an event brings', async () => {
    const inputs = { ...dedicated, ...own, apiToken: 'shared-token', baseUrl: 'http://127.0.0.1:9' }
    for (const given of [{ inputs }, { outputs: { ...inputs, apiUrl: inputs.baseUrl } }])
      await send({ ...sendEmail, deployment: { id: 'dep_1', ...given } })
    expect(provider.messages).toHaveLength(2)
  })

  it('gives each mail the id of its delivery, unless the sender needs the place', async () => {
    const full = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`field-${at}`, 'x']))
    const own = [undefined, { order: '7' }, { delivery: 'mine' }, full]
    for (const [at, metadata] of own.entries()) await call('send', { ...mail, metadata }, `evt_${at}`)
    await call('sendEmails', { messages: [mail] }, 'e'.repeat(100))
    await call('sendBatch', { ...mail, to: ['ann@example.org'] }, 'a\u0085b')
    await call('sendEmail', mail)
    expect(requests.map(({ text }) => [JSON.parse(text)].flat()[0].Metadata)).toEqual([
      ...[{ delivery: 'evt_0' }, { order: '7', delivery: 'evt_1' }, { delivery: 'mine' }, full],
      ...[{ delivery: 'e'.repeat(80) }, undefined, undefined],
    ])
  })

  it.each<[name: string, path: string, reason: string, given: object]>([
    ['sendEmail', 'htmlBody', 'textBody', { to: 'ann@example.org', subject: 'Hello' }],
    ['sendEmail', 'to', 'may have 50 recipients', { ...mail, to: Array(51).fill(mail.to) }],
    ['sendEmails', 'messages', 'required', {}],
    ['sendEmails', 'subject', 'required', { to: ['ann@example.org'], textBody: 'Hi' }],
    ['sendEmails', 'subject', 'beside messages', { messages: [mail], subject: 'Hello' }],
    ['sendEmails', 'messages', '10,000', { messages: Array(10_001).fill(0) }],
  ])('refuses %s with a fault in %s as a whole: %s', async (name, path, reason, given) => {
    const { status, body } = await call(name, given)
    expect([status, body]).toMatchObject([422, { code: 'invalid_arguments', retryable: false }])
    expect(body).toHaveProperty('errors[0]', { path, message: expect.stringContaining(reason) })
    expect(requests).toEqual([])
  })

  it('sends no mail after one of unknown fate while a read gets no answer, or that of a gateway', async () => {
    const gateway = { path: '/server', status: 200, body: { status: 'up' } }
    provider.faults.add({ path: '/email/batch', status: 200, body: [] }, gateway)
    expect((await call('sendEmails', { messages: [mail] })).body).toMatchObject({ result: { unknown: 1 } })
    const held = await call('sendEmail', mail)
    expect(held).toMatchObject({ status: 502, body: { code: 'provider_error', retryable: true } })
    expect(held.headers.get('retry-after')).toBe('1')
    expect(requests.map(({ path }) => path)).toEqual(['/email/batch', '/server'])
  })

  it('sends again after a read, and after a 401, which tells that the token is wrong', async () => {
    provider.faults.add({ path: '/email', status: 502 })
    for (const status of [409, 200]) expect((await call('sendEmail', mail)).status).toBe(status)
    provider.faults.add({ path: '/email', status: 502 })
    await call('sendEmail', mail)
    provider.settings.apiTokens = ['another-token']
    // A webhook has its own status, and not the provider’s.
    const wrong = { status: 422, body: { code: 'credentials_rejected', status: 422 } }
    expect(await call('sendEmail', mail)).toMatchObject(wrong)
  })
})
