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
  const { calls, fetch } = createEmulator({ faults, handle, details: () => ({}) })
  const client = new AbortController()
  const response = fetch('http://emulator.test', { signal: client.signal })
  await expect.poll(() => calls.length, { interval: 1 }).toBe(1)
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
  expect((await call(request, { status: 'running', ...fields }, headers)).status).toBe(status)
  expect(record?.statusHistory).toEqual([])
})

it('the platform accepts a write once for each key and path, also if its response got lost', async () => {
  const { platform, call, record, other } = createPlatform()
  const entry = { level: 'warn', message: 'No fromEmail.', timestamp: '2026-11-20T09:00:00Z' }
  const key = { 'idempotency-key': 'evt_1:logs' }
  const log = (message: string, id = 'dep_1') =>
    call(`POST ${id}/logs`, { entries: [{ ...entry, message }] }, key)
  platform.faults.add({ path: /logs$/, cut: 'after' })
  await expect(log('x')).rejects.toThrow('fetch failed')
  const responses = [await log('x'), await log('y'), await log('x', 'dep_2')]
  expect(responses.map(({ status }) => status)).toEqual([200, 422, 200])
  expect(responses.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual(['true', null, null])
  for (const each of [record, other]) expect(each?.logs).toEqual([{ ...entry, message: 'x' }])
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
  const waiting = fetch(first.url)
  await Promise.all([expect(waiting).rejects.toThrow(), first.close()])
  const second = await serve(async () => new Response('new'), { port: first.port })
  expect(await (await fetch(first.url)).text()).toBe('new')
  await second.close()
})
