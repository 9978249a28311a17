import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPlatformEmulator, type Served, serve } from '../src/testing/index.ts'

const platform = createPlatformEmulator({ token: 'platform-token' })
const at = '2026-11-20T09:00:00Z'
let server: Served

beforeEach(async () => {
  platform.reset()
  platform.addDeployment({ id: 'dep_1', inputs: { serverType: 'shared' } })
  server = await serve(platform.fetch)
})

afterEach(() => server.close())

function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return fetch(server.url + path, {
    method,
    headers: { authorization: 'Bearer platform-token', 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

const deployment = () => platform.deployments.get('dep_1')

describe('reading', () => {
  it('answers a deployment with its inputs, outputs and status', async () => {
    const answer = await call('GET', '/deployments/dep_1')
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      id: 'dep_1',
      inputs: { serverType: 'shared' },
      outputs: {},
      status: 'deploying',
    })
  })

  it('answers 404 about a deployment it does not know, or no longer knows', async () => {
    expect((await call('GET', '/deployments/dep_2')).status).toBe(404)
    platform.removeDeployment('dep_1')
    expect((await call('GET', '/deployments/dep_1')).status).toBe(404)
    expect((await call('PUT', '/deployments/dep_1/status', { status: 'running' })).status).toBe(404)
  })

  it('decodes the id', async () => {
    platform.addDeployment({ id: 'dep/ä' })
    expect(await (await call('GET', '/deployments/dep%2F%C3%A4')).json()).toMatchObject({ id: 'dep/ä' })
    expect((await call('GET', '/deployments/%ff')).status).toBe(404)
  })
})

describe('writing', () => {
  it('keeps the status, and its history', async () => {
    expect((await call('PUT', '/deployments/dep_1/status', { status: 'running' })).status).toBe(200)
    await call('PUT', '/deployments/dep_1/status', { status: 'failed', message: 'The key is wrong.' })
    expect(deployment()?.status).toBe('failed')
    expect(deployment()?.statusHistory).toMatchObject([
      { status: 'running' },
      { status: 'failed', message: 'The key is wrong.' },
    ])
    expect(await (await call('GET', '/deployments/dep_1')).json()).toMatchObject({ status: 'failed' })
  })

  it('appends log entries', async () => {
    const entry = { level: 'warn', message: 'No fromEmail.', timestamp: at, data: { input: 'fromEmail' } }
    await call('POST', '/deployments/dep_1/logs', { entries: [entry] })
    await call('POST', '/deployments/dep_1/logs', { entries: [{ ...entry, level: 'info' }] })
    expect(deployment()?.logs).toEqual([entry, { ...entry, level: 'info' }])
  })

  it('replaces the outputs', async () => {
    await call('PUT', '/deployments/dep_1/outputs', { outputs: { old: 1 }, sensitive: [] })
    const outputs = { apiToken: 'secret', fromEmail: 'a@b.c' }
    await call('PUT', '/deployments/dep_1/outputs', { outputs, sensitive: ['apiToken'] })
    expect(deployment()).toMatchObject({ outputs, sensitive: ['apiToken'] })
    expect(await (await call('GET', '/deployments/dep_1')).json()).toMatchObject({ outputs })
  })

  it('appends metrics', async () => {
    const metric = { name: 'emails_sent', value: 3, unit: 'count', timestamp: at }
    await call('POST', '/deployments/dep_1/metrics', { metrics: [metric] })
    await call('POST', '/deployments/dep_1/metrics', { metrics: [{ ...metric, value: 4 }] })
    expect(deployment()?.metrics).toEqual([metric, { ...metric, value: 4 }])
  })

  it('keeps the files of a download', async () => {
    const files = [{ path: '.env.local', contentType: 'text/plain', content: 'A=1\n' }]
    await call('PUT', '/deployments/dep_1/downloads/dl_1', { files })
    expect(deployment()?.downloads).toEqual(new Map([['dl_1', files]]))
  })
})

describe('refusing', () => {
  it.each([{ authorization: '' }, { authorization: 'Bearer other' }])(
    'answers 401 to the authorization $authorization',
    async (headers) => {
      const answer = await call('PUT', '/deployments/dep_1/status', { status: 'running' }, headers)
      expect(answer.status).toBe(401)
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(deployment()?.statusHistory).toEqual([])
    },
  )

  it('asks nobody for a token where it has none itself', async () => {
    const open = createPlatformEmulator()
    open.addDeployment({ id: 'dep_1' })
    expect((await open.fetch('http://platform.invalid/deployments/dep_1')).status).toBe(200)
  })

  it.each([
    '/',
    '/deployments',
    '/deployments/',
    '/deployments/dep_1/other',
    '/deployments/dep_1/status/more',
    '/deployments/dep_1/downloads',
    '/deployments/dep_1/downloads/dl_1/more',
    '/other/dep_1',
  ])('knows no %s', async (path) => {
    expect((await call('GET', path)).status).toBe(404)
  })

  it.each([
    ['POST', '/deployments/dep_1', 'GET'],
    ['POST', '/deployments/dep_1/status', 'PUT'],
    ['PUT', '/deployments/dep_1/logs', 'POST'],
    ['GET', '/deployments/dep_1/outputs', 'PUT'],
    ['PUT', '/deployments/dep_1/metrics', 'POST'],
    ['POST', '/deployments/dep_1/downloads/dl_1', 'PUT'],
  ])('takes no %s %s', async (method, path, allowed) => {
    const answer = await call(method, path)
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe(allowed)
  })

  it('wants JSON', async () => {
    const path = '/deployments/dep_1/status'
    const asText = await call('PUT', path, { status: 'running' }, { 'content-type': 'text/plain' })
    expect(asText.status).toBe(415)
    expect((await call('PUT', path, '{"status":')).status).toBe(400)
  })

  it.each([
    ['PUT', 'status', { status: 'stoped' }, 'status'],
    ['PUT', 'status', {}, 'status'],
    ['PUT', 'status', { status: 'running', reason: 'x' }, ''],
    ['PUT', 'status', { status: 'running', message: 1 }, 'message'],
    ['POST', 'logs', { entries: [] }, 'entries'],
    ['POST', 'logs', { entries: [{ level: 'debug', message: 'x', timestamp: at }] }, 'entries[0].level'],
    [
      'POST',
      'logs',
      { entries: [{ level: 'info', message: 'x', timestamp: 'now' }] },
      'entries[0].timestamp',
    ],
    ['POST', 'logs', { entries: [{ level: 'info', message: 'x' }] }, 'entries[0].timestamp'],
    [
      'POST',
      'logs',
      { entries: [{ level: 'info', message: 'x', timestamp: at, data: [] }] },
      'entries[0].data',
    ],
    ['PUT', 'outputs', { outputs: {} }, 'sensitive'],
    ['PUT', 'outputs', { outputs: { a: 1 }, sensitive: ['b'] }, 'sensitive[0]'],
    ['PUT', 'outputs', { outputs: [], sensitive: [] }, 'outputs'],
    ['POST', 'metrics', { metrics: [{ name: 'a', value: '1', timestamp: at }] }, 'metrics[0].value'],
    ['POST', 'metrics', { metrics: [{ name: '', value: 1, timestamp: at }] }, 'metrics[0].name'],
    ['POST', 'metrics', [], ''],
    ['PUT', 'downloads/dl_1', { files: [{ path: 'a', content: '' }] }, 'files[0].contentType'],
  ])('answers 422 to %s %s %j, and says where', async (method, kind, body, path) => {
    const answer = await call(method, `/deployments/dep_1/${kind}`, body)
    expect(answer.status).toBe(422)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(await answer.json()).toMatchObject({
      status: 422,
      detail: expect.stringContaining('does not fit'),
      errors: [{ path, message: expect.any(String) }],
    })
    expect(deployment()).toMatchObject({ status: 'deploying', outputs: {}, logs: [], metrics: [] })
  })
})

describe('an idempotency key', () => {
  const entry = { level: 'info', message: 'x', timestamp: at }
  const log = (key: string, body: unknown = { entries: [entry] }, path = '/deployments/dep_1/logs') =>
    call('POST', path, body, { 'idempotency-key': key })

  it('gives a repeated write the same answer, and no second effect', async () => {
    const first = await log('evt_1:logs')
    const second = await log('evt_1:logs')
    expect(first.headers.has('idempotency-replayed')).toBe(false)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect([second.status, await second.json()]).toEqual([first.status, await first.json()])
    expect(deployment()?.logs).toHaveLength(1)
  })

  it('is refused with another body', async () => {
    await log('evt_1:logs')
    const answer = await log('evt_1:logs', { entries: [{ ...entry, message: 'y' }] })
    expect(answer.status).toBe(422)
    expect(deployment()?.logs).toEqual([entry])
  })

  it('counts for one path', async () => {
    platform.addDeployment({ id: 'dep_2' })
    await log('evt_1:logs')
    await log('evt_1:logs', { entries: [entry] }, '/deployments/dep_2/logs')
    expect(platform.deployments.get('dep_2')?.logs).toHaveLength(1)
  })

  it('is not used up by a refused write', async () => {
    expect((await log('evt_1:logs', { entries: [] })).status).toBe(422)
    expect((await log('evt_1:logs')).status).toBe(200)
  })

  it('must not be empty', async () => {
    expect((await log('')).status).toBe(422)
  })

  it('lets a client repeat a write whose answer was lost', async () => {
    platform.faults.add({ path: /logs$/, cut: 'after' })
    await expect(log('evt_1:logs')).rejects.toThrow('fetch failed')
    expect((await log('evt_1:logs')).headers.get('idempotency-replayed')).toBe('true')
    expect(deployment()?.logs).toHaveLength(1)
  })
})

describe('the calls', () => {
  it('are remembered with what was sent and answered, those that met a fault included', async () => {
    platform.faults.add({ status: 503 })
    const headers = { 'idempotency-key': 'evt_1:status' }
    await call('PUT', '/deployments/dep_1/status', { status: 'running' }, headers)
    await call('PUT', '/deployments/dep_1/status', { status: 'running' }, headers)
    await call('PUT', '/deployments/dep_1/status', 'not JSON')
    await call('GET', '/deployments/dep_2')
    const put = { method: 'PUT', path: '/deployments/dep_1/status', at: expect.any(String) }
    const keyed = { ...put, idempotencyKey: 'evt_1:status', body: { status: 'running' } }
    expect(platform.calls).toEqual([
      { ...keyed, status: 503 },
      { ...keyed, status: 200 },
      { ...put, idempotencyKey: undefined, body: 'not JSON', status: 400 },
      {
        ...put,
        method: 'GET',
        path: '/deployments/dep_2',
        idempotencyKey: undefined,
        body: undefined,
        status: 404,
      },
    ])
  })

  it('are no more than the newest 10,000', async () => {
    for (let index = 0; index < 10_001; index += 1) {
      await platform.fetch(`http://platform.invalid/deployments/dep_1?${index}`)
    }
    expect(platform.calls).toHaveLength(10_000)
    expect(platform.calls.at(0)?.path).toBe('/deployments/dep_1?1')
  })
})

it('forgets everything on reset', async () => {
  await call('PUT', '/deployments/dep_1/status', { status: 'running' }, { 'idempotency-key': 'evt_1:status' })
  platform.faults.add({ hang: true })
  platform.reset()
  expect([platform.deployments.size, platform.calls.length, platform.faults.pending().length]).toEqual([
    0, 0, 0,
  ])
  platform.addDeployment({ id: 'dep_1' })
  const body = { status: 'failed' }
  const answer = await call('PUT', '/deployments/dep_1/status', body, { 'idempotency-key': 'evt_1:status' })
  expect(answer.headers.has('idempotency-replayed')).toBe(false)
})
