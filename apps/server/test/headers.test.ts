import { describe, expect, it } from 'vitest'
import { createWorld } from './hosted.ts'

const origin = 'https://app.example.com'
const host = createWorld().start({ variables: { CORS_ORIGINS: origin } })
const readingRoutes = ['/healthz', '/readyz', '/integrations', '/openapi.json']
const webhooks = ['/auth/webhook', '/idp/webhook', '/idp-server/webhook', '/mailer/webhook']

const ask = (path: string, init?: RequestInit) => host.fetch(new Request(`http://host.test${path}`, init))
const challenge = {
  method: 'POST',
  headers: { origin, 'content-type': 'application/json' },
  body: '{"name":"WEBHOOK_CHALLENGE","challenge":"<script>alert(1)</script>"}',
}

describe('every answer', () => {
  it.each([
    ...readingRoutes.map((path) => [path, undefined] as const),
    ...webhooks.map((path) => [path, challenge] as const),
    ['/mailer/webhook', { method: 'DELETE' }] as const,
    ['/nowhere', undefined] as const,
  ])('is nothing that a browser runs, frames, guesses or tells others of: %s', async (path, init) => {
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
  ])('that is true for a moment alone is kept by nobody: %s', async (path, init) => {
    expect((await ask(path, init)).headers.get('cache-control')).toBe('no-store')
  })
})

describe('a page of another origin', () => {
  const allowed = async (path: string, init: RequestInit) =>
    (await ask(path, init)).headers.get('access-control-allow-origin')

  it.each(readingRoutes)('may read %s where it is listed, and not otherwise', async (path) => {
    expect(await allowed(path, { headers: { origin } })).toBe(origin)
    for (const other of [
      'https://evil.example.com',
      `${origin}.evil.example.com`,
      'null',
      'http://app.example.com',
    ])
      expect(await allowed(path, { headers: { origin: other } })).toBeNull()
  })

  it.each(webhooks)('may neither ask nor read %s, listed or not', async (path) => {
    const asking = { origin, 'access-control-request-method': 'POST' }
    const preflight = await ask(path, { method: 'OPTIONS', headers: asking })
    expect(preflight.status).toBe(405)
    expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(await allowed(path, challenge)).toBeNull()
  })

  it('may not send an event as a form, or as a text', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const answer = await ask('/auth/webhook', { ...challenge, headers: { 'content-type': type } })
      expect(answer.status).toBe(415)
    }
  })

  it('is never let in for everyone, or with its cookies', async () => {
    for (const path of readingRoutes) {
      const { headers } = await ask(path, { headers: { origin } })
      expect(headers.get('access-control-allow-credentials')).toBeNull()
      expect(headers.get('vary')?.toLowerCase()).toContain('origin')
    }
  })
})
