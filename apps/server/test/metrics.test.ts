import { memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createFunctionHost } from '../src/function-host.ts'
import { createWorld } from './hosted.ts'
import { calling, mail, mailDeployment, startMeasured } from './measured.ts'

const always = { times: Number.POSITIVE_INFINITY }

beforeAll(() => {
  // The pause between two tries is random, up to a limit: this makes it none.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterAll(() => vi.restoreAllMocks())

describe('GET /metrics', () => {
  it('is Prometheus’ text, kept by nobody, and read by no other origin', async () => {
    const { get } = startMeasured({ variables: { CORS_ORIGINS: 'https://app.example.com' } })
    const response = await get('/metrics', { origin: 'https://app.example.com' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    const { paths } = await (await get('/openapi.json')).json()
    expect(paths['/metrics'].get.responses['200'].content).toHaveProperty(['text/plain'])
  })

  it('does not exist where the host is one of many instances that come and go', async () => {
    const variables = { PLATFORM_API_URL: 'http://platform.test', NODE_ENV: 'test', LOG_LEVEL: 'error' }
    const host = createFunctionHost(variables, () => ({}))
    const ask = (path: string) => host.fetch(new Request(`http://host.test${path}`))
    expect((await ask('/metrics')).status).toBe(404)
    expect((await (await ask('/openapi.json')).json()).paths).not.toHaveProperty(['/metrics'])
  })

  it('counts each event by what came of it: a word, or the code of its problem', async () => {
    const { world, send, value } = startMeasured()
    await send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
    await send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
    await send('mailer', calling('send', { ...mail, to: 'no address' }))
    await send('auth', { name: 'METRIC_UPDATE' })
    await send('auth', { name: 'NOTHING' })
    world.mail.faults.add({ status: 503, ...always })
    await send('mailer', calling('getDeliveryStats'))
    const count = (labels: Record<string, string>) => value('webhook_events_total', labels)
    const sendEmail = { route: 'mailer', event: 'FUNCTION_CALL', function: 'sendEmail' }
    expect(await count({ ...sendEmail, outcome: 'ok' })).toBe(1)
    expect(await count({ ...sendEmail, outcome: 'replayed' })).toBe(1)
    expect(await count({ ...sendEmail, outcome: 'invalid_arguments' })).toBe(1)
    expect(await count({ route: 'auth', event: 'METRIC_UPDATE', outcome: 'ignored' })).toBe(1)
    expect(await count({ route: 'auth', event: 'other', outcome: 'invalid_event' })).toBe(1)
    expect(await count({ function: 'getDeliveryStats', outcome: 'provider_error' })).toBe(1)
    expect(await count({})).toBe(6)
    expect(await value('webhook_event_duration_seconds_count')).toBe(6)
    expect(await value('webhook_event_duration_seconds_count', sendEmail)).toBe(3)
  })

  it('counts what providers are asked, every try, by method and by what came of it', async () => {
    const { world, send, value } = startMeasured()
    const count = (outcome: string) =>
      value('webhook_provider_requests_total', { integration: 'mailer', outcome })
    for (const status of [429, 422, 503]) {
      world.mail.faults.add({ status, times: 1 })
      await send('mailer', calling('sendEmail', mail), { id: `evt_${status}` })
    }
    world.mail.faults.add({ cut: 'before', times: 1 })
    await send('mailer', calling('sendEmail', mail), { id: 'evt_cut' })
    for (const outcome of ['429', '4xx', '5xx', 'unreachable']) expect(await count(outcome)).toBe(1)
    // The first was sent after all: a 429 may be repeated.
    expect(await count('2xx')).toBe(1)
    const labels = { integration: 'mailer', method: 'POST' }
    expect(await value('webhook_provider_requests_total', labels)).toBe(5)
    expect(await value('webhook_provider_request_duration_seconds_count', labels)).toBe(5)
  })

  it('counts what the platform is told, once for all its tries', async () => {
    const { world, send, value } = startMeasured()
    world.platform.addDeployment(mailDeployment('dep_1'))
    world.platform.faults.add({ status: 503, times: 1 })
    await send('mailer', { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_1') })
    await send('mailer', { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_2') })
    const count = (callback: string, outcome: string) =>
      value('webhook_platform_callbacks_total', { callback, outcome })
    expect(await count('setOutputs', 'accepted')).toBe(1)
    expect(await count('setOutputs', 'gone')).toBe(1)
    expect(await count('setStatus', 'accepted')).toBe(2)
    expect(await value('webhook_platform_callback_duration_seconds_count', { callback: 'setOutputs' })).toBe(
      2,
    )
    // Nothing of it is a provider's.
    expect(await value('webhook_provider_requests_total', { outcome: '5xx' })).toBe(0)
  })

  it('counts claims by what came of them, and says whether the store can be reached', async () => {
    const store = memoryStore()
    let away = false
    const { send, value } = startMeasured({
      store: {
        ...store,
        claim: (request) => (away ? Promise.reject(new Error('away')) : store.claim(request)),
        ping: () => (away ? Promise.reject(new Error('away')) : store.ping()),
      },
    })
    const event = calling('sendEmail', mail)
    await send('mailer', event, { id: 'evt_1' })
    await send('mailer', event, { id: 'evt_1' })
    await send('mailer', calling('sendEmail', { ...mail, subject: 'Another' }), { id: 'evt_1' })
    await store.claim({ subject: 'mailer/delivery/evt_2', leaseMs: 60_000 })
    await send('mailer', event, { id: 'evt_2' })
    expect(await value('webhook_store_reachable')).toBe(1)
    away = true
    await send('mailer', event, { id: 'evt_3' })
    expect(await value('webhook_store_reachable')).toBe(0)
    const count = (operation: string, outcome: string) =>
      value('webhook_store_operations_total', { operation, outcome })
    for (const outcome of ['claimed', 'done', 'mismatch', 'busy', 'unreachable'])
      expect(await count('claim', outcome)).toBe(1)
    expect(await count('complete', 'ok')).toBe(1)
    expect(await value('webhook_store_operation_duration_seconds_count', { operation: 'claim' })).toBe(5)
  })

  it('shows the events under way while they are', async () => {
    const inFlight = () => measured.value('webhook_events_in_flight')
    const store = memoryStore()
    const seen: number[] = []
    const measured = startMeasured({
      store: {
        ...store,
        async claim(request) {
          seen.push(await inFlight())
          return store.claim(request)
        },
      },
    })
    await measured.send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
    expect([...seen, await inFlight()]).toEqual([1, 0])
  })

  it('shows a circuit that is open, and counts the calls that were not made', async () => {
    const { world, send, value } = startMeasured()
    const circuits = (integration: string, state: string) =>
      value('webhook_provider_circuits', { integration, state })
    await send('mailer', { name: 'HEALTH_CHECK' })
    expect(await circuits('mailer', 'closed')).toBe(1)
    world.mail.faults.add({ status: 500, ...always })
    for (let sent = 0; sent < 25; sent += 1) await send('mailer', calling('getDeliveryStats'))
    expect([await circuits('mailer', 'open'), await circuits('mailer', 'closed')]).toEqual([1, 0])
    expect(await circuits('idp', 'open')).toBe(0)
    const notMade = { integration: 'mailer', outcome: 'circuit_open' }
    expect(await value('webhook_provider_requests_total', notMade)).toBeGreaterThan(0)
  })

  it('says how the process is', async () => {
    const { read } = startMeasured()
    const names = new Set((await read()).map(({ name }) => name))
    for (const name of [
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      'nodejs_eventloop_lag_p99_seconds',
    ])
      expect(names).toContain(name)
  })
})

describe('the number of series', () => {
  it('is not moved by a thousand hostile names, ids, paths and servers', async () => {
    const { host, send, read } = startMeasured()
    const spellings = (at: number) => [`x${at}`, `evt-${at}@example.com`, `"}\n# ${at}`, `__proto__${at}`]
    const ask = (path: string, method: string) =>
      host.fetch(new Request(`http://host.test${path}`, { method }))

    /** As many requests as `attempts` has entries. */
    async function attempt(at: number): Promise<number> {
      const text = spellings(at)[at % 4] ?? ''
      const deployment = mailDeployment(text, `https://server-${at}.example.com`)
      const attempts = [
        send('mailer', { name: text }),
        send('mailer', calling(text, { [text]: text }), { id: `delivery ${at}` }),
        send('idp', { ...calling(text), deployment: { id: text } }),
        send('mailer', { name: 'HEALTH_CHECK', deployment }),
        send('mailer', { name: 'DEPLOYMENT_DELETED', deployment }),
        ask('/mailer/webhook', `M${at}`),
        ask(`/${encodeURIComponent(text)}/webhook`, 'POST'),
        ask(`/deliveries/${encodeURIComponent(text)}`, 'GET'),
      ]
      await Promise.all(attempts)
      return attempts.length
    }

    const own = async () => (await read()).filter(({ name }) => name.startsWith('webhook_'))
    await attempt(0)
    const before = await own()
    let sent = 0
    for (let at = 1; sent < 1_000; at += 1) sent += await attempt(at)
    const after = await own()
    expect(after.length).toBe(before.length)
    expect(JSON.stringify(after.map(({ labels }) => labels))).not.toMatch(
      /x\d|example|proto|delivery |server-/,
    )
    // The last two were for no webhook.
    const events = after.filter(({ name }) => name === 'webhook_events_total')
    expect(events.reduce((sum, { value }) => sum + value, 0)).toBe(((sent + 8) * 6) / 8)
  })
})

it('measuring leaves an answer as it is', async () => {
  const plain = createWorld().start({ metrics: false })
  const { host } = startMeasured()
  const url = 'http://host.test/mailer/webhook'
  for (const event of [
    { name: 'WEBHOOK_CHALLENGE', challenge: 'c' },
    calling('nothing'),
    { name: 'NOTHING' },
  ]) {
    const [one, other] = await Promise.all([plain, host].map(({ fetch }) => deliver(fetch, event, { url })))
    expect({ ...one, headers: [...(one?.headers ?? [])] }).toEqual({
      ...other,
      headers: [...(other?.headers ?? [])],
    })
  }
})
