import { memoryStore } from '@org/core'
import { describe, expect, it } from 'vitest'
import { integrations } from '../src/integrations.ts'
import { createWorld } from './hosted.ts'

const origin = 'https://app.example.com'
const routes = ['/healthz', '/readyz', '/integrations', '/openapi.json']
const webhooks = ['/auth/webhook', '/idp/webhook', '/idp-server/webhook', '/mailer/webhook']
const challenge = {
  method: 'POST',
  headers: { origin, 'content-type': 'application/json' },
  body: '{"name":"WEBHOOK_CHALLENGE","challenge":"<script>alert(1)</script>"}',
}

const startHost = (store = memoryStore()) =>
  createWorld().start({ variables: { CORS_ORIGINS: origin }, store })
const host = startHost()
const ask = (path: string, init?: RequestInit, asked = host) =>
  asked.fetch(new Request(`http://host.test${path}`, init))

describe('a response of the host', () => {
  it.each([
    ...routes.map((path) => [path, undefined] as const),
    ...webhooks.map((path) => [path, challenge] as const),
    ['/mailer/webhook', { method: 'DELETE' }] as const,
    ['/nowhere', undefined] as const,
  ])('can’t be run, framed or sniffed by a browser: %s', async (path, init) => {
    const { headers } = await ask(path, init)
    expect(headers.get('content-type')).toMatch(/^application\/(problem\+)?json\b/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-powered-by')).toBeNull()
  })

  it.each([
    ['/healthz', undefined],
    ['/readyz', undefined],
    ['/nowhere', undefined],
    ['/mailer/webhook', challenge],
  ])('is not cached where it holds for a moment only: %s', async (path, init) => {
    expect((await ask(path, init)).headers.get('cache-control')).toBe('no-store')
  })

  it('is a problem that names the webhooks where no route matches', async () => {
    const response = await ask('/nowhere')
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining('POST /mailer/webhook'),
    })
  })

  it('is 405 with the allowed method where a webhook is called by another one', async () => {
    const response = await ask('/mailer/webhook')
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('a page of another origin', () => {
  const allowed = async (path: string, init: RequestInit) =>
    (await ask(path, init)).headers.get('access-control-allow-origin')

  it.each(routes)('may read %s only if CORS_ORIGINS lists it, and without cookies', async (path) => {
    expect(await allowed(path, { headers: { origin } })).toBe(origin)
    for (const other of [
      'https://evil.example.com',
      `${origin}.evil.example.com`,
      'null',
      'http://app.example.com',
    ])
      expect(await allowed(path, { headers: { origin: other } })).toBeNull()
    const { headers } = await ask(path, { headers: { origin } })
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    expect(headers.get('vary')?.toLowerCase()).toContain('origin')
  })

  it.each(webhooks)('may neither call nor read %s', async (path) => {
    const asking = { origin, 'access-control-request-method': 'POST' }
    const preflight = await ask(path, { method: 'OPTIONS', headers: asking })
    expect(preflight.status).toBe(405)
    expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(await allowed(path, challenge)).toBeNull()
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'can’t send an event as %s',
    async (type) => {
      const init = { ...challenge, headers: { 'content-type': type } }
      expect((await ask('/auth/webhook', init)).status).toBe(415)
    },
  )
})

describe('the host', () => {
  it('refuses events and says so at /readyz while it drains, and stays alive', async () => {
    const draining = startHost()
    await draining.drain()
    const response = await ask('/auth/webhook', challenge, draining)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await response.json()).toMatchObject({ code: 'shutting_down', retryable: true })
    expect((await ask('/readyz', undefined, draining)).status).toBe(503)
    expect((await ask('/healthz', undefined, draining)).status).toBe(200)
  })

  it('is not ready while it can’t reach its store', async () => {
    const away = startHost({ ...memoryStore(), ping: () => Promise.reject(new Error('away')) })
    expect((await ask('/readyz', undefined, away)).status).toBe(503)
    expect((await ask('/readyz')).status).toBe(200)
  })

  it('lists at /integrations what a form needs', async () => {
    const listed = await (await ask('/integrations')).json()
    const names = listed.integrations.map(({ name }: { name: string }) => name)
    expect(names).toEqual(integrations.map(({ definition }) => definition.name))
    expect(listed.integrations[names.indexOf('mailer')]).toMatchObject({
      inputs: {
        properties: {
          serverType: { default: 'shared', enum: ['shared', 'dedicated'] },
          apiToken: { writeOnly: true },
          messageStream: { default: 'outbound' },
        },
      },
      sensitiveOutputs: ['apiToken'],
      functions: { sendEmail: {}, sendEmails: {}, getDeliveryStats: {} },
      metrics: { emails_sent: {}, emails_bounced: {}, bounce_rate: {}, spam_complaints: {} },
    })
  })
})
