import type { Fault } from '@org/core/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { BatchOptions } from '../src/index.ts'
import {
  addressOf,
  deadUrl,
  endOf,
  failureOf,
  idle,
  inFakeTime,
  message,
  messages,
  pass,
  runMailProvider,
  stopClock,
} from './support.ts'

const mail = runMailProvider()
const { provider, requests, waits, hold, serial } = mail
const limit = (seconds: string) => ({ status: 429, headers: { 'retry-after': seconds } })
const page = { path: '/email/batch', status: 502 }
const noRead = { path: '/server', status: 502 }
const forEver = { times: Number.POSITIVE_INFINITY }
const maintenance = { status: 503, body: { ErrorCode: 100, Message: 'Maintenance' } }

describe('a batch', () => {
  it('lets one more call go at a time after each answer, and half as many after a rate limit', async () => {
    const calls = hold()
    const pauses: [milliseconds: number, end: () => void][] = []
    const wait = (milliseconds: number) => new Promise<void>((end) => void pauses.push([milliseconds, end]))
    const batch = mail.mailer({ fetch: calls.fetch, wait, concurrency: 4 }).sendEmails(messages(500 * 13))
    for (const inFlight of [1, 2, 4]) {
      await calls.arrived(inFlight)
      await calls.answer(inFlight)
    }
    await calls.arrived(4)
    await calls.answer(4, () => new Response(null, limit('2')))
    // None leaves meanwhile.
    await calls.arrived(0)
    expect(pauses).toEqual([[2_000, expect.any(Function)]])
    for (const [, end] of pauses) end()
    await calls.arrived(2)
    for (let left = 6; left > 0; left -= 1) await calls.answer(1)
    expect((await batch).sent).toBe(6_500)
  })

  it('lets no more calls go at a time after a call that broke', async () => {
    const calls = hold()
    const batch = mail.mailer({ fetch: calls.fetch }).sendEmails(messages(1_500))
    for (const isLast of [false, false, true]) {
      await calls.arrived(1)
      await calls.answer(1, () => new Response(null, { status: 500 }))
      // The read after which the next call may go.
      if (!isLast) await calls.answer(1)
    }
    expect((await batch).unknown).toBe(1_500)
  })

  it('sends the messages of a live stream without waiting for a full call', async () => {
    let next = () => {}
    async function* live() {
      for (const each of messages(3)) {
        yield each
        await new Promise<void>((resolve) => (next = resolve))
      }
    }
    await inFakeTime(async () => {
      for await (const { status } of mail.mailer({ fetch: provider.fetch }).streamEmails(live())) {
        expect(status).toBe('sent')
        next()
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

describe('a time limit', () => {
  const timeoutMs = 20_000
  it.each([
    ['fetch', '2 unknown', undefined],
    ['journal', '2 failed', { code: 'overloaded', retryable: true }],
    ['body', '2 failed', { code: 'provider_timeout', effect: 'none', retryable: true }],
    ['source', '2 sent', { code: 'provider_timeout', effect: 'unknown', retryable: false }],
    ['onProgress', '2 sent', undefined],
    ['resend', '2 unknown', { code: 'overloaded', effect: 'unknown', retryable: true }],
  ])('ends a batch whose %s never answers: %s, and the error %o', async (stuck, fates, error) => {
    let isStuck = false
    const forever = () => {
      isStuck = true
      return new Promise<never>(() => {})
    }
    const given = messages(2).map((each) => ({ ...each, ...(stuck === 'body' && { htmlBody: forever }) }))
    async function* source() {
      yield* given
      await forever()
    }
    const mailer = mail.mailer({ fetch: stuck === 'fetch' ? forever : provider.fetch })
    const begun = (keys: readonly string[]) => new Map(keys.map((key) => [key, 'begun'] as const))
    const journal = { read: () => new Map(), write: forever }
    const own: Record<string, BatchOptions> = {
      journal: { journal },
      resend: { journal: { ...journal, read: begun }, resend: forever },
      onProgress: { onProgress: forever },
    }
    const items = stuck === 'source' ? source() : given
    const batch = () => endOf(mailer.sendEmails(items, { timeoutMs, ...own[stuck] }))
    expect(await inFakeTime(batch, () => (isStuck ? 1_000 : 0))).toMatchObject({ fates, error })
  })

  it('lets no call begin that would take longer than what is left, by a call that still runs', async () => {
    stopClock()
    const late = Promise.withResolvers<void>()
    async function* source() {
      yield* messages(1_000)
      await late.promise
      yield message()
    }
    const calls = hold()
    const batch = endOf(mail.mailer({ fetch: calls.fetch }).sendEmails(source(), { timeoutMs }))
    await calls.answer(1)
    await calls.arrived(1)
    pass(11_000)
    late.resolve()
    await idle()
    await calls.answer(1)
    const last = { code: 'provider_timeout', retryable: true }
    expect(await batch).toMatchObject({ fates: '1000 sent,1 failed', last })
  })

  it('lets no call begin so late that its results could not be recorded', async () => {
    stopClock()
    async function* source() {
      yield* messages(1)
      pass(16_000)
      yield message()
    }
    const journal = { read: () => new Map(), write: async () => {} }
    const { error } = await endOf(mail.mailer().sendEmails(source(), { journal, timeoutMs }))
    expect(error).toMatchObject({ code: 'overloaded', retryable: true, effect: 'none' })
    expect(requests).toEqual([])
  })

  it('is that of each call where the batch has none, and the batch goes on', async () => {
    provider.faults.add({ skip: 1, hang: 'after' })
    const mailer = serial({ fetch: provider.fetch, timeoutMs: 1_000 })
    const batch = () => endOf(mailer.sendEmails(messages(1_203)))
    const { fates } = await inFakeTime(batch, () => (provider.messages.length === 1_000 ? 1_000 : 0))
    expect(fates).toBe('500 sent,500 unknown,203 sent')
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
    expect((await mail.mailer({ fetch }).sendEmails(messages(1_000), { timeoutMs })).sent).toBe(1_000)
  })
})

describe('while the provider takes no call, a batch', () => {
  const send = (count: number, options?: BatchOptions) => endOf(serial().sendEmails(messages(count), options))
  const waited = () => waits.reduce((total, wait) => total + wait, 0)
  const later = { code: 'provider_error', retryable: true }

  it('waits again and again, as long as mails are accepted in between', async () => {
    provider.faults.add({ skip: 1, ...limit('200') }, { skip: 2, ...limit('200') })
    expect(await send(1_500)).toMatchObject({ fates: '1500 sent' })
    provider.faults.add({ skip: 1, times: 3, ...maintenance })
    expect(await send(1_501)).toMatchObject({ fates: '1501 sent' })
    expect(waits.slice(0, 2)).toEqual([200_000, 200_000])
  })

  it('fails the rest after a rate limit of five minutes, and says when to send it again', async () => {
    provider.faults.add({ skip: 1, ...forEver, ...limit('200') })
    const last = { code: 'provider_rate_limited', retryable: true, retryAfter: 200 }
    expect(await send(700)).toMatchObject({ fates: '500 sent,200 failed', last })
    expect(waits).toEqual([200_000])
  })

  it('throws if it sent nothing, after pauses that grow', async () => {
    provider.faults.add({ ...forEver, ...limit('0') })
    const error = { code: 'provider_rate_limited', effect: 'none', retryable: true }
    expect(await send(3)).toMatchObject({ error, fates: '3 failed' })
    expect(requests.length).toBeLessThan(100)
  })

  it('leaves unknown what was under way, and sends the rest when the provider answers a read', async () => {
    provider.faults.add({ skip: 4, ...page }, { times: 3, ...noRead })
    const { fates, results } = await send(4_000)
    expect(fates).toBe('2000 sent,500 unknown,1500 sent')
    const error = { code: 'outcome_unknown', retryable: false }
    expect(results[2_000]).toMatchObject({ to: addressOf(2_000), messageId: null, error })
    expect(provider.messages).toHaveLength(3_500)
  })

  it('fails the rest after a minute in which the provider answers no read', async () => {
    provider.faults.add({ skip: 1, ...page }, { ...forEver, ...noRead })
    expect(await send(2_000)).toMatchObject({ fates: '500 sent,500 unknown,1000 failed', last: later })
    expect(waited()).toBe(60_000)
  })

  it('ends with the longest outage if it reaches nobody', async () => {
    const unreached = serial({ baseUrl: await deadUrl() }).sendEmails(messages(501), { outageMs: 5_000 })
    expect(await failureOf(unreached)).toMatchObject({ ...later, effect: 'none' })
    expect(waited()).toBeLessThanOrEqual(5_000)
  })

  it('ends with the longest outage if reads succeed, and calls go on to break', async () => {
    stopClock()
    provider.faults.add({ skip: 1, ...forEver, ...page })
    const patient = serial({ wait: async (milliseconds) => pass(milliseconds) })
    const started = Date.now()
    const { fates } = await endOf(patient.sendEmails(messages(10_000), { outageMs: 20_000 }))
    expect([fates, Date.now() - started]).toEqual(['500 sent,3000 unknown,6500 failed', 20_000])
  })

  it('makes no call after the longest outage, also if the reads took the time', async () => {
    stopClock()
    provider.faults.add(page)
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (new URL(String(input)).pathname === '/server') pass(4_000)
      return provider.fetch(input, init)
    }
    const { fates } = await endOf(serial({ fetch }).sendEmails(messages(1_000), { outageMs: 3_000 }))
    expect(fates).toBe('500 unknown,500 failed')
  })

  it('that had nothing to send for longer than an outage goes on after a call that broke', async () => {
    stopClock()
    async function* source() {
      yield* messages(500)
      await idle()
      pass(600_000)
      yield message()
    }
    provider.faults.add(page, { times: 2, ...noRead })
    const { fates } = await endOf(mail.mailer({ fetch: provider.fetch }).sendEmails(source()))
    expect(fates).toBe('500 unknown,1 sent')
  })

  it.each<[Fault, string]>([
    [page, '500 unknown,500 failed'],
    [{ skip: 1, ...limit('1') }, '500 sent,500 failed'],
  ])('that is stopped while it waits says so: %j', async (fault, fates) => {
    const stop = new AbortController()
    provider.faults.add(fault, noRead)
    const waiting = serial({ wait: async () => stop.abort() })
    const end = await endOf(waiting.sendEmails(messages(1_000), { stop: stop.signal }))
    expect(end).toMatchObject({ fates, last: { code: 'aborted' } })
  })

  it('and a mail that waits for a rate limit do not leave after the outcome of another is unknown', async () => {
    provider.faults.add({ path: '/email', status: 429 }, { path: '/email', status: 502 })
    const both = mail.mailer({
      async wait() {
        await expect(both.sendEmail(message())).rejects.toMatchObject({ code: 'outcome_unknown' })
      },
    })
    await expect(both.sendEmail(message())).rejects.toMatchObject({ ...later, effect: 'none' })
    expect(provider.messages).toEqual([])
  })
})
