import { breathe } from '@org/core/http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Message } from '../src/index.ts'
import {
  addressOf,
  failureOf,
  idle,
  inFakeTime,
  message,
  messages,
  runMailProvider,
  runs,
} from './support.ts'

const mail = runMailProvider()
const { provider, requests, waits, hold } = mail

afterEach(() => void vi.useRealTimers())

it('lets the first call go alone, and one more at a time after each answer', async () => {
  const [concurrency, calls] = [4, 12]
  const seen: { inFlight: number; most: number }[] = []
  let [inFlight, answered] = [0, 0]
  const most = () => Math.min(concurrency, answered + 1)
  const slowly: typeof fetch = async (input, init) => {
    inFlight += 1
    seen.push({ inFlight, most: most() })
    const response = await fetch(input, init)
    // The next answer comes once as many calls are in flight as may be, however slow the machine is.
    while (inFlight < most() && seen.length < calls) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    answered += 1
    inFlight -= 1
    return response
  }
  await mail.mailer({ fetch: slowly, concurrency }).sendEmails(messages(500 * calls))
  for (const { inFlight, most } of seen) expect(inFlight).toBeLessThanOrEqual(most)
  expect(Math.max(...seen.map(({ inFlight }) => inFlight))).toBe(concurrency)
})

/** Calls the provider in process. No time passes while a call is in flight. */
function counted() {
  let inFlight = 0
  const fetch: typeof globalThis.fetch = async (input, init) => {
    inFlight += 1
    return provider.fetch(input, init).finally(() => {
      inFlight -= 1
    })
  }
  return { fetch, passing: () => (inFlight > 0 ? 0 : 100) }
}

it('lets no more calls go at a time after a call that broke', async () => {
  const calls = hold()
  const batch = mail.mailer({ fetch: calls.fetch }).sendEmails(messages(1_500))
  for (let broken = 0; broken < 3; broken += 1) {
    await calls.answer(1, () => new Response(null, { status: 500 }))
    expect(calls.held.length).toBeLessThanOrEqual(1)
    // The read after which the next call may go.
    if (broken < 2) await calls.answer(1)
  }
  expect((await batch).unknown).toBe(1_500)
})

it('begins with several calls at a time if its journal knows how long a call takes', async () => {
  const calls = hold()
  const journal = { read: () => new Map(), write: async () => {}, callMs: 5 }
  const batch = mail.mailer({ fetch: calls.fetch }).sendEmails(messages(1_500), { journal })
  await calls.answer(3)
  expect((await batch).sent).toBe(1_500)
})

describe('a rate limit', () => {
  it('pauses the whole batch once, and fails no message', async () => {
    provider.faults.add({ skip: 6, times: 3, status: 429, headers: { 'retry-after': '2' } })
    const batch = await mail.mailer().sendEmails(messages(10_000))
    expect(batch).toMatchObject({ sent: 10_000, failed: 0, unknown: 0 })
    expect(waits.length).toBeLessThanOrEqual(3)
    expect(provider.messages).toHaveLength(10_000)
  })

  it('lets no call leave while the batch waits, and half as many at a time afterwards', async () => {
    const calls = hold()
    const pauses: [milliseconds: number, end: () => void][] = []
    const wait = (milliseconds: number) => new Promise<void>((end) => void pauses.push([milliseconds, end]))
    const mailer = mail.mailer({ fetch: calls.fetch, wait, concurrency: 4 })
    const batch = mailer.sendEmails(messages(500 * 9))
    await calls.answer(1)
    await calls.answer(2)
    await calls.answer(4, () => new Response(null, { status: 429, headers: { 'retry-after': '2' } }))
    expect([calls.held.length, pauses.map(([milliseconds]) => milliseconds)]).toEqual([0, [2_000]])
    for (const [, end] of pauses) end()
    await calls.arrived(2)
    expect(calls.held).toHaveLength(2)
    for (let left = 6; left > 0; left -= 1) await calls.answer(1)
    expect((await batch).sent).toBe(4_500)
  })

  it('may come again and again, as long as mails are accepted in between', async () => {
    const headers = { 'retry-after': '200' }
    provider.faults.add({ skip: 1, status: 429, headers }, { skip: 2, status: 429, headers })
    expect((await mail.mailer({ concurrency: 1 }).sendEmails(messages(1_500))).sent).toBe(1_500)
    expect(waits).toEqual([200_000, 200_000])
  })

  it('fails the messages if it lasts longer than five minutes, and says when to send them again', async () => {
    provider.faults.add({ skip: 1, times: 1_000, status: 429, headers: { 'retry-after': '200' } })
    const batch = await mail.mailer().sendEmails(messages(700))
    expect(runs(batch.results)).toBe('500 sent,200 failed')
    const error = { code: 'provider_rate_limited', retryable: true, retryAfter: 200 }
    expect(batch.results[600]?.error).toMatchObject(error)
    expect(waits).toEqual([200_000])
  })
})

it('gives up a provider that asks to wait no time at all, for ever', async () => {
  provider.faults.add({ times: 10_000, status: 429, headers: { 'retry-after': '0' } })
  const error = await failureOf(mail.mailer().sendEmails(messages(3)))
  expect(error).toMatchObject({ code: 'provider_rate_limited', effect: 'none', retryable: true })
  expect(requests.length).toBeLessThan(100)
})

it('does not let a message that renders slowly hold back the one before', async () => {
  let render: (html: string) => void = () => {}
  const slow = new Promise<string>((resolve) => {
    render = resolve
  })
  const given = [message({ to: addressOf(0) }), { ...message({ to: addressOf(1) }), htmlBody: slow }]
  const seen: number[] = []
  for await (const { index } of mail.mailer().streamEmails(given)) {
    seen.push(index)
    render('<p>Hello</p>')
  }
  expect(seen).toEqual([0, 1])
  expect(requests).toHaveLength(2)
})

describe('a time limit', () => {
  it.each(['fetch', 'journal', 'body'] as const)(
    'ends a batch and a send whose %s never answers',
    async (stuck) => {
      let isStuck = false
      const forever = () => {
        isStuck = true
        return new Promise<never>(() => {})
      }
      const given = stuck === 'body' ? { ...message(), htmlBody: forever } : message()
      const mailer = mail.mailer({ fetch: stuck === 'fetch' ? forever : provider.fetch })
      const journal = stuck === 'journal' ? { read: () => new Map(), write: forever } : undefined
      const limits = { timeoutMs: 2_000 }
      const batch = () =>
        mailer.sendEmails([given, given], { ...limits, journal }).catch((error: unknown) => error)
      const ended = await inFakeTime(batch, () => (isStuck ? 1_000 : 0))
      const status = stuck === 'fetch' ? 'unknown' : 'failed'
      expect(ended).toMatchObject({ results: [{ status }, { status }] })
      if (stuck !== 'journal') await inFakeTime(() => failureOf(mailer.sendEmail(given, limits)))
    },
  )

  it('lets no call begin that takes longer than what is left, by the slowest call before it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    mail.atRequest(2, () => vi.setSystemTime(Date.now() + 11_000))
    const batch = await mail.mailer({ concurrency: 1 }).sendEmails(messages(3_000), { timeoutMs: 20_000 })
    expect(runs(batch.results)).toBe('1000 sent,2000 failed')
    expect(batch.results[1_000]?.error).toMatchObject({ code: 'provider_timeout', retryable: true })
    expect(requests).toHaveLength(2)
  })

  it('lets no call begin that would take longer than what is left, by a call that still runs', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
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
    vi.setSystemTime(Date.now() + 11_000)
    goOn()
    await idle()
    expect(calls.held).toHaveLength(1)
    await calls.answer(1)
    expect(runs((await batch).results)).toBe('1000 sent,1 failed')
  })

  it('lets no call begin so late that its results could not be recorded', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    async function* source() {
      yield* messages(1)
      vi.setSystemTime(Date.now() + 16_000)
      yield message({ to: addressOf(1) })
    }
    const journal = { read: () => new Map(), write: async () => {} }
    const sending = mail.mailer().sendEmails(source(), { journal, timeoutMs: 20_000 })
    expect(await failureOf(sending)).toMatchObject({ code: 'overloaded', retryable: true, effect: 'none' })
    expect(requests).toEqual([])
  })

  it('ends a call of a batch without one, and the batch goes on', async () => {
    provider.faults.add({ skip: 1, hang: 'after' })
    const mailer = mail.mailer({ fetch: provider.fetch, timeoutMs: 1_000, concurrency: 1 })
    const batch = () => mailer.sendEmails(messages(1_203))
    const { results } = await inFakeTime(batch, () => (provider.messages.length === 1_000 ? 1_000 : 0))
    expect(runs(results)).toBe('500 sent,500 unknown,203 sent')
  })

  it('has no default for a whole batch', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    mail.atRequest(1, () => vi.setSystemTime(Date.now() + 3_600_000))
    expect((await mail.mailer().sendEmails(messages(501))).sent).toBe(501)
  })

  it('does not take a call that never reached the provider for a slow one', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    let isReachable = false
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (isReachable) return provider.fetch(input, init)
      isReachable = true
      vi.setSystemTime(Date.now() + 11_000)
      throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    }
    const batch = mail.mailer({ fetch }).sendEmails(messages(1_000), { timeoutMs: 20_000 })
    expect((await batch).sent).toBe(1_000)
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
    const { fetch, passing } = counted()
    const mailer = mail.mailer({ fetch })
    const batch = () => failureOf(mailer.sendEmails(source(), { timeoutMs: 10_000, onProgress }))
    const error = await inFakeTime(batch, () => (isAnswered ? 10_000 : passing()))
    expect(error).toMatchObject({ code: 'provider_timeout', effect: 'unknown', retryable: false })
    expect(error).toHaveProperty('results.0.status', 'sent')
  })
})

it('ends a batch at once when its signal fires while the source is stuck, with a code of its own', async () => {
  const controller = new AbortController()
  const reason = new Error('the user left')
  async function* stuck() {
    yield* messages(2)
    await new Promise(() => {})
  }
  const onProgress = () => controller.abort(reason)
  const { signal } = controller
  const error = await failureOf(mail.mailer().sendEmails(stuck(), { signal, onProgress }))
  expect(error).toMatchObject({ code: 'aborted', effect: 'unknown', retryable: false, cause: reason })
  expect(error).toHaveProperty('results.length', 2)
})

it('sends the messages of a live stream without waiting for a full call', async () => {
  const results: string[] = []
  let next: (() => void) | undefined
  async function* live() {
    for (let index = 0; index < 3; index += 1) {
      yield message({ to: addressOf(index) })
      await new Promise<void>((resolve) => {
        next = resolve
      })
    }
  }
  const { fetch, passing } = counted()
  await inFakeTime(async () => {
    for await (const { status } of mail.mailer({ fetch }).streamEmails(live())) {
      results.push(status)
      next?.()
    }
  }, passing)
  expect(results).toEqual(['sent', 'sent', 'sent'])
  expect(provider.calls).toHaveLength(3)
})

it('works in a test that has replaced every timer and clock, which stand still', async () => {
  vi.useFakeTimers()
  const mailer = mail.mailer({ fetch: provider.fetch })
  expect((await mailer.sendEmails(messages(600))).sent).toBe(600)
  const caller = new AbortController()
  const stuck = mail.mailer({ fetch: () => new Promise<never>(() => {}) })
  const sending = stuck.sendEmail(message(), { signal: caller.signal })
  await breathe()
  caller.abort()
  await expect(sending).rejects.toMatchObject({ code: 'outcome_unknown' })
})
