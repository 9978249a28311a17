import type { Fault } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startPlatform } from './platform.ts'

let platform: Awaited<ReturnType<typeof startPlatform>>

beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.server.close())
beforeEach(() => platform.reset())

const running = { status: 'running' } as const

/** The message of the error that a call throws, with the error itself. */
async function failureOf(call: Promise<unknown>) {
  const error: unknown = await call.catch((reason: unknown) => reason)
  return { error, text: `${error}` }
}

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
    expect(platform.calls).toMatchObject([{ path: '/deployments/dep%2F%C3%BC%201', body: undefined }])
    expect(platform.headers[0]?.has('idempotency-key')).toBe(false)
  })

  it('counts missing and null fields as empty, and accepts unknown fields and statuses', async () => {
    const empty = { id: 'dep_1', inputs: {}, outputs: {}, status: undefined }
    const strange = { inputs: { a: 1 }, status: 'hibernating' }
    for (const [body, expected] of [
      [{ id: 'dep_1' }, empty],
      [{ id: 'dep_1', inputs: null, outputs: null, status: null }, empty],
      [
        { id: 'dep_1', ...strange, plan: 'gold' },
        { ...empty, ...strange },
      ],
    ]) {
      platform.faults.add({ status: 200, body })
      expect(await platform.connect().getDeployment('dep_1')).toEqual(expected)
    }
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
    expect(platform.headers[0]?.has('idempotency-key')).toBe(false)
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
