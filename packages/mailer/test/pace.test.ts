import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Message } from '../src/index.ts'
import {
  addressOf,
  deadUrl,
  failureOf,
  idle,
  inFakeTime,
  message,
  messages,
  pass,
  runMailProvider,
  runs,
  stopClock,
} from './support.ts'

const mail = runMailProvider()
const { provider, requests, waits, hold } = mail
const sum = () => waits.reduce((total, wait) => total + wait, 0)
const broken = () => new Response(null, { status: 500 })
const limit = (seconds: string) => ({ status: 429, headers: { 'retry-after': seconds } })

describe('a batch', () => {
  it('lets the first call go alone, and one more at a time after each answer', async () => {
    const calls = hold()
    const batch = mail.mailer({ fetch: calls.fetch, concurrency: 3 }).sendEmails(messages(500 * 9))
    for (const inFlight of [1, 2, 3, 3]) {
      await calls.arrived(inFlight)
      expect(calls.held).toHaveLength(inFlight)
      await calls.answer(inFlight)
    }
    expect((await batch).sent).toBe(4_500)
  })

  it('lets no more calls go at a time after a call that broke', async () => {
    const calls = hold()
    const batch = mail.mailer({ fetch: calls.fetch }).sendEmails(messages(1_500))
    for (let breaks = 0; breaks < 3; breaks += 1) {
      await calls.answer(1, broken)
      expect(calls.held.length).toBeLessThanOrEqual(1)
      // The read after which the next call may go.
      if (breaks < 2) await calls.answer(1)
    }
    expect((await batch).unknown).toBe(1_500)
  })

  it('sends the messages of a live stream without waiting for a full call', async () => {
    let next: (() => void) | undefined
    async function* live() {
      for (let index = 0; index < 3; index += 1) {
        yield message({ to: addressOf(index) })
        await new Promise<void>((resolve) => {
          next = resolve
        })
      }
    }
    await inFakeTime(async () => {
      for await (const { status } of mail.mailer({ fetch: provider.fetch }).streamEmails(live())) {
        expect(status).toBe('sent')
        next?.()
      }
    })
    expect(provider.calls).toHaveLength(3)
  })

  it('works in a test that has replaced every timer and clock, and leaves no timer behind', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const mailer = mail.mailer({ fetch: provider.fetch })
    expect((await mailer.sendEmails(messages(3_000))).sent).toBe(3_000)
    await mailer.sendEmail(message({ htmlBody: async () => 'Hi' }))
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a rate limit', () => {
  it('lets no call leave while the batch waits, and half as many at a time afterwards', async () => {
    const calls = hold()
    const pauses: [milliseconds: number, end: () => void][] = []
    const wait = (milliseconds: number) => new Promise<void>((end) => void pauses.push([milliseconds, end]))
    const batch = mail.mailer({ fetch: calls.fetch, wait, concurrency: 4 }).sendEmails(messages(500 * 9))
    await calls.answer(1)
    await calls.answer(2)
    await calls.answer(4, () => new Response(null, limit('2')))
    expect([calls.held.length, pauses.map(([milliseconds]) => milliseconds)]).toEqual([0, [2_000]])
    for (const [, end] of pauses) end()
    await calls.arrived(2)
    expect(calls.held).toHaveLength(2)
    for (let left = 6; left > 0; left -= 1) await calls.answer(1)
    expect((await batch).sent).toBe(4_500)
  })

  it('may come again and again, as long as mails are accepted in between', async () => {
    provider.faults.add({ skip: 1, ...limit('200') }, { skip: 2, ...limit('200') })
    expect((await mail.mailer({ concurrency: 1 }).sendEmails(messages(1_500))).sent).toBe(1_500)
    expect(waits).toEqual([200_000, 200_000])
  })

  it('fails the messages if it lasts longer than five minutes, and says when to send them again', async () => {
    provider.faults.add({ skip: 1, times: 1_000, ...limit('200') })
    const { results } = await mail.mailer().sendEmails(messages(700))
    expect([runs(results), waits]).toEqual(['500 sent,200 failed', [200_000]])
    const error = { code: 'provider_rate_limited', retryable: true, retryAfter: 200 }
    expect(results[600]?.error).toMatchObject(error)
  })

  it('without a time to wait ends a batch that sent nothing, after pauses that grow', async () => {
    provider.faults.add({ times: 10_000, ...limit('0') })
    const error = await failureOf(mail.mailer().sendEmails(messages(3)))
    expect(error).toMatchObject({ code: 'provider_rate_limited', effect: 'none', retryable: true })
    expect(requests.length).toBeLessThan(100)
  })
})

describe('a time limit', () => {
  it.each(['fetch', 'journal', 'body'] as const)('ends a batch whose %s never answers', async (stuck) => {
    let isStuck = false
    const forever = () => {
      isStuck = true
      return new Promise<never>(() => {})
    }
    const given = stuck === 'body' ? { ...message(), htmlBody: forever } : message()
    const mailer = mail.mailer({ fetch: stuck === 'fetch' ? forever : provider.fetch })
    const journal = stuck === 'journal' ? { read: () => new Map(), write: forever } : undefined
    const options = { timeoutMs: 2_000, journal }
    const batch = () => mailer.sendEmails([given, given], options).catch((error: unknown) => error)
    const ended = await inFakeTime(batch, () => (isStuck ? 1_000 : 0))
    const status = stuck === 'fetch' ? 'unknown' : 'failed'
    expect(ended).toMatchObject({ results: [{ status }, { status }] })
  })

  it('lets no call begin that would take longer than what is left, by a call that still runs', async () => {
    stopClock()
    const { promise: isLate, resolve: goOn } = Promise.withResolvers<void>()
    async function* source() {
      yield* messages(1_000)
      await isLate
      yield message({ to: addressOf(1_000) })
    }
    const calls = hold()
    const batch = mail.mailer({ fetch: calls.fetch }).sendEmails(source(), { timeoutMs: 20_000 })
    await calls.answer(1)
    await calls.arrived(1)
    pass(11_000)
    goOn()
    await idle()
    await calls.answer(1)
    const { results } = await batch
    expect(runs(results)).toBe('1000 sent,1 failed')
    expect(results.at(-1)?.error).toMatchObject({ code: 'provider_timeout', retryable: true })
  })

  it('lets no call begin so late that its results could not be recorded', async () => {
    stopClock()
    async function* source() {
      yield* messages(1)
      pass(16_000)
      yield message({ to: addressOf(1) })
    }
    const journal = { read: () => new Map(), write: async () => {} }
    const error = await failureOf(mail.mailer().sendEmails(source(), { journal, timeoutMs: 20_000 }))
    expect(error).toMatchObject({ code: 'overloaded', retryable: true, effect: 'none' })
    expect(requests).toEqual([])
  })

  it('is that of each call where the batch has none, and the batch goes on', async () => {
    provider.faults.add({ skip: 1, hang: 'after' })
    const mailer = mail.mailer({ fetch: provider.fetch, timeoutMs: 1_000, concurrency: 1 })
    const batch = () => mailer.sendEmails(messages(1_203))
    const { results } = await inFakeTime(batch, () => (provider.messages.length === 1_000 ? 1_000 : 0))
    expect(runs(results)).toBe('500 sent,500 unknown,203 sent')
  })

  it('does not take a call that never reached the provider for a slow one', async () => {
    stopClock()
    let isReachable = false
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (isReachable) return provider.fetch(input, init)
      isReachable = true
      pass(11_000)
      throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    }
    expect((await mail.mailer({ fetch }).sendEmails(messages(1_000), { timeoutMs: 20_000 })).sent).toBe(1_000)
  })

  it.each(['stuck', 'endless'] as const)('ends a batch at once whose source is %s', async (kind) => {
    async function* source(): AsyncGenerator<Message> {
      yield* messages(3)
      if (kind === 'stuck') await new Promise(() => {})
      for (let index = 3; ; index += 1) yield message({ to: addressOf(index) })
    }
    let isAnswered = false
    const onProgress = () => {
      isAnswered = true
    }
    const mailer = mail.mailer({ fetch: provider.fetch })
    const batch = () => failureOf(mailer.sendEmails(source(), { timeoutMs: 10_000, onProgress }))
    const error = await inFakeTime(batch, () => (isAnswered ? 10_000 : provider.calls.length > 0 ? 0 : 100))
    expect(error).toMatchObject({ code: 'provider_timeout', effect: 'unknown', retryable: false })
    expect(error).toHaveProperty('results.0.status', 'sent')
  })
})

describe('while the provider is away, a batch', () => {
  const page = { status: 502 }
  const forEver = { times: Number.POSITIVE_INFINITY }
  const maintenance = { status: 503, body: { ErrorCode: 100, Message: 'Maintenance' } }
  const mailer = () => mail.mailer({ concurrency: 1 })

  it('leaves unknown what was under way, and sends the rest when the provider is back', async () => {
    provider.faults.add({ path: '/email/batch', skip: 4, ...page }, { path: '/server', times: 3, ...page })
    const { results } = await mailer().sendEmails(messages(4_000))
    expect(runs(results)).toBe('2000 sent,500 unknown,1500 sent')
    const error = { code: 'outcome_unknown', retryable: false }
    expect(results[2_000]).toMatchObject({ to: addressOf(2_000), messageId: null, error })
    expect(provider.messages).toHaveLength(3_500)
    provider.faults.add({ skip: 1, times: 3, ...maintenance })
    expect(await mailer().sendEmails(messages(1_501))).toMatchObject({ sent: 1_501 })
  })

  it('fails the rest after a minute in which the provider answers no read', async () => {
    provider.faults.add({ path: '/email/batch', skip: 1, ...page }, { path: '/server', ...forEver, ...page })
    const { results } = await mailer().sendEmails(messages(2_000))
    expect([runs(results), sum()]).toEqual(['500 sent,500 unknown,1000 failed', 60_000])
    expect(results.at(-1)?.error).toMatchObject({ code: 'provider_error', retryable: true })
  })

  it('ends with the longest outage if it reaches nobody', async () => {
    const unreached = mail.mailer({ baseUrl: await deadUrl() }).sendEmails(messages(501), { outageMs: 5_000 })
    const nothing = { code: 'provider_error', retryable: true, effect: 'none' }
    expect(await failureOf(unreached)).toMatchObject(nothing)
    expect(sum()).toBeLessThanOrEqual(5_000)
  })

  it('ends with the longest outage if reads succeed, and calls go on to break', async () => {
    stopClock()
    provider.faults.add({ path: '/email/batch', skip: 1, ...forEver, ...page })
    const patient = mail.mailer({ concurrency: 1, wait: async (milliseconds) => pass(milliseconds) })
    const started = Date.now()
    const { results } = await patient.sendEmails(messages(10_000), { outageMs: 20_000 })
    expect(runs(results)).toBe('500 sent,3000 unknown,6500 failed')
    expect(Date.now() - started).toBe(20_000)
  })

  it('makes no call after the longest outage, also if the reads took the time', async () => {
    stopClock()
    provider.faults.add({ path: '/email/batch', ...page })
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (new URL(String(input)).pathname === '/server') pass(4_000)
      return provider.fetch(input, init)
    }
    const slow = mail.mailer({ fetch, concurrency: 1 })
    const { results } = await slow.sendEmails(messages(1_000), { outageMs: 3_000 })
    expect(runs(results)).toBe('500 unknown,500 failed')
  })

  it('that had nothing to send for longer than an outage goes on after a call that broke', async () => {
    stopClock()
    async function* source() {
      yield* messages(500)
      await idle()
      pass(600_000)
      yield message({ to: addressOf(500) })
    }
    provider.faults.add({ path: '/email/batch', ...page }, { path: '/server', times: 2, ...page })
    const { results } = await mail.mailer({ fetch: provider.fetch }).sendEmails(source())
    expect(runs(results)).toBe('500 unknown,1 sent')
  })

  it.each([
    [{ path: '/email/batch', ...page }, '500 unknown,500 failed'],
    [{ skip: 1, ...limit('1') }, '500 sent,500 failed'],
  ] as const)('that is stopped while it waits says so: %j', async (fault, expected) => {
    const stop = new AbortController()
    provider.faults.add(fault, { path: '/server', ...page })
    const waiting = mail.mailer({ concurrency: 1, wait: async () => stop.abort() })
    const { results } = await waiting.sendEmails(messages(1_000), { stop: stop.signal })
    expect(runs(results)).toBe(expected)
    expect(results.at(-1)?.error).toMatchObject({ code: 'aborted' })
  })

  it('and a mail that waits for a rate limit do not leave after the outcome of another is unknown', async () => {
    provider.faults.add({ path: '/email', status: 429 }, { path: '/email', ...page })
    const both = mail.mailer({
      async wait() {
        await expect(both.sendEmail(message())).rejects.toMatchObject({ code: 'outcome_unknown' })
      },
    })
    await expect(both.sendEmail(message())).rejects.toMatchObject({ code: 'provider_error', effect: 'none' })
    expect(provider.messages).toEqual([])
  })
})
