import { IntegrationError } from '@org/core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startPlatform } from './platform.ts'

let platform: Awaited<ReturnType<typeof startPlatform>>

beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.server.close())
beforeEach(() => platform.reset())
afterEach(() => vi.useRealTimers())

const running = { status: 'running' } as const

describe('a platform that asks to wait', () => {
  it('is asked again after exactly that time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    platform.faults.add(
      { status: 429, headers: { 'retry-after': '3' } },
      { status: 503, headers: { 'retry-after': '2' } },
    )
    const call = platform.connect({ fetch: platform.fetch }).setStatus('dep_1', running)
    for (const { milliseconds, calls } of [
      { milliseconds: 2_999, calls: 1 },
      { milliseconds: 1, calls: 2 },
      { milliseconds: 1_999, calls: 2 },
      { milliseconds: 1, calls: 3 },
    ]) {
      await vi.advanceTimersByTimeAsync(milliseconds)
      expect(platform.calls).toHaveLength(calls)
    }
    expect(await call).toBe('accepted')
  })

  it('for longer than the call may take is not asked again, and its Retry-After is passed on', async () => {
    platform.faults.add({ status: 429, headers: { 'retry-after': '16' } })
    const call = platform.connect().setStatus('dep_1', running)
    await expect(call).rejects.toMatchObject({ code: 'platform_unavailable', retryAfter: 16 })
    expect(platform.calls).toHaveLength(1)
  })

  it('again and again is given up within fifteen seconds in all', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    platform.faults.add({ status: 503, headers: { 'retry-after': '6' }, times: 9 })
    const call = platform.connect({ fetch: platform.fetch }).setStatus('dep_1', running)
    const given = expect(call).rejects.toMatchObject({ retryAfter: 6 })
    await vi.advanceTimersByTimeAsync(12_000)
    await given
    expect(platform.calls).toHaveLength(3)
  })

  it('is given up within the time that the options allow', async () => {
    platform.faults.add({ hang: true, times: 9 })
    const call = platform.connect({ timeoutMs: 50 }).setStatus('dep_1', running)
    await expect(call).rejects.toMatchObject({ code: 'platform_unavailable', retryable: true })
    expect(platform.calls).toHaveLength(1)
  })
})

it('the signal of the caller ends a call, and nothing is sent after that', async () => {
  const client = platform.connect()
  const signal = AbortSignal.abort()
  await expect(client.setStatus('dep_1', running, { signal })).rejects.toMatchObject({
    code: 'platform_unavailable',
  })
  await expect(client.getDeployment('dep_1', { signal })).rejects.toMatchObject({
    code: 'platform_unavailable',
  })
  expect(platform.calls).toEqual([])
})

it('a call that must not leave any more is not made, also not as a repetition', async () => {
  platform.faults.add({ status: 503, times: 9 })
  const taken = new IntegrationError('delivery_in_progress', 'Another delivery has taken this over.')
  const ensureHeld = () => {
    if (platform.calls.length === 2) throw taken
  }
  await expect(platform.connect().setStatus('dep_1', running, { ensureHeld })).rejects.toBe(taken)
  expect(platform.calls).toHaveLength(2)
})

it('a failure does not say that an effect is unknown: every callback may be made twice', async () => {
  platform.faults.add({ cut: 'after', times: 9 })
  await expect(platform.connect().setStatus('dep_1', running)).rejects.toMatchObject({
    sent: 'no',
    retryable: true,
  })
})

describe('the base URL', () => {
  it.each(['/api/v1', '/api/v1/', '/'])('may end in “%s”', async (base) => {
    const paths: string[] = []
    const client = platform.connect({
      baseUrl: `https://platform.example.com${base}`,
      async fetch(input, init) {
        paths.push(new Request(input, init).url)
        return Response.json({ accepted: true })
      },
    })
    await client.setStatus('dep_1', running)
    const prefix = base.replace(/\/$/, '')
    expect(paths).toEqual([`https://platform.example.com${prefix}/deployments/dep_1/status`])
  })
})

describe('an idempotency key', () => {
  it.each([
    ['evt_1:status-running.1', 'evt_1:status-running.1'],
    ['évt 日本:logs', '%C3%A9vt%20%E6%97%A5%E6%9C%AC:logs'],
    ['a\r\nx-injected: 1', 'a%0D%0Ax-injected:%201'],
  ])('%j is sent as “%s”', async (idempotencyKey, sent) => {
    expect(await platform.connect().setStatus('dep_1', running, { idempotencyKey })).toBe('accepted')
    expect(platform.calls[0]?.idempotencyKey).toBe(sent)
  })

  it('that is left out is not sent', async () => {
    await platform.connect().setStatus('dep_1', running)
    expect(platform.headers[0]?.has('idempotency-key')).toBe(false)
  })
})
