import { memoryStore } from '@org/core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createMetrics } from '../src/metrics.ts'
import { createFunctionHost } from '../src/runtimes/function-host.ts'
import { calling, mail, mailDeployment, type StartOptions, startHost } from './hosted.ts'

const always = { times: Number.POSITIVE_INFINITY }
const has = (...lines: string[]) => expect.arrayContaining(lines)
const sendMail = calling('sendEmail', mail)

function start(options: StartOptions = {}) {
  const started = startHost({ createMetrics, ...options })
  return {
    ...started,
    /** The lines of the own series, as Prometheus reads them. */
    async scrape(of = ''): Promise<string[]> {
      const text = await (await started.get('/metrics')).text()
      return text.split('\n').filter((line) => line.startsWith(`webhook_${of}`))
    },
  }
}

beforeAll(() => {
  // The pause before a retry is random, up to a limit: this makes it none.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterAll(() => vi.restoreAllMocks())

describe('GET /metrics', () => {
  it('does not exist on a function', async () => {
    const variables = { PLATFORM_API_URL: 'http://platform.test', NODE_ENV: 'test', LOG_LEVEL: 'error' }
    const answer = createFunctionHost(variables, () => ({}))
    const ask = async (path: string) => answer(new Request(`http://host.test${path}`))
    expect((await ask('/metrics')).status).toBe(404)
    expect((await (await ask('/openapi.json')).json()).paths).not.toHaveProperty(['/metrics'])
  })

  it('counts each event by its outcome or the code of its problem, and each message by its fate, no replay', async () => {
    const { world, send, get, scrape } = start()
    const fates = async () => (await scrape('messages_total{route="mailer"')).map((line) => line.slice(-1))
    expect(await fates()).toEqual(['0', '0', '0'])
    const batch = calling('sendEmails', { messages: [mail, { ...mail, to: 'no address' }, mail] })
    for (const id of ['evt_1', 'evt_1']) await send('mailer', sendMail, { id })
    for (const id of ['evt_2', 'evt_2']) await send('mailer', batch, { id })
    expect(await fates()).toEqual(['3', '1', '0'])
    for (const event of [sendMail, batch]) {
      world.mail.faults.add({ method: 'POST', status: 500 })
      await send('mailer', event)
    }
    expect(await fates()).toEqual(['3', '2', '3'])
    await send('mailer', calling('sendEmail', { ...mail, to: 'no address' }))
    for (const event of [{}, { timestamp: '9999-01-01T00:00:00Z' }, { name: 'NOTHING' }])
      await send('auth', { name: 'METRIC_UPDATE', ...event })
    await get('/wp-login.php')
    const count = (route: string, event: string, called: string, outcome: string) =>
      `webhook_events_total{route="${route}",event="${event}",function="${called}",outcome="${outcome}"} 1`
    const callOf = (called: string, outcome: string) => count('mailer', 'FUNCTION_CALL', called, outcome)
    expect(await scrape('events_total')).toEqual([
      ...['ok', 'replayed'].map((outcome) => callOf('sendEmail', outcome)),
      ...['partial', 'replayed'].map((outcome) => callOf('sendEmails', outcome)),
      callOf('sendEmail', 'outcome_unknown'),
      callOf('sendEmails', 'unknown'),
      callOf('sendEmail', 'invalid_arguments'),
      ...['ignored', 'future'].map((outcome) => count('auth', 'METRIC_UPDATE', '', outcome)),
      count('auth', 'other', '', 'invalid_event'),
      count('other', 'other', '', 'not_found'),
    ])
    const durations = await scrape('event_duration_seconds_count')
    expect(durations.join('\n')).toMatch(/^.*"sendEmail"\} 4$/m)
  })

  it('counts each attempt of a call to a provider, and those that it refuses for their credentials by their owner', async () => {
    const { world, send, scrape } = start()
    world.mail.faults.add({ status: 401, times: 2 }, { status: 403 })
    for (const deployment of [undefined, mailDeployment('dep_1'), mailDeployment('dep_2')])
      await send('mailer', { ...sendMail, deployment })
    const rejected = 'webhook_provider_credentials_rejected_total{integration="mailer",owner='
    expect(await scrape()).toEqual(has(`${rejected}"host"} 1`, `${rejected}"deployment"} 2`))
    for (const fault of [{ status: 429 }, { status: 503 }, { cut: 'before' as const }]) {
      world.mail.faults.add({ method: 'POST', ...fault })
      await send('mailer', sendMail)
    }
    const requests = 'webhook_provider_requests_total{integration="mailer",method="POST",outcome='
    // The retry after 429 succeeds.
    const outcomes = ['"4xx"} 3', '"429"} 1', '"2xx"} 1', '"5xx"} 1', '"unreachable"} 1']
    const durations = 'webhook_provider_request_duration_seconds_count{integration="mailer",method="POST"} 7'
    const expected = [...outcomes.map((outcome) => requests + outcome), durations]
    expect(await scrape('provider_request')).toEqual(has(...expected))
  })

  it('counts each attempt of a callback to the platform', async () => {
    const { world, send, scrape } = start()
    const deployment = mailDeployment('dep_1')
    world.platform.addDeployment(deployment)
    world.platform.faults.add({ method: 'PUT', path: /outputs$/, status: 503 })
    await send('mailer', { name: 'DEPLOYMENT_CREATED', deployment })
    await send('mailer', { name: 'METRIC_UPDATE', deployment: { id: 'dep_1' } })
    world.platform.faults.add({ html: true })
    await send('mailer', { name: 'METRIC_UPDATE', deployment: { id: 'dep_1' } })
    const lines = await scrape('platform_requests_total')
    expect(lines.map((line) => line.replace(/^.*callback=|outcome=/g, '')).toSorted()).toEqual([
      '"deployment","2xx"} 1',
      '"deployment","malformed"} 1',
      '"logs","2xx"} 2',
      '"metrics","2xx"} 1',
      '"outputs","2xx"} 1',
      '"outputs","5xx"} 1',
      '"status","2xx"} 2',
    ])
  })

  it('counts the calls of an owner from the first that fails on, for a hundred owners', async () => {
    const { world, send, scrape } = start()
    const call = (owner: string, baseUrl?: string, event: object = sendMail) =>
      send('mailer', { ...event, deployment: { ...mailDeployment('dep_1', baseUrl), owner } })
    await call('cust_0')
    world.overrides.set('mail.test', () => Response.json({}, { status: 404 }))
    // A server of its own is no matter of the operator.
    world.overrides.set('own.example.com', () => new Response('', { status: 502 }))
    await call('cust_own', 'https://own.example.com')
    expect(await scrape('owner_calls_total')).toEqual([])
    for (let at = 0; at <= 100; at += 1) await call(`cust_${at}`)
    world.overrides.clear()
    await call('cust_0')
    // A mistake of the caller.
    await call('cust_0', undefined, calling('sendEmail', {}))
    const of = (owner: string, outcome: string) =>
      `webhook_owner_calls_total{route="mailer",owner="${owner}",outcome="${outcome}"} 1`
    const failed = Array.from({ length: 100 }, (_, at) => of(`cust_${at}`, 'failed'))
    expect(await scrape('owner_calls_total')).toEqual([...failed, of('cust_0', 'ok')])
  })

  it('shows events under way, and whether the store can be reached', async () => {
    const memory = memoryStore()
    const seen: string[][] = []
    const probe = vi.fn(memory.probe)
    const { send, scrape } = start({
      store: {
        ...memory,
        probe,
        async claim(request) {
          seen.push(await scrape())
          return memory.claim(request)
        },
      },
    })
    await send('mailer', sendMail, { id: 'evt_1' })
    expect(seen).toEqual([has('webhook_events_in_flight 1', 'webhook_store_reachable 1')])
    probe.mockRejectedValue(new Error('away'))
    // It writes once a second at most.
    await expect.poll(() => scrape()).toEqual(has('webhook_events_in_flight 0', 'webhook_store_reachable 0'))
  })

  it('shows an open circuit, and counts the calls that it stops', async () => {
    const { world, send, scrape } = start()
    const circuits = (integration: string, state: string, count: number) =>
      `webhook_provider_circuits{integration="${integration}",state="${state}"} ${count}`
    await send('mailer', { name: 'HEALTH_CHECK' })
    expect(await scrape()).toContain(circuits('mailer', 'closed', 1))
    world.mail.faults.add({ status: 500, ...always })
    for (let sent = 0; sent < 25; sent += 1) await send('mailer', calling('getDeliveryStats'))
    const states = [
      circuits('mailer', 'open', 1),
      circuits('mailer', 'closed', 0),
      circuits('idp', 'open', 0),
    ]
    expect(await scrape()).toEqual(has(...states, expect.stringMatching(/outcome="circuit_open"\} [1-9]/)))
  })

  it('has the same series after a thousand hostile names, ids, paths and servers', async () => {
    const { host, send, scrape } = start()
    const ask = (path: string, method: string) =>
      host.fetch(new Request(`http://host.test${path}`, { method }))

    async function attempt(at: number): Promise<void> {
      const text = [`x${at}`, `evt-${at}@example.com`, `"}\n# ${at}`, `__proto__${at}`][at % 4] ?? ''
      const deployment = mailDeployment(text, `https://server-${at}.example.com`)
      await Promise.all([
        send('mailer', { name: text }),
        send('mailer', calling(text, { [text]: text }), { id: `delivery ${at}` }),
        send('idp', { ...calling(text), deployment: { id: text } }),
        ...['HEALTH_CHECK', 'DEPLOYMENT_DELETED'].map((name) => send('mailer', { name, deployment })),
        ask('/mailer/webhook', `M${at}`),
        ask(`/${encodeURIComponent(text)}/webhook`, 'POST'),
        ask(`/deliveries/${encodeURIComponent(text)}`, 'GET'),
      ])
    }

    const series = async () => new Set((await scrape()).map((line) => line.replace(/ \S+$/, '')))
    await attempt(0)
    const before = await series()
    for (let at = 1; at <= 125; at += 1) await attempt(at)
    expect(await series()).toEqual(before)
  })
})
