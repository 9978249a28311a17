import { inspect } from 'node:util'
import { IntegrationError } from '@org/core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { PlatformClientOptions } from '../src/index.ts'
import { startPlatform, token } from './platform.ts'

let platform: Awaited<ReturnType<typeof startPlatform>>

beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.server.close())
beforeEach(() => platform.reset())
afterEach(() => vi.useRealTimers())

const running = { status: 'running' } as const

/** Replaces the timers, and makes a client that calls the emulator without a socket in between. */
function connectOnFakeTimers(options: Partial<PlatformClientOptions> = {}) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  return platform.connect({ fetch: platform.fetch, ...options })
}

/** Expects each further attempt exactly after its wait, in milliseconds. */
async function expectAttemptsAfter(...waits: number[]) {
  for (const [index, wait] of waits.entries()) {
    await vi.advanceTimersByTimeAsync(wait - 1)
    expect(platform.calls).toHaveLength(index + 1)
    await vi.advanceTimersByTimeAsync(1)
    expect(platform.calls).toHaveLength(index + 2)
  }
}

describe('a callback', () => {
  it.each([{ status: 501 }, { status: 599 }, { cut: 'during' }] as const)(
    'is retried after %j',
    async (fault) => {
      platform.faults.add(fault)
      expect(await platform.connect().getDeployment('dep_1')).toMatchObject({ id: 'dep_1' })
      expect(platform.calls).toHaveLength(2)
    },
  )

  it('fails after five attempts, and may safely be made again', async () => {
    platform.faults.add({ status: 500, times: 4 }, { cut: 'after', times: 9 })
    await expect(platform.connect().setStatus('dep_1', running)).rejects.toMatchObject({
      code: 'platform_unavailable',
      status: 502,
      retryable: true,
      effect: 'none',
    })
    expect(platform.calls).toHaveLength(5)
  })

  it('waits for a random part of a back-off that doubles', async () => {
    const client = connectOnFakeTimers({ backoffMs: undefined })
    vi.spyOn(Math, 'random').mockReturnValueOnce(0.5).mockReturnValueOnce(0.5)
    platform.faults.add({ status: 503, times: 2 })
    const call = client.setStatus('dep_1', running)
    await vi.advanceTimersByTimeAsync(0)
    await expectAttemptsAfter(200, 400)
    expect(await call).toBe('accepted')
  })

  it('is retried after five seconds of silence, fails after fifteen, and no error shows the token', async () => {
    const client = connectOnFakeTimers()
    platform.faults.add({ hang: true, times: 9 })
    const call = client.setStatus('dep_1', running).catch((error: unknown) => error)
    await expectAttemptsAfter(5_001)
    await vi.advanceTimersByTimeAsync(9_999)
    const error = await call
    expect(error).toMatchObject({ code: 'platform_unavailable', retryable: true })
    expect(inspect(error, { depth: 10 })).not.toContain(token)
  })
})

describe('Retry-After', () => {
  it('is honoured in seconds and as a date', async () => {
    const client = connectOnFakeTimers()
    vi.setSystemTime('2026-11-20T09:00:00Z')
    platform.faults.add(
      { status: 429, headers: { 'retry-after': '3' } },
      { status: 503, headers: { 'retry-after': 'Fri, 20 Nov 2026 09:00:05 GMT' } },
    )
    const call = client.setStatus('dep_1', running)
    await vi.advanceTimersByTimeAsync(0)
    await expectAttemptsAfter(3_000, 2_000)
    expect(await call).toBe('accepted')
  })

  it('ends the call if it asks for more time than is left, and is passed on', async () => {
    const client = connectOnFakeTimers()
    platform.faults.add({ status: 503, headers: { 'retry-after': '6' }, times: 9 })
    const call = expect(client.setStatus('dep_1', running)).rejects.toMatchObject({ retryAfter: 6 })
    await vi.advanceTimersByTimeAsync(12_000)
    await call
    expect(platform.calls).toHaveLength(3)
  })
})

it('an address that does not exist is reported with a hint at PLATFORM_API_URL', async () => {
  const client = platform.connect({ baseUrl: 'http://platform.invalid' })
  const error: unknown = await client.getDeployment('dep_1').catch((reason: unknown) => reason)
  expect(error).toMatchObject({
    code: 'platform_unavailable',
    retryable: true,
    hint: 'Check PLATFORM_API_URL, and that the platform is up.',
  })
  expect(inspect(error, { depth: 10 })).not.toContain(token)
})

it('an aborted signal ends a call before anything is sent', async () => {
  const call = platform.connect().setStatus('dep_1', running, { signal: AbortSignal.abort() })
  await expect(call).rejects.toMatchObject({ code: 'platform_unavailable' })
  expect(platform.calls).toEqual([])
})

it('a signal that aborts during a call ends it, and nothing is retried', async () => {
  platform.faults.add({ hang: true })
  const controller = new AbortController()
  const call = platform.connect().setStatus('dep_1', running, { signal: controller.signal })
  await vi.waitUntil(() => platform.calls.length === 1, { timeout: 50_000 })
  controller.abort()
  await expect(call).rejects.toMatchObject({ code: 'platform_unavailable' })
  expect(platform.calls).toHaveLength(1)
})

it('a lost lease ends a call before the next attempt, with the reason of the lease', async () => {
  platform.faults.add({ status: 503, times: 9 })
  const lost = new IntegrationError(
    'delivery_in_progress',
    'The lease of this delivery is over: another delivery may have taken it over.',
  )
  const wrapFetch =
    (transport: typeof fetch): typeof fetch =>
    async (...call) => {
      if (platform.calls.length === 2) throw lost
      return transport(...call)
    }
  await expect(platform.connect().setStatus('dep_1', running, { wrapFetch })).rejects.toBe(lost)
  expect(platform.calls).toHaveLength(2)
})
