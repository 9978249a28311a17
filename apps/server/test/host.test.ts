import { memoryStore } from '@org/core'
import { createPlatformEmulator, deliver } from '@org/core/testing'
import { createMailProvider } from '@org/mailer/testing'
import { describe, expect, it } from 'vitest'
import { createHost, readConfig } from '../src/host.ts'
import { integrations as hosted } from '../src/integrations.ts'

function startHost(environment: Record<string, string> = {}, store = memoryStore()) {
  const provider = createMailProvider({ apiTokens: ['shared-token'] })
  const platform = createPlatformEmulator()
  const lines: string[] = []
  const host = createHost(
    readConfig({
      PLATFORM_API_URL: 'http://platform.test',
      MAILER_API_BASE: 'http://mail.test',
      MAILER_SHARED_API_TOKEN: 'shared-token',
      MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
      ...environment,
    }),
    {
      store,
      logger: (level, message, facts) => lines.push(JSON.stringify({ level, message, ...facts })),
      fetch: (input, init) => {
        const request = new Request(input, init)
        return new URL(request.url).host === 'mail.test' ? provider.fetch(request) : platform.fetch(request)
      },
    },
  )
  const get = (path: string, headers: Record<string, string> = {}) =>
    host.fetch(new Request(`http://host.test${path}`, { headers }))
  const post = (path: string, event: unknown, options = {}) =>
    deliver(host.fetch, event, { url: `http://host.test${path}`, ...options })
  return { host, provider, platform, lines, get, post }
}

const sendEmail = {
  name: 'FUNCTION_CALL',
  functionCall: { name: 'sendEmail', arguments: { to: 'a@example.com', subject: 'Hi', textBody: 'x' } },
}

describe('the host', () => {
  it('answers the minimal call of the specification with the shared mail server', async () => {
    const { post, provider } = startHost()
    const { status, body } = await post('/mailer/webhook', sendEmail)
    expect(status).toBe(200)
    expect(body).toMatchObject({ result: { messageId: provider.messages[0]?.messageId, rejected: [] } })
    expect(provider.messages).toMatchObject([{ from: 'shop@example.com', to: ['a@example.com'] }])
  })

  it('gives each integration one route, and the placeholder its own', async () => {
    const { post } = startHost()
    expect(await post('/auth/webhook', { name: 'WEBHOOK_CHALLENGE', challenge: 'c_1' })).toMatchObject({
      status: 200,
      body: { challenge: 'c_1' },
    })
    expect(await post('/auth/webhook', { name: 'HEALTH_CHECK' })).toMatchObject({
      body: { status: 'healthy', checks: [] },
    })
    expect(
      await post('/auth/webhook', { name: 'DEPLOYMENT_CREATED', deployment: { id: 'd' } }),
    ).toMatchObject({
      status: 200,
      body: { status: 'ignored' },
    })
  })

  it('answers an unknown route with a problem that lists the webhooks', async () => {
    const response = await startHost().get('/nowhere')
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await response.json()).toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining('POST /mailer/webhook'),
    })
  })

  it('answers another method than POST on a webhook with 405', async () => {
    const response = await startHost().get('/mailer/webhook')
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  })

  it('takes no new event once it drains, and says so on /readyz while /healthz stays alive', async () => {
    const { host, get, post } = startHost()
    host.drain()
    const answer = await post('/mailer/webhook', sendEmail)
    expect(answer).toMatchObject({ status: 503, body: { code: 'shutting_down', retryable: true } })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect((await get('/readyz')).status).toBe(503)
    expect((await get('/healthz')).status).toBe(200)
  })

  it('is not ready while its store can’t be reached', async () => {
    const broken = { ...memoryStore(), ping: () => Promise.reject(new Error('no store')) }
    expect((await startHost({}, broken).get('/readyz')).status).toBe(503)
    expect((await startHost().get('/readyz')).status).toBe(200)
  })

  it('opens what is read to the allowed origins, and webhooks to none', async () => {
    const { host, get } = startHost({ CORS_ORIGINS: 'https://app.example.com' })
    const origin = { origin: 'https://app.example.com' }
    const allowed = (response: Response) => response.headers.get('access-control-allow-origin')
    expect(allowed(await get('/integrations', origin))).toBe('https://app.example.com')
    expect(allowed(await get('/integrations', { origin: 'https://evil.example.com' }))).toBeNull()
    const preflight = new Request('http://host.test/mailer/webhook', { method: 'OPTIONS', headers: origin })
    expect(allowed(await host.fetch(preflight))).toBeNull()
  })
})

describe('what the host tells of itself', () => {
  it('lists each integration with everything that a form needs', async () => {
    const { integrations } = await (await startHost().get('/integrations')).json()
    const names = integrations.map(({ name }: { name: string }) => name)
    expect(names).toEqual(hosted.map(({ definition }) => definition.name))
    expect(names).toEqual(expect.arrayContaining(['auth', 'idp', 'idp-server', 'mailer']))
    const mailer = integrations[names.indexOf('mailer')]
    expect(mailer.inputs.properties).toMatchObject({
      serverType: { default: 'shared', enum: ['shared', 'dedicated'] },
      apiToken: { writeOnly: true },
      messageStream: { default: 'outbound' },
    })
    expect(mailer.sensitiveOutputs).toEqual(['apiToken'])
    expect(Object.keys(mailer.functions)).toEqual(['sendEmail', 'sendEmails', 'getDeliveryStats'])
    expect(Object.keys(mailer.metrics)).toEqual([
      'emails_sent',
      'emails_bounced',
      'bounce_rate',
      'spam_complaints',
    ])
  })

  it('describes every route in OpenAPI', async () => {
    const document = await (await startHost().get('/openapi.json')).json()
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/auth/webhook',
        '/mailer/webhook',
        '/healthz',
        '/readyz',
        '/integrations',
        '/openapi.json',
      ]),
    )
  })
})
