import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Message } from '../src/index.ts'
import { addressOf, failureOf, message, messages, runMailProvider, runs } from './support.ts'

const mail = runMailProvider()
const { provider, requests, waits } = mail

afterEach(() => void vi.useRealTimers())

it('lets the first call go alone, and one more at a time after each answer', async () => {
  const [concurrency, calls] = [4, 12]
  const seen: { inFlight: number; most: number }[] = []
  let [inFlight, answered] = [0, 0]
  const most = () => Math.min(concurrency, answered + 1)
  const counted: typeof fetch = async (input, init) => {
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
  await mail.mailer({ fetch: counted, concurrency }).sendEmails(messages(500 * calls))
  for (const { inFlight, most } of seen) expect(inFlight).toBeLessThanOrEqual(most)
  expect(Math.max(...seen.map(({ inFlight }) => inFlight))).toBe(concurrency)
})

describe('a rate limit', () => {
  it('pauses the whole batch once, and fails no message', async () => {
    provider.faults.add({ skip: 6, times: 3, status: 429, headers: { 'retry-after': '2' } })
    const batch = await mail.mailer().sendEmails(messages(10_000))
    expect(batch).toMatchObject({ sent: 10_000, failed: 0, unknown: 0 })
    expect(waits.length).toBeLessThanOrEqual(3)
    expect(provider.messages).toHaveLength(10_000)
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
      const forever = () => new Promise<never>(() => {})
      const given = stuck === 'body' ? { ...message(), htmlBody: forever } : message()
      const mailer = mail.mailer(stuck === 'fetch' ? { fetch: forever } : {})
      const journal = stuck === 'journal' ? { read: () => new Map(), write: forever } : undefined
      const limits = { timeoutMs: 200 }
      const batch = mailer.sendEmails([given, given], { ...limits, journal })
      const ended = await batch.catch((error: unknown) => error)
      // Nobody has read a body, so nothing has left.
      expect(ended).toMatchObject({ effect: 'none', results: [{ status: 'failed' }, { status: 'failed' }] })
      if (stuck !== 'journal') await failureOf(mailer.sendEmail(given, limits))
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

  it.each(['stuck', 'endless'] as const)('ends a batch at once whose source is %s', async (kind) => {
    async function* source(): AsyncGenerator<Message> {
      yield* messages(3)
      if (kind === 'stuck') await new Promise(() => {})
      for (let index = 3; ; index += 1) yield message({ to: addressOf(index) })
    }
    const error = await failureOf(mail.mailer().sendEmails(source(), { timeoutMs: 1_000 }))
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
  for await (const { status } of mail.mailer().streamEmails(live())) {
    results.push(status)
    next?.()
  }
  expect(results).toEqual(['sent', 'sent', 'sent'])
  expect(requests).toHaveLength(3)
})
