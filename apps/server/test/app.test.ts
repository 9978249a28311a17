/** The rules for every route of the host, its readiness, and its end. */
import { type DeliveryStore, memoryStore } from '@org/core'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { builtin } from '../src/integrations.ts'
import { createMetrics } from '../src/metrics.ts'
import { calling, mail, startHost } from './hosted.ts'

const origin = 'https://app.example.com'
const challenge = {
  method: 'POST',
  headers: { origin, 'content-type': 'application/json' },
  body: '{"name":"WEBHOOK_CHALLENGE","challenge":"<script>alert(1)</script>"}',
}

function start(store: Partial<DeliveryStore> = {}, variables = {}) {
  const logger = vi.fn()
  const started = startHost({
    variables: { CORS_ORIGINS: origin, ...variables },
    store: { ...memoryStore(), ...store },
    createMetrics,
    logger,
  })
  const ask = async (path: string, init?: RequestInit) =>
    started.host.fetch(new Request(`http://host.test${path}`, init))
  return { ...started, ask, logger }
}
const { ask } = start()
const operated = start({}, { OPERATOR_TOKEN: 'operator-token-of-this-host' })

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
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      ...{ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
      ...{ 'cross-origin-resource-policy': 'same-origin', 'cache-control': 'no-store' },
    })
    expect(headers.has('x-powered-by')).toBe(false)
  })

  it('is 304 for a client that has the page or the document', async () => {
    for (const path of ['/integrations', '/openapi.json', '/docs']) {
      const { headers } = await ask(path)
      const again = await ask(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } })
      expect([again.status, await again.text()]).toEqual([304, ''])
      // A browser uses it for the page that it has.
      expect(again.headers.get('content-security-policy')).toBe(headers.get('content-security-policy'))
    }
  })

  it.each([
    ['POST', '/healthz', 'GET, HEAD'],
    ['DELETE', '/readyz', 'GET, HEAD'],
    ['PUT', '/metrics', 'GET, HEAD'],
    ['POST', '/openapi.json', 'GET, HEAD'],
    ['PATCH', '/docs', 'GET, HEAD'],
    ['POST', '/deliveries/evt_1', 'GET, HEAD'],
    ['GET', '/deliveries/evt_1/settle', 'POST'],
    ['GET', '/mailer/webhook', 'POST'],
  ])('says that %s is no method of %s, and which one is', async (method, path, allow) => {
    const response = await operated.ask(path, { method })
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed' })
  })

  it('names the webhooks if no route matches', async () => {
    const detail = expect.stringContaining('POST /mailer/webhook')
    expect(await (await ask('/nowhere')).json()).toMatchObject({ status: 404, code: 'not_found', detail })
  })
})

describe('a page of another origin', () => {
  const preflight = { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } }
  const from = (origin: string) => ({ headers: { origin } })
  const listed = [`access-control-allow-origin: ${origin}`, 'vary: origin']
  const others = ['https://evil.example.com', `${origin}.evil.example.com`, 'null', 'http://app.example.com']
  const open = ['/readyz', '/integrations', '/openapi.json']
  const webhooks = builtin.map(({ name }) => `/${name}/webhook`)

  it.each<[rule: string, paths: string[], requests: RequestInit[], headers: string[]]>([
    ['may read a route if CORS_ORIGINS lists it', open, [from(origin)], listed],
    ['may read no route if it is not listed', open, others.map(from), ['vary: origin']],
    ['may read no route for operators', ['/metrics', '/deliveries/evt_1'], [from(origin)], []],
    ['may neither call nor read a webhook', webhooks, [preflight, challenge], []],
  ])('%s, and sends no cookies', async (_, paths, requests, expected) => {
    for (const path of paths)
      for (const init of requests) {
        const { headers } = await ask(path, init)
        const ofCors = [...headers].filter(([name]) => /^(access-control-.*|vary)$/.test(name))
        expect(ofCors.map(([name, value]) => `${name}: ${value}`.toLowerCase())).toEqual(expected)
      }
  })
})

describe('the readiness of the host', () => {
  beforeEach(() => void onTestFinished(() => void vi.useRealTimers()))
  const away = () => Promise.reject(new Error('away'))

  it.each([
    ['a shared store', 'redis://127.0.0.1:1', [200, 'unreachable']],
    ['its own file', 'sqlite:.data/deliveries.db', [503, undefined]],
  ])('lasts while %s is away after a first write only if all hosts share it', async (...row) => {
    const [, DELIVERY_STORE, expected] = row
    vi.useFakeTimers({ toFake: ['performance'] })
    const probe = vi.fn<DeliveryStore['probe']>(away)
    const { ask, logger } = start({ probe }, { DELIVERY_STORE })
    const readiness = async (path = '/readyz') => {
      vi.advanceTimersByTime(1_000)
      const response = await ask(path)
      return { status: response.status, body: await response.json() }
    }
    expect(await readiness()).toEqual({ status: 503, body: { status: 'store_unreachable' } })
    probe.mockResolvedValueOnce()
    expect(await readiness()).toEqual({ status: 200, body: { status: 'ready', store: 'reachable' } })
    expect(await readiness().then(({ status, body }) => [status, body.store])).toEqual(expected)
    expect((await readiness('/readyz?store')).status).toBe(503)
    const probes = probe.mock.calls.length
    expect((await ask('/readyz?store')).status).toBe(503)
    expect(probe.mock.calls).toHaveLength(probes)
    const lines = logger.mock.calls.filter(([, message]) => message.startsWith('The delivery store'))
    const unreachable = ['error', 'The delivery store is unreachable.', { reason: 'away' }]
    const reachable = ['info', 'The delivery store takes writes again.', {}]
    expect(lines).toEqual([unreachable, reachable, unreachable])
  })

  it('lasts while a shared store is away that took the write of an event, before anyone asked', async () => {
    const { ask, send } = start({ probe: away }, { DELIVERY_STORE: 'redis://127.0.0.1:1' })
    await send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
    expect(await (await ask('/readyz')).json()).toEqual({ status: 'ready', store: 'unreachable' })
  })

  it('is none while its store hangs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const probe = vi.fn(() => new Promise<never>(() => {}))
    const readiness = start({ probe }).ask('/readyz')
    await expect.poll(() => probe.mock.calls.length).toBe(1)
    await vi.advanceTimersByTimeAsync(2_000)
    expect((await readiness).status).toBe(503)
  })
})

describe('a host that drains', () => {
  it('refuses events, is alive but not ready, and waits for the events under way', async () => {
    const { host, send, world, ask } = start()
    const provider = world.holdMail()
    const answered = send('mailer', { name: 'HEALTH_CHECK' })
    await expect.poll(provider.arrived).toBe(1)
    const drained = vi.fn()
    const draining = host.drain().then(drained)
    const refused = await ask('/auth/webhook', challenge)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect([(await ask('/readyz')).status, (await ask('/healthz')).status]).toEqual([503, 200])
    expect(drained).not.toHaveBeenCalled()
    provider.letGo()
    await draining
    expect((await answered).status).toBe(200)
  })

  it('waits until a store that was away has the response', async () => {
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
})

it('the host claims for LEASE_MS', async () => {
  const claim = vi.fn(memoryStore().claim)
  await start({ claim }, { LEASE_MS: '12000' }).send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
  expect(claim.mock.calls).toMatchObject([[{ leaseMs: 12_000 }]])
})
