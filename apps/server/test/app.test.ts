/** The rules for every route of the host, its readiness, and its end. */
import { type DeliveryStore, memoryStore } from '@org/core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { integrations } from '../src/integrations.ts'
import { createMetrics } from '../src/metrics.ts'
import { calling, mail, startHost } from './hosted.ts'

const origin = 'https://app.example.com'
const others = ['https://evil.example.com', `${origin}.evil.example.com`, 'null', 'http://app.example.com']
const challenge = {
  method: 'POST',
  headers: { origin, 'content-type': 'application/json' },
  body: '{"name":"WEBHOOK_CHALLENGE","challenge":"<script>alert(1)</script>"}',
}

function start(store: Partial<DeliveryStore> = {}, variables = {}) {
  const started = startHost({
    variables: { CORS_ORIGINS: origin, ...variables },
    store: { ...memoryStore(), ...store },
    createMetrics,
  })
  const ask = async (path: string, init?: RequestInit) =>
    started.host.fetch(new Request(`http://host.test${path}`, init))
  return { ...started, ask }
}
const { ask } = start()
const allowedOrigin = async (path: string, init: RequestInit) =>
  (await ask(path, init)).headers.get('access-control-allow-origin')

describe('a response of the host', () => {
  it.each<[string, RequestInit?]>([
    ['/healthz'],
    ['/nowhere'],
    ['/auth/webhook', challenge],
    ['/mailer/webhook', { method: 'DELETE' }],
  ])('can’t be run, framed, sniffed or cached: %s', async (path, init) => {
    const { headers } = await ask(path, init)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': expect.stringMatching(/^application\/(problem\+)?json\b/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    expect(headers.get('x-powered-by')).toBeNull()
  })

  it.each(['/integrations', '/openapi.json', '/docs'])('is 304 for a client that has %s', async (path) => {
    const { headers } = await ask(path)
    const again = await ask(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    // A browser uses it for the page that it has.
    expect(again.headers.get('content-security-policy')).toBe(headers.get('content-security-policy'))
  })

  it('names the webhooks if no route matches', async () => {
    const response = await ask('/nowhere')
    expect(response.status).toBe(404)
    const detail = expect.stringContaining('POST /mailer/webhook')
    expect(await response.json()).toMatchObject({ code: 'not_found', detail })
  })
})

describe('a page of another origin', () => {
  it.each(['/readyz', '/integrations', '/openapi.json'])(
    'may read %s only if CORS_ORIGINS lists it, and without cookies',
    async (path) => {
      const { headers } = await ask(path, { headers: { origin } })
      expect(headers.get('access-control-allow-origin')).toBe(origin)
      expect(headers.get('access-control-allow-credentials')).toBeNull()
      expect(headers.get('vary')?.toLowerCase()).toContain('origin')
      for (const other of others) expect(await allowedOrigin(path, { headers: { origin: other } })).toBeNull()
    },
  )

  it('may read no route for operators, listed or not', async () => {
    for (const path of ['/metrics', '/deliveries/evt_1'])
      expect(await allowedOrigin(path, { headers: { origin } })).toBeNull()
  })

  it('may neither call nor read a webhook', async () => {
    for (const { name } of integrations) {
      const asking = { origin, 'access-control-request-method': 'POST' }
      const preflight = await ask(`/${name}/webhook`, { method: 'OPTIONS', headers: asking })
      expect(preflight.status).toBe(405)
      expect([...preflight.headers.keys()].join()).not.toContain('access-control')
      expect(await allowedOrigin(`/${name}/webhook`, challenge)).toBeNull()
    }
  })
})

describe('the host', () => {
  it.each([
    ['a shared store', 'redis://127.0.0.1:1', 200],
    ['its own file', 'sqlite:.data/deliveries.db', 503],
  ])('stays ready while %s is away after a first write only if all hosts share it', async (...row) => {
    const [, DELIVERY_STORE, expected] = row
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const probe = vi.fn<DeliveryStore['probe']>().mockRejectedValue(new Error('away'))
    const { ask } = start({ probe }, { DELIVERY_STORE })
    const readiness = async (path = '/readyz') => {
      vi.advanceTimersByTime(1_000)
      const response = await ask(path)
      return { status: response.status, body: await response.json() }
    }
    expect(await readiness()).toEqual({ status: 503, body: { status: 'store_unreachable' } })
    probe.mockResolvedValue()
    expect(await readiness()).toEqual({ status: 200, body: { status: 'ready', store: 'reachable' } })
    probe.mockRejectedValue(new Error('away'))
    expect((await readiness()).status).toBe(expected)
    expect((await readiness('/readyz?store')).status).toBe(503)
    const probes = probe.mock.calls.length
    expect((await ask('/readyz?store')).status).toBe(503)
    expect(probe.mock.calls).toHaveLength(probes)
  })

  it('is not ready while its store hangs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const probe = vi.fn(() => new Promise<never>(() => {}))
    const readiness = start({ probe }).ask('/readyz')
    await vi.waitUntil(() => probe.mock.calls.length > 0)
    await vi.advanceTimersByTimeAsync(2_000)
    expect((await readiness).status).toBe(503)
  })

  it('that drains refuses events, is alive but not ready, and waits for the events under way', async () => {
    const { host, send, world, ask } = start()
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
    const draining = host.drain().then(drained)
    const refused = await ask('/auth/webhook', challenge)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect([(await ask('/readyz')).status, (await ask('/healthz')).status]).toEqual([503, 200])
    expect(drained).not.toHaveBeenCalled()
    provider.resolve(Response.json({}))
    await draining
    expect((await answered).status).toBe(200)
  })

  it('that drains waits until a store that was away has the response', async () => {
    const memory = memoryStore()
    const complete = vi.fn(memory.complete).mockRejectedValue(new Error('away'))
    const { host, send } = start({ ...memory, complete })
    expect((await send('mailer', calling('sendEmail'), { id: 'evt_1' })).status).toBe(422)
    const drained = vi.fn()
    const draining = host.drain().then(drained)
    const tries = complete.mock.calls.length
    await expect.poll(() => complete.mock.calls.length).toBeGreaterThan(tries)
    expect(drained).not.toHaveBeenCalled()
    complete.mockImplementation(memory.complete)
    await draining
    expect(await memory.read('mailer/delivery/evt_1', 'evt_1')).toMatchObject({ response: { status: 422 } })
  })

  it.each([
    [30_000, {}],
    [12_000, { LEASE_MS: '12000' }],
  ])('claims for %i ms with the variables %j', async (leaseMs, variables) => {
    const claim = vi.fn(memoryStore().claim)
    await start({ claim }, variables).send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
    expect(claim.mock.calls).toMatchObject([[{ leaseMs }]])
  })
})
