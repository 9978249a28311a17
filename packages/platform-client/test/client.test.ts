import type { Platform } from '@org/core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startPlatform } from './platform.ts'

let platform: Awaited<ReturnType<typeof startPlatform>>

beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.server.close())
beforeEach(() => platform.reset())

const timestamp = '2026-11-20T09:00:00.000Z'
const key = { idempotencyKey: 'evt_1:step' }

/** Each write, and what the contract says of it. */
const writes = [
  {
    name: 'setStatus',
    write: (client: Platform, id: string) =>
      client.setStatus(id, { status: 'failed', message: 'No token.' }, key),
    method: 'PUT',
    path: '/deployments/dep_1/status',
    body: { status: 'failed', message: 'No token.' },
  },
  {
    name: 'setStatus without a message',
    write: (client: Platform, id: string) =>
      client.setStatus(id, { status: 'running', message: undefined }, key),
    method: 'PUT',
    path: '/deployments/dep_1/status',
    body: { status: 'running' },
  },
  {
    name: 'appendLogs',
    write: (client: Platform, id: string) =>
      client.appendLogs(id, [{ level: 'warn', message: 'No sender.', timestamp, data: { a: 1 } }], key),
    method: 'POST',
    path: '/deployments/dep_1/logs',
    body: { entries: [{ level: 'warn', message: 'No sender.', timestamp, data: { a: 1 } }] },
  },
  {
    name: 'setOutputs',
    write: (client: Platform, id: string) =>
      client.setOutputs(id, { outputs: { secretKey: 'sk_1', url: 'u' }, sensitive: ['secretKey'] }, key),
    method: 'PUT',
    path: '/deployments/dep_1/outputs',
    body: { outputs: { secretKey: 'sk_1', url: 'u' }, sensitive: ['secretKey'] },
  },
  {
    name: 'reportMetrics',
    write: (client: Platform, id: string) =>
      client.reportMetrics(id, [{ name: 'emails_sent', value: 3, unit: 'mails', timestamp }], key),
    method: 'POST',
    path: '/deployments/dep_1/metrics',
    body: { metrics: [{ name: 'emails_sent', value: 3, unit: 'mails', timestamp }] },
  },
  {
    name: 'putDownload',
    write: (client: Platform, id: string) =>
      client.putDownload(
        id,
        'dl/1',
        [{ path: '.env.local', contentType: 'text/plain', content: 'A=1' }],
        key,
      ),
    method: 'PUT',
    path: '/deployments/dep_1/downloads/dl%2F1',
    body: { files: [{ path: '.env.local', contentType: 'text/plain', content: 'A=1' }] },
  },
]

describe.each(writes)('$name', ({ write, method, path, body }) => {
  it('makes the call of the contract, with token and idempotency key', async () => {
    expect(await write(platform.connect(), 'dep_1')).toBe('accepted')
    expect(platform.calls).toMatchObject([{ method, path, status: 200, idempotencyKey: 'evt_1:step' }])
    expect(platform.calls[0]?.body).toEqual(body)
    expect(platform.headers[0]?.get('authorization')).toBe('Bearer platform-token-1')
    expect(platform.headers[0]?.get('content-type')).toBe('application/json')
  })

  it('is “gone” where the platform does not know the deployment, at the first try', async () => {
    expect(await write(platform.connect(), 'dep_2')).toBe('gone')
    expect(platform.calls).toHaveLength(1)
  })

  it('is repeated with the same key until it is taken', async () => {
    platform.faults.add({ status: 503 }, { cut: 'before' }, { cut: 'after' }, { status: 429 })
    expect(await write(platform.connect(), 'dep_1')).toBe('accepted')
    expect(platform.calls.map(({ status }) => status)).toEqual([503, undefined, undefined, 429, 200])
    expect(
      new Set(platform.calls.map((call) => `${call.idempotencyKey} ${JSON.stringify(call.body)}`)).size,
    ).toBe(1)
  })

  it('throws platform_unavailable where the platform stays away', async () => {
    platform.faults.add({ status: 500, times: 9 })
    await expect(write(platform.connect(), 'dep_1')).rejects.toMatchObject({
      code: 'platform_unavailable',
      status: 502,
      retryable: true,
      provider: { name: 'platform', status: 500 },
    })
    expect(platform.calls).toHaveLength(5)
  })
})

describe('getDeployment', () => {
  it('reads the record', async () => {
    const deployment = platform.addDeployment({ id: 'dep/ü 1', inputs: { region: 'us' } })
    deployment.outputs = { applicationId: 'app_1' }
    expect(await platform.connect().getDeployment('dep/ü 1')).toEqual({
      id: 'dep/ü 1',
      inputs: { region: 'us' },
      outputs: { applicationId: 'app_1' },
      status: 'deploying',
    })
    expect(platform.calls).toMatchObject([
      { method: 'GET', path: '/deployments/dep%2F%C3%BC%201', body: undefined },
    ])
    expect(platform.headers[0]?.get('authorization')).toBe('Bearer platform-token-1')
    expect(platform.headers[0]?.has('idempotency-key')).toBe(false)
  })

  it('is undefined where the platform does not know the deployment', async () => {
    expect(await platform.connect().getDeployment('dep_2')).toBeUndefined()
  })

  it('takes what is missing or null for empty, a status that is new, and fields that are', async () => {
    platform.faults.add(
      { status: 200, body: { id: 'dep_1' } },
      { status: 200, body: { id: 'dep_1', inputs: null, outputs: null, status: null } },
      { status: 200, body: { id: 'dep_1', inputs: { a: 1 }, status: 'hibernating', plan: 'gold' } },
    )
    const client = platform.connect()
    const empty = { id: 'dep_1', inputs: {}, outputs: {}, status: undefined }
    expect(await client.getDeployment('dep_1')).toEqual(empty)
    expect(await client.getDeployment('dep_1')).toEqual(empty)
    expect(await client.getDeployment('dep_1')).toEqual({ ...empty, inputs: { a: 1 }, status: 'hibernating' })
  })

  it.each([
    { what: 'a list', body: [] },
    { what: 'without an id', body: { inputs: {} } },
    { what: 'with inputs that are a text', body: { id: 'dep_1', inputs: 'secret-input' } },
  ])('throws platform_unavailable where the record is $what, and does not quote it', async ({ body }) => {
    platform.faults.add({ status: 200, body })
    const error: unknown = await platform
      .connect()
      .getDeployment('dep_1')
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'platform_unavailable', retryable: true })
    expect(`${error}`).toContain('Its answer does not fit')
    expect(`${error}`).not.toContain('secret-input')
  })

  it.each([{ html: true }, { empty: true }, { truncate: true }] as const)(
    'throws platform_unavailable where the answer is no record: %j',
    async (fault) => {
      platform.faults.add({ ...fault, times: 9 })
      await expect(platform.connect().getDeployment('dep_1')).rejects.toMatchObject({
        code: 'platform_unavailable',
      })
    },
  )
})

describe('a refusal', () => {
  it.each([
    { token: undefined, sent: null },
    { token: 'wrong', sent: 'Bearer wrong' },
  ])('of the token $token names PLATFORM_API_TOKEN, at the first try', async ({ token, sent }) => {
    const error: unknown = await platform
      .connect({ token })
      .setStatus('dep_1', { status: 'running' })
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'platform_unavailable',
      provider: { name: 'platform', status: 401 },
      hint: 'Check PLATFORM_API_TOKEN.',
    })
    expect(`${error}`).not.toContain('wrong')
    expect(platform.calls).toHaveLength(1)
    expect(platform.headers[0]?.get('authorization')).toBe(sent)
  })

  it('with 403 names it, too', async () => {
    platform.faults.add({ status: 403 })
    await expect(platform.connect().getDeployment('dep_1')).rejects.toMatchObject({
      hint: 'Check PLATFORM_API_TOKEN.',
    })
  })

  it('with 422 is not repeated, and its sensitive outputs are not quoted', async () => {
    platform.faults.add({ status: 422, body: { detail: 'sk_1 is not an output' } })
    const outputs = { outputs: { secretKey: 'sk_1' }, sensitive: ['secretKey'] }
    const error: unknown = await platform
      .connect()
      .setOutputs('dep_1', outputs)
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'platform_unavailable', hint: undefined })
    expect(`${error}`).not.toContain('sk_1')
    expect(platform.calls).toHaveLength(1)
  })

  it('of the connection names PLATFORM_API_URL', async () => {
    const client = platform.connect({ baseUrl: 'http://platform.invalid' })
    await expect(client.getDeployment('dep_1')).rejects.toMatchObject({
      code: 'platform_unavailable',
      retryable: true,
      hint: 'Check PLATFORM_API_URL, and that the platform is up.',
    })
  })
})
