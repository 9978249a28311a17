import type { Platform } from '@org/core'
import type { Fault } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startPlatform, token } from './platform.ts'

let platform: Awaited<ReturnType<typeof startPlatform>>

beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.server.close())
beforeEach(() => platform.reset())

const timestamp = '2026-11-20T09:00:00.000Z'
const key = { idempotencyKey: 'evt_1:step' }
const running = { status: 'running' } as const

/** The message of the error that a call throws, with the error itself. */
async function failureOf(call: Promise<unknown>) {
  const error: unknown = await call.catch((reason: unknown) => reason)
  return { error, text: `${error}` }
}

describe.each([
  {
    name: 'setStatus',
    write: (client: Platform, id: string) =>
      client.setStatus(id, { status: 'failed', message: 'No token.' }, key),
    request: 'PUT /deployments/dep_1/status',
    body: { status: 'failed', message: 'No token.' },
  },
  {
    name: 'setStatus without a message',
    write: (client: Platform, id: string) =>
      client.setStatus(id, { status: 'running', message: undefined }, key),
    request: 'PUT /deployments/dep_1/status',
    body: { status: 'running' },
  },
  {
    name: 'appendLogs',
    write: (client: Platform, id: string) =>
      client.appendLogs(id, [{ level: 'warn', message: 'No sender.', timestamp, data: { a: 1 } }], key),
    request: 'POST /deployments/dep_1/logs',
    body: { entries: [{ level: 'warn', message: 'No sender.', timestamp, data: { a: 1 } }] },
  },
  {
    name: 'setOutputs',
    write: (client: Platform, id: string) =>
      client.setOutputs(id, { outputs: { secretKey: 'sk_1', url: 'u' }, sensitive: ['secretKey'] }, key),
    request: 'PUT /deployments/dep_1/outputs',
    body: { outputs: { secretKey: 'sk_1', url: 'u' }, sensitive: ['secretKey'] },
  },
  {
    name: 'reportMetrics',
    write: (client: Platform, id: string) =>
      client.reportMetrics(id, [{ name: 'emails_sent', value: 3, unit: 'mails', timestamp }], key),
    request: 'POST /deployments/dep_1/metrics',
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
    request: 'PUT /deployments/dep_1/downloads/dl%2F1',
    body: { files: [{ path: '.env.local', contentType: 'text/plain', content: 'A=1' }] },
  },
])('$name', ({ write, request, body }) => {
  it('sends the call of the contract with the token and the idempotency key', async () => {
    expect(await write(platform.connect(), 'dep_1')).toBe('accepted')
    expect(platform.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([request])
    expect(platform.calls).toMatchObject([{ status: 200, idempotencyKey: 'evt_1:step' }])
    expect(platform.calls[0]?.body).toEqual(body)
    expect(platform.headers[0]?.get('authorization')).toBe(`Bearer ${token}`)
    expect(platform.headers[0]?.get('content-type')).toBe('application/json')
  })

  it('resolves to “gone” if the platform does not know the deployment, and does not retry', async () => {
    expect(await write(platform.connect(), 'dep_2')).toBe('gone')
    expect(platform.calls).toHaveLength(1)
  })

  it('retries with the same key and body until the platform accepts the call', async () => {
    platform.faults.add({ status: 503 }, { cut: 'before' }, { cut: 'during' }, { status: 429 })
    expect(await write(platform.connect(), 'dep_1')).toBe('accepted')
    expect(platform.calls.map(({ status }) => status)).toEqual([503, undefined, 200, 429, 200])
    for (const call of platform.calls) expect(call).toMatchObject({ body, idempotencyKey: 'evt_1:step' })
  })
})

describe('getDeployment', () => {
  it('reads the record of a deployment whose id needs encoding', async () => {
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
    expect(platform.headers[0]?.get('authorization')).toBe(`Bearer ${token}`)
    expect(platform.headers[0]?.has('idempotency-key')).toBe(false)
  })

  it('resolves to undefined if the platform does not know the deployment', async () => {
    expect(await platform.connect().getDeployment('dep_2')).toBeUndefined()
  })

  it('counts missing and null fields as empty, and accepts unknown fields and statuses', async () => {
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

  it.each([[[]], [{ inputs: {} }], [{ id: 'dep_1', inputs: 'secret-input' }]])(
    'refuses the record %j, and does not quote it',
    async (body) => {
      platform.faults.add({ status: 200, body })
      const { error, text } = await failureOf(platform.connect().getDeployment('dep_1'))
      expect(error).toMatchObject({ code: 'platform_unavailable', retryable: true })
      expect(text).toContain('wrong shape')
      expect(text).not.toContain('secret-input')
    },
  )

  it.each<[string, Fault]>([
    ['a page', { html: true }],
    ['nothing', { empty: true }],
    ['half a record', { truncate: true }],
    ['more than 1 MiB', { status: 200, body: 'x'.repeat(2 ** 20 + 1) }],
  ])('refuses a success with %s, and does not retry', async (_, fault) => {
    platform.faults.add(fault)
    const { error } = await failureOf(platform.connect().getDeployment('dep_1'))
    expect(error).toMatchObject({ code: 'platform_unavailable', retryable: true })
    expect(platform.calls).toHaveLength(1)
  })
})

describe('a refusal', () => {
  it.each([undefined, 'wrong'])('of the token %s names PLATFORM_API_TOKEN', async (wrong) => {
    const { error, text } = await failureOf(platform.connect({ token: wrong }).setStatus('dep_1', running))
    expect(error).toMatchObject({
      code: 'platform_unavailable',
      status: 502,
      provider: { name: 'platform', status: 401 },
      hint: 'Check PLATFORM_API_TOKEN.',
    })
    expect(text).not.toContain('wrong')
    expect(platform.calls).toHaveLength(1)
    expect(platform.headers[0]?.get('authorization')).toBe(wrong ? `Bearer ${wrong}` : null)
  })

  it.each([
    { fault: { status: 403 }, hint: 'Check PLATFORM_API_TOKEN.' },
    { fault: { status: 409 }, hint: undefined },
    { fault: { status: 302, headers: { location: '/elsewhere' } }, hint: undefined },
    { fault: { status: 422, body: { detail: 'sk_1 is not an output' } }, hint: undefined },
    { fault: { status: 404 }, hint: expect.stringContaining('PLATFORM_API_URL') },
    { fault: { status: 404, html: true } as const, hint: expect.stringContaining('PLATFORM_API_URL') },
  ])('with $fault is final, and its body is not quoted', async ({ fault, hint }) => {
    platform.faults.add(fault)
    const outputs = { outputs: { secretKey: 'sk_1' }, sensitive: ['secretKey'] }
    const { error, text } = await failureOf(platform.connect().setOutputs('dep_1', outputs))
    expect(error).toMatchObject({
      code: 'platform_unavailable',
      provider: { name: 'platform', status: fault.status },
    })
    expect(error).toHaveProperty('hint', hint)
    expect(text).not.toContain('sk_1')
    expect(platform.calls).toHaveLength(1)
  })
})

it.each(['/api/v1', '/api/v1/', '/'])('accepts a base URL that ends in “%s”', async (base) => {
  const urls: string[] = []
  const client = platform.connect({
    baseUrl: `https://platform.example.com${base}`,
    async fetch(input, init) {
      urls.push(new Request(input, init).url)
      return Response.json({ accepted: true })
    },
  })
  await client.setStatus('dep_1', running)
  const prefix = base.replace(/\/$/, '')
  expect(urls).toEqual([`https://platform.example.com${prefix}/deployments/dep_1/status`])
})

it.each([
  ['evt_1:status-running.1', 'evt_1:status-running.1'],
  ['évt 日本:logs', '%C3%A9vt%20%E6%97%A5%E6%9C%AC:logs'],
  ['a\r\nx-injected: 1', 'a%0D%0Ax-injected:%201'],
])('sends the idempotency key %j as “%s”', async (idempotencyKey, sent) => {
  expect(await platform.connect().setStatus('dep_1', running, { idempotencyKey })).toBe('accepted')
  expect(platform.calls[0]?.idempotencyKey).toBe(sent)
})

it('sends no idempotency key if the caller passes none', async () => {
  await platform.connect().setStatus('dep_1', running)
  expect(platform.headers[0]?.has('idempotency-key')).toBe(false)
})
