import { memoryStore } from '@org/core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createFunctionHost } from '../src/runtimes/function-host.ts'
import { calling, credentials, mail, mailDeployment } from './hosted.ts'
import { startMeasured } from './measured.ts'

const always = { times: Number.POSITIVE_INFINITY }

beforeAll(() => {
  // The pause before a retry is random, up to a limit: this makes it none.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterAll(() => vi.restoreAllMocks())

describe('GET /metrics', () => {
  it('does not exist on a function', async () => {
    const variables = { PLATFORM_API_URL: 'http://platform.test', NODE_ENV: 'test', LOG_LEVEL: 'error' }
    const host = createFunctionHost(variables, () => ({}))
    const ask = (path: string) => host.fetch(new Request(`http://host.test${path}`))
    expect((await ask('/metrics')).status).toBe(404)
    expect((await (await ask('/openapi.json')).json()).paths).not.toHaveProperty(['/metrics'])
  })

  it('counts each event by its outcome or the code of its problem, from the first one on', async () => {
    const { world, send, value } = startMeasured()
    await send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
    await send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
    await send('mailer', calling('sendEmail', { ...mail, to: 'no address' }))
    await send('auth', { name: 'METRIC_UPDATE' })
    await send('auth', { name: 'NOTHING' })
    world.mail.faults.add({ status: 503, ...always })
    await send('mailer', calling('getDeliveryStats'))
    const count = (labels: Record<string, string>) => value('webhook_events_total', labels)
    const sendEmail = { route: 'mailer', event: 'FUNCTION_CALL', function: 'sendEmail' }
    for (const outcome of ['ok', 'replayed', 'invalid_arguments'])
      expect(await count({ ...sendEmail, outcome })).toBe(1)
    expect(await count({ route: 'auth', event: 'METRIC_UPDATE', outcome: 'ignored' })).toBe(1)
    expect(await count({ route: 'auth', event: 'other', outcome: 'invalid_event' })).toBe(1)
    expect(await count({ function: 'getDeliveryStats', outcome: 'provider_error' })).toBe(1)
    expect(await count({})).toBe(6)
    expect(await value('webhook_event_duration_seconds_count', sendEmail)).toBe(3)
  })

  it('counts messages by their fate, those of a batch too, and no replay', async () => {
    const { world, send, value } = startMeasured()
    const count = (fate: string) => value('webhook_messages_total', { route: 'mailer', fate })
    const fates = () => Promise.all(['sent', 'failed', 'unknown'].map(count))
    expect(await fates()).toEqual([0, 0, 0])
    const messages = [mail, { ...mail, to: 'no address' }, mail]
    for (let turn = 0; turn < 2; turn += 1)
      await send('mailer', calling('sendEmails', { messages }), { id: 'evt_1' })
    await send('mailer', calling('sendEmail', mail), { id: 'evt_2' })
    expect(await fates()).toEqual([3, 1, 0])
    world.mail.faults.add({ method: 'POST', status: 500 })
    await send('mailer', calling('sendEmails', { messages }), { id: 'evt_3' })
    world.mail.faults.add({ method: 'POST', status: 500 })
    await send('mailer', calling('sendEmail', mail), { id: 'evt_4' })
    expect(await fates()).toEqual([3, 2, 3])
    for (const outcome of ['partial', 'unknown'])
      expect(await value('webhook_events_total', { function: 'sendEmails', outcome })).toBe(1)
  })

  it('counts refused signatures, whatever the sender wrote into the request', async () => {
    const { send, value } = startMeasured({
      variables: { PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret },
    })
    for (const name of ['HEALTH_CHECK', 'x'.repeat(50)]) await send('mailer', { name }, { id: name })
    const labels = { route: 'mailer', event: 'other', function: '', outcome: 'invalid_signature' }
    expect(await value('webhook_events_total', labels)).toBe(2)
    expect(await value('webhook_events_total', {})).toBe(2)
  })

  it('counts each attempt of a call to a provider, by method and outcome', async () => {
    const { world, send, value } = startMeasured()
    for (const status of [429, 422, 503]) {
      world.mail.faults.add({ method: 'POST', status })
      await send('mailer', calling('sendEmail', mail), { id: `evt_${status}` })
    }
    world.mail.faults.add({ method: 'POST', cut: 'before' })
    await send('mailer', calling('sendEmail', mail), { id: 'evt_cut' })
    const labels = { integration: 'mailer', method: 'POST' }
    // The retry after 429 succeeds.
    for (const outcome of ['429', '4xx', '5xx', 'unreachable', '2xx'])
      expect(await value('webhook_provider_requests_total', { ...labels, outcome })).toBe(1)
    expect(await value('webhook_provider_request_duration_seconds_count', labels)).toBe(5)
  })

  it('counts each attempt of a callback to the platform', async () => {
    const { world, send, value } = startMeasured()
    const deployment = mailDeployment('dep_1')
    world.platform.addDeployment(deployment)
    world.platform.faults.add({ method: 'PUT', path: /outputs$/, status: 503 })
    await send('mailer', { name: 'DEPLOYMENT_CREATED', deployment })
    await send('mailer', { name: 'METRIC_UPDATE', deployment: { id: 'dep_1' } })
    const count = (callback: string, outcome: string) =>
      value('webhook_platform_requests_total', { callback, outcome })
    expect([await count('setOutputs', '5xx'), await count('setOutputs', '2xx')]).toEqual([1, 1])
    expect(await count('setStatus', '2xx')).toBe(2)
    for (const callback of ['getDeployment', 'appendLogs', 'reportMetrics'])
      expect(await count(callback, '2xx')).toBe(1)
    world.platform.faults.add({ html: true })
    await send('mailer', { name: 'METRIC_UPDATE', deployment: { id: 'dep_1' } })
    expect(await count('getDeployment', 'malformed')).toBe(1)
    expect(await value('webhook_provider_requests_total', { outcome: '5xx' })).toBe(0)
  })

  it('counts the requests that a provider refuses for their credentials, by the owner of the credential', async () => {
    const { world, send, value } = startMeasured()
    world.mail.faults.add({ status: 401, ...always })
    const rejected = (owner: string) =>
      value('webhook_provider_credentials_rejected_total', { integration: 'mailer', owner })
    await send('mailer', calling('sendEmail', mail))
    expect([await rejected('host'), await rejected('deployment')]).toEqual([1, 0])
    await send('mailer', { ...calling('sendEmail', mail), deployment: mailDeployment('dep_1') })
    expect([await rejected('host'), await rejected('deployment')]).toEqual([1, 1])
  })

  it('counts how late timers fire, whoever reads the metrics meanwhile', async () => {
    const { read, value } = startMeasured()
    await read()
    const end = performance.now() + 300
    while (performance.now() < end);
    const late = async () => {
      await read()
      const all = await value('webhook_event_loop_lag_seconds_count')
      return all - (await value('webhook_event_loop_lag_seconds_bucket', { le: '0.05' }))
    }
    await expect.poll(late).toBeGreaterThan(0)
    expect(await late()).toBeGreaterThan(0)
  })

  it('shows events under way, and whether the store can be reached', async () => {
    const store = memoryStore()
    const seen: number[] = []
    let isAway = false
    const { send, value } = startMeasured({
      store: {
        ...store,
        async claim(request) {
          seen.push(await value('webhook_events_in_flight'))
          return store.claim(request)
        },
        probe: () => (isAway ? Promise.reject(new Error('away')) : store.probe()),
      },
    })
    await send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
    expect([...seen, await value('webhook_events_in_flight')]).toEqual([1, 0])
    expect(await value('webhook_store_reachable')).toBe(1)
    isAway = true
    // It writes once a second at most.
    await expect.poll(() => value('webhook_store_reachable')).toBe(0)
  })

  it('shows an open circuit, and counts the calls that it stops', async () => {
    const { world, send, value } = startMeasured()
    const circuits = (integration: string, state: string) =>
      value('webhook_provider_circuits', { integration, state })
    await send('mailer', { name: 'HEALTH_CHECK' })
    expect(await circuits('mailer', 'closed')).toBe(1)
    world.mail.faults.add({ status: 500, ...always })
    for (let sent = 0; sent < 25; sent += 1) await send('mailer', calling('getDeliveryStats'))
    expect([await circuits('mailer', 'open'), await circuits('mailer', 'closed')]).toEqual([1, 0])
    expect(await circuits('idp', 'open')).toBe(0)
    const stopped = { integration: 'mailer', outcome: 'circuit_open' }
    expect(await value('webhook_provider_requests_total', stopped)).toBeGreaterThan(0)
  })

  it('has the same series after a thousand hostile names, ids, paths and servers', async () => {
    const { host, send, read } = startMeasured()
    const ask = (path: string, method: string) =>
      host.fetch(new Request(`http://host.test${path}`, { method }))

    async function attempt(at: number): Promise<void> {
      const text = [`x${at}`, `evt-${at}@example.com`, `"}\n# ${at}`, `__proto__${at}`][at % 4] ?? ''
      const deployment = mailDeployment(text, `https://server-${at}.example.com`)
      await Promise.all([
        send('mailer', { name: text }),
        send('mailer', calling(text, { [text]: text }), { id: `delivery ${at}` }),
        send('idp', { ...calling(text), deployment: { id: text } }),
        send('mailer', { name: 'HEALTH_CHECK', deployment }),
        send('mailer', { name: 'DEPLOYMENT_DELETED', deployment }),
        ask('/mailer/webhook', `M${at}`),
        ask(`/${encodeURIComponent(text)}/webhook`, 'POST'),
        ask(`/deliveries/${encodeURIComponent(text)}`, 'GET'),
      ])
    }

    const labels = async () => {
      const own = (await read()).filter(({ name }) => name.startsWith('webhook_'))
      return new Set(own.map((each) => JSON.stringify([each.name, each.labels])))
    }
    await attempt(0)
    const before = await labels()
    for (let at = 1; at <= 125; at += 1) await attempt(at)
    expect(await labels()).toEqual(before)
  })
})
