import { memoryStore } from '@org/core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { integrations } from '../src/integrations.ts'
import { createMetrics } from '../src/metrics.ts'
import { calling, mail, startHost } from './hosted.ts'

const origin = 'https://app.example.com'
const others = ['https://evil.example.com', `${origin}.evil.example.com`, 'null', 'http://app.example.com']
const webhooks = integrations.map(({ name }) => `/${name}/webhook`)
const challenge = {
  method: 'POST',
  headers: { origin, 'content-type': 'application/json' },
  body: '{"name":"WEBHOOK_CHALLENGE","challenge":"<script>alert(1)</script>"}',
}

const start = (store = memoryStore(), variables = {}) =>
  startHost({ variables: { CORS_ORIGINS: origin, ...variables }, store, createMetrics }).host
const host = start()
const ask = async (path: string, init?: RequestInit, asked = host) =>
  asked.fetch(new Request(`http://host.test${path}`, init))
const allowedOrigin = async (path: string, init: RequestInit) =>
  (await ask(path, init)).headers.get('access-control-allow-origin')

describe('a response of the host', () => {
  it.each<[string, RequestInit?]>([
    ['/healthz'],
    ['/openapi.json'],
    ['/nowhere'],
    ['/auth/webhook', challenge],
    ['/mailer/webhook', { method: 'DELETE' }],
  ])('can’t be run, framed or sniffed by a browser: %s', async (path, init) => {
    const { headers } = await ask(path, init)
    expect(headers.get('content-type')).toMatch(/^application\/(problem\+)?json\b/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-powered-by')).toBeNull()
  })

  it.each<[string, RequestInit?]>([
    ['/healthz'],
    ['/readyz'],
    ['/metrics'],
    ['/nowhere'],
    ['/mailer/webhook', challenge],
  ])('is not cached if it can change: %s', async (path, init) => {
    expect((await ask(path, init)).headers.get('cache-control')).toBe('no-store')
  })

  it('names the webhooks if no route matches', async () => {
    const response = await ask('/nowhere')
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining('POST /mailer/webhook'),
    })
  })
})

describe('a page of another origin', () => {
  it.each(['/healthz', '/readyz', '/integrations', '/openapi.json'])(
    'may read %s only if CORS_ORIGINS lists it, and without cookies',
    async (path) => {
      const { headers } = await ask(path, { headers: { origin } })
      expect(headers.get('access-control-allow-origin')).toBe(origin)
      expect(headers.get('access-control-allow-credentials')).toBeNull()
      expect(headers.get('vary')?.toLowerCase()).toContain('origin')
      for (const other of others) expect(await allowedOrigin(path, { headers: { origin: other } })).toBeNull()
    },
  )

  it.each(['/metrics', '/deliveries/evt_1'])('may not read %s, listed or not', async (path) => {
    expect(await allowedOrigin(path, { headers: { origin } })).toBeNull()
  })

  it.each(webhooks)('may neither call nor read %s', async (path) => {
    const asking = { origin, 'access-control-request-method': 'POST' }
    const preflight = await ask(path, { method: 'OPTIONS', headers: asking })
    expect(preflight.status).toBe(405)
    expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(await allowedOrigin(path, challenge)).toBeNull()
  })
})

describe('the host', () => {
  it('refuses events and is not ready while it drains, and stays alive', async () => {
    const draining = start()
    await draining.drain()
    const response = await ask('/auth/webhook', challenge, draining)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await ask('/readyz', undefined, draining)).status).toBe(503)
    expect((await ask('/healthz', undefined, draining)).status).toBe(200)
  })

  it.each([
    ['a shared store', 'redis://127.0.0.1:1', 200],
    ['its own file', 'sqlite:.data/deliveries.db', 503],
  ])(
    'stays ready while %s is away after a first write only if all hosts share it',
    async (_, DELIVERY_STORE, expected) => {
      vi.useFakeTimers({ toFake: ['performance'] })
      onTestFinished(() => void vi.useRealTimers())
      const memory = memoryStore()
      const probe = vi.fn(memory.probe).mockRejectedValue(new Error('away'))
      const host = start({ ...memory, probe }, { DELIVERY_STORE })
      const readiness = async (path = '/readyz') => {
        vi.advanceTimersByTime(1_000)
        const response = await ask(path, undefined, host)
        return { status: response.status, body: await response.json() }
      }
      expect(await readiness()).toEqual({ status: 503, body: { status: 'store_unreachable' } })
      probe.mockImplementation(memory.probe)
      expect(await readiness()).toEqual({ status: 200, body: { status: 'ready', store: 'reachable' } })
      probe.mockRejectedValue(new Error('away'))
      expect((await readiness()).status).toBe(expected)
      expect((await readiness('/readyz?store')).status).toBe(503)
      const probes = probe.mock.calls.length
      expect((await ask('/readyz?store', undefined, host)).status).toBe(503)
      expect(probe.mock.calls).toHaveLength(probes)
    },
  )

  it('drains only when its events are answered', async () => {
    const { host: leaving, send, world } = startHost()
    const provider = Promise.withResolvers<Response>()
    const arrived = new Promise<void>((resolve) =>
      world.overrides.set('mail.test', () => {
        resolve()
        return provider.promise
      }),
    )
    const answered = send('mailer', { name: 'HEALTH_CHECK' })
    await arrived
    const drained = vi.fn()
    const draining = leaving.drain().then(drained)
    await expect(send('mailer', { name: 'HEALTH_CHECK' })).resolves.toMatchObject({ status: 503 })
    expect(drained).not.toHaveBeenCalled()
    provider.resolve(Response.json({}))
    await draining
    expect((await answered).status).toBe(200)
  })

  it('is not ready while its store hangs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const probe = vi.fn(() => new Promise<never>(() => {}))
    const readiness = ask('/readyz', undefined, start({ ...memoryStore(), probe }))
    await vi.waitUntil(() => probe.mock.calls.length > 0)
    await vi.advanceTimersByTimeAsync(2_000)
    expect((await readiness).status).toBe(503)
  })

  it('drains only when a store that was away has the response', async () => {
    const memory = memoryStore()
    const complete = vi.fn(memory.complete).mockRejectedValue(new Error('away'))
    const leaving = start({ ...memory, complete })
    const call = { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: {} } }
    const headers = { 'content-type': 'application/json', 'webhook-id': 'evt_1' }
    const refused = await ask(
      '/mailer/webhook',
      { method: 'POST', headers, body: JSON.stringify(call) },
      leaving,
    )
    expect(refused.status).toBe(422)
    const drained = vi.fn()
    const draining = leaving.drain().then(drained)
    const tries = complete.mock.calls.length
    await expect.poll(() => complete.mock.calls.length).toBeGreaterThan(tries)
    expect(drained).not.toHaveBeenCalled()
    complete.mockImplementation(memory.complete)
    await draining
    expect(await memory.read('mailer/delivery/evt_1', 'evt_1')).toMatchObject({ response: { status: 422 } })
  })
})

it('a claim of the host lasts for LEASE_MS, 30 seconds by default', async () => {
  const leases: number[] = []
  const store = memoryStore()
  const claim: typeof store.claim = (request) => {
    leases.push(request.leaseMs)
    return store.claim(request)
  }
  for (const [id, variables] of [
    ['evt_1', {}],
    ['evt_2', { LEASE_MS: '12000' }],
  ] as const) {
    const { send } = startHost({ variables, store: { ...store, claim } })
    await send('mailer', calling('sendEmail', mail), { id })
  }
  expect(leases).toEqual([30_000, 12_000])
})
