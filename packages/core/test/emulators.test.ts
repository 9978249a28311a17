/** What the emulators promise beyond their use in the tests of all packages, which meets every fault and every callback. */
import { createEmulator, createFaults, createPlatformEmulator, serve } from '@org/core/testing'
import { expect, it } from 'vitest'

it.each([
  [{ hang: true }, 0],
  [{ hang: 'after' }, 1],
  [{ delayMs: 200 }, 1],
] as const)('the fault %j leaves a client that gives up, after %i effects', async (fault, count) => {
  const faults = createFaults()
  faults.add(fault)
  let effects = 0
  const handle = () => {
    effects += 1
    return new Response()
  }
  const emulator = createEmulator({ faults, handle, details: () => ({}) })
  const client = new AbortController()
  const response = emulator.fetch('http://emulator.test', { signal: client.signal })
  await expect.poll(() => emulator.calls.length, { interval: 1 }).toBe(1)
  client.abort(new Error('no more patience'))
  await expect(response).rejects.toThrow('no more patience')
  await expect.poll(() => effects).toBe(count)
})

it.each([
  [{ method: 'put', path: '/a', status: 500 }, ['GET /a', 'PUT /a/b', 'PUT /a?x'], [0, 0, 500]],
  [{ path: /\/b\/\d+$/g, status: 501, times: 2 }, ['GET /b/12', 'PUT /b/12', 'GET /b/12'], [501, 501, 0]],
  [{ method: 'DELETE', status: 502, skip: 1 }, ['DELETE /', 'DELETE /', 'DELETE /'], [0, 502, 0]],
])('the fault %j meets, of %j, %j', (fault, requests, statuses) => {
  const faults = createFaults()
  faults.add(fault)
  const taken = requests.map((request) => {
    const [method = '', path = ''] = request.split(' ')
    return Object(faults.take(new Request(`http://emulator.test${path}`, { method }))).status ?? 0
  })
  expect([taken, faults.pending()]).toEqual([statuses, []])
})

/** A platform with two deployments, and a client with its token. */
function createPlatform() {
  const platform = createPlatformEmulator({ token: 'platform-token' })
  const [record, other] = ['dep_1', 'dep_2'].map((id) => platform.addDeployment({ id }))
  const call = (request: string, body: object, own: Record<string, string> = {}) => {
    const [method = '', path = ''] = request.split(' ')
    const headers = { authorization: 'Bearer platform-token', 'content-type': 'application/json', ...own }
    const url = `http://platform.test/deployments/${path}`
    return platform.fetch(url, { method, headers, body: JSON.stringify(body) })
  }
  return { platform, record, other, call }
}

it.each([
  ['PUT dep_1/downloads', {}, {}, 404],
  ['POST dep_1/status', {}, {}, 405],
  ['PUT dep_1/status', { authorization: 'Bearer other' }, {}, 401],
  ['PUT dep_1/status', { 'content-type': 'text/plain' }, {}, 415],
  ['PUT dep_1/status', { 'idempotency-key': '' }, {}, 422],
  ['PUT dep_1/status', {}, { extra: 1 }, 422],
  ['PUT dep_1/outputs', {}, { outputs: {}, sensitive: ['token'] }, 422],
])('the platform refuses %s with the headers %j and the fields %j as %i', async (...row) => {
  const [request, headers, fields, status] = row
  const { call, record } = createPlatform()
  const response = await call(request, { status: 'running', ...fields }, headers)
  const type = 'application/problem+json'
  expect([response.status, response.headers.get('content-type')]).toEqual([status, type])
  expect(record?.statusHistory).toEqual([])
})

it('the platform accepts a write once for each key and path, also if its response got lost', async () => {
  const { platform, call, record, other } = createPlatform()
  const entry = { level: 'warn', message: 'No fromEmail.', timestamp: '2026-11-20T09:00:00Z' }
  const log = async (entries: object[], id = 'dep_1') => {
    const { status, headers } = await call(
      `POST ${id}/logs`,
      { entries },
      { 'idempotency-key': 'evt_1:logs' },
    )
    return [status, headers.get('idempotency-replayed')]
  }
  expect(await log([])).toEqual([422, null])
  platform.faults.add({ path: /logs$/, cut: 'after' })
  await expect(log([entry])).rejects.toThrow('fetch failed')
  expect(await log([entry])).toEqual([200, 'true'])
  expect(await log([{ ...entry, message: 'y' }])).toEqual([422, null])
  expect(await log([entry], 'dep_2')).toEqual([200, null])
  expect([record?.logs, other?.logs]).toEqual([[entry], [entry]])
})

it('a served handler sees its signal abort when the client leaves, and frees its port at close', async () => {
  const client = new AbortController()
  const left = Promise.withResolvers<unknown>()
  const first = await serve(({ signal }) => {
    signal.addEventListener('abort', () => left.resolve(signal.reason))
    client.abort()
    return new Promise(() => {})
  })
  await expect(fetch(first.url, { signal: client.signal })).rejects.toThrow()
  await expect(left.promise).resolves.toMatchObject({ name: 'AbortError' })
  const waiting = fetch(first.url).catch((reason: unknown) => reason)
  await first.close()
  expect(await waiting).toBeInstanceOf(TypeError)
  const second = await serve(async () => new Response('new'), { port: first.port })
  expect(await (await fetch(first.url)).text()).toBe('new')
  await second.close()
})
