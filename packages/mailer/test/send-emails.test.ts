import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Message } from '../src/index.ts'
import { deadUrl, failureOf, message, runMailProvider } from './support.ts'

const arrangement = runMailProvider()
const { provider, requests, waits } = arrangement

afterEach(() => void vi.useRealTimers())

const addressOf = (index: number) => `a${index}@example.org`

function messages(count: number): Message[] {
  return Array.from({ length: count }, (_, index) => message({ to: addressOf(index) }))
}

/** How many messages each call held. */
const sizes = () => requests.map(({ text }) => JSON.parse(text).length)

/** The status of each message, run by run: `[['sent', 500], ['unknown', 1]]`. */
function runs(results: readonly { status: string }[]): [string, number][] {
  const found: [string, number][] = []
  for (const { status } of results) {
    const last = found.at(-1)
    if (last?.[0] === status) last[1] += 1
    else found.push([status, 1])
  }
  return found
}

describe('a batch', () => {
  it('goes out in one call, and tells of each message what came of it', async () => {
    const batch = await arrangement.mailer().sendEmails(messages(2))
    expect(requests.map(({ path }) => path)).toEqual(['/email/batch'])
    expect(batch).toEqual({
      sent: 2,
      failed: 0,
      unknown: 0,
      results: provider.messages.map(({ messageId, submittedAt, to }, index) => ({
        index,
        to: to[0],
        status: 'sent',
        messageId,
        submittedAt: new Date(submittedAt).toISOString(),
        rejected: [],
        error: null,
      })),
    })
  })

  it('of 1,203 goes out in three calls, with the results in the order given', async () => {
    const batch = await arrangement.mailer().sendEmails(messages(1_203))
    expect(sizes().toSorted((a, b) => b - a)).toEqual([500, 500, 203])
    const ids = new Map(provider.messages.map(({ to, messageId }) => [to[0], messageId]))
    expect(ids.size).toBe(1_203)
    expect(batch).toMatchObject({ sent: 1_203, failed: 0, unknown: 0 })
    expect(batch.results.map(({ index, to, messageId }) => [index, to, messageId])).toEqual(
      messages(1_203).map(({ to }, index) => [index, to, ids.get(String(to))]),
    )
  })

  it('is cut by size too: no call is over 50 MB', async () => {
    const calls: [count: number, bytes: number][] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const text = await new Request(input, init).text()
      const count = text.split('"Subject"').length - 1
      calls.push([count, text.length])
      return Response.json(Array.from({ length: count }, () => ({ ErrorCode: 0, MessageID: 'id' })))
    }
    const textBody = 'a'.repeat(9_900_000)
    const large = Array.from({ length: 6 }, () => message({ textBody }))
    const batch = await arrangement.mailer({ fetch, concurrency: 1 }).sendEmails(large)
    expect(batch.sent).toBe(6)
    expect(calls.map(([count]) => count)).toEqual([5, 1])
    expect(Math.max(...calls.map(([, bytes]) => bytes))).toBeLessThanOrEqual(50_000_000)
  })

  it('has no more calls in flight than it may', async () => {
    let inFlight = 0
    let most = 0
    const fetch: typeof globalThis.fetch = async (input, init) => {
      inFlight += 1
      most = Math.max(most, inFlight)
      const answer = await globalThis.fetch(input, init)
      inFlight -= 1
      return answer
    }
    const batch = await arrangement.mailer({ fetch, concurrency: 2 }).sendEmails(messages(2_001))
    expect([batch.sent, requests.length, most]).toEqual([2_001, 5, 2])
  })

  it('goes out also where it may have no call in flight', async () => {
    const batch = await arrangement.mailer({ concurrency: 0 }).sendEmails(messages(2))
    expect(batch.sent).toBe(2)
  })

  it('may be anything that yields messages', async () => {
    function* generate() {
      yield* messages(3)
    }
    for (const batch of [generate(), new Set(messages(3))]) {
      expect((await arrangement.mailer().sendEmails(batch)).sent).toBe(3)
    }
  })

  it('of nothing is nothing', async () => {
    const batch = await arrangement.mailer().sendEmails([])
    expect(batch).toEqual({ sent: 0, failed: 0, unknown: 0, results: [] })
    expect(requests).toEqual([])
  })
})

describe('a message that is refused fails alone', () => {
  it('before it leaves', async () => {
    const mixed = [
      message({ to: 'nobody' }),
      message(),
      message({ subject: 'a\nb' }),
      message({ textBody: '' }),
      message(),
    ]
    const batch = await arrangement.mailer().sendEmails(mixed)
    expect(batch).toMatchObject({ sent: 2, failed: 3, unknown: 0 })
    expect(batch.results.map(({ index, status, to }) => [index, status, to])).toEqual([
      [0, 'failed', null],
      [1, 'sent', 'ann@example.org'],
      [2, 'failed', null],
      [3, 'failed', null],
      [4, 'sent', 'ann@example.org'],
    ])
    expect(batch.results[2]).toEqual({
      index: 2,
      to: null,
      status: 'failed',
      messageId: null,
      submittedAt: null,
      rejected: [],
      error: {
        code: 'invalid_arguments',
        message: expect.stringContaining('subject holds a line break'),
        retryable: false,
      },
    })
    expect(sizes()).toEqual([2])
  })

  it('even where every one is: nothing is called', async () => {
    const batch = await arrangement.mailer().sendEmails([message({ to: [] }), message({ subject: '' })])
    expect(batch).toMatchObject({ sent: 0, failed: 2, unknown: 0 })
    expect(requests).toEqual([])
  })

  it('by the provider', async () => {
    provider.inactive.add(addressOf(1))
    provider.settings.senders = ['example.com']
    const [first, inactive, foreign, partly] = messages(4)
    const batch = await arrangement.mailer().sendEmails([
      { ...message(), ...first },
      { ...message(), ...inactive },
      { ...message(), ...foreign, from: 'me@elsewhere.example' },
      { ...message(), ...partly, to: [addressOf(3), addressOf(1)] },
    ])
    expect(batch).toMatchObject({ sent: 2, failed: 2, unknown: 0 })
    expect(batch.results).toMatchObject([
      { status: 'sent', rejected: [], error: null },
      { status: 'failed', messageId: null, error: { code: 'provider_rejected', retryable: false } },
      { status: 'failed', messageId: null, error: { code: 'provider_rejected', retryable: false } },
      { status: 'sent', rejected: [addressOf(1)] },
    ])
    expect(batch.results[1]?.error?.message).toMatch(/406.*\[address\].*reactivate/)
    expect(batch.results[2]?.error?.message).toMatch(/400.*\[address\].*sender signature/)
    expect(JSON.stringify(batch.results.map(({ error }) => error))).not.toContain('@')
  })
})

describe('a call that breaks decides about its own messages alone', () => {
  it.each(['before', 'after'] as const)('where it broke %s the provider took it', async (cut) => {
    provider.faults.add({ path: '/email/batch', skip: 1, cut })
    const batch = await arrangement.mailer({ concurrency: 1 }).sendEmails(messages(1_203))
    expect(batch).toMatchObject({ sent: 703, failed: 0, unknown: 500 })
    expect(runs(batch.results)).toEqual([
      ['sent', 500],
      ['unknown', 500],
      ['sent', 203],
    ])
    expect(batch.results[500]).toMatchObject({
      index: 500,
      to: addressOf(500),
      messageId: null,
      error: { code: 'outcome_unknown', retryable: false },
    })
    expect([sizes(), provider.messages.length]).toEqual([[500, 500, 203], cut === 'after' ? 1_203 : 703])
  })

  it('where it was refused as a whole', async () => {
    provider.faults.add({ skip: 1, status: 503, body: { ErrorCode: 100, Message: 'Maintenance' } })
    const batch = await arrangement.mailer({ concurrency: 1 }).sendEmails(messages(501))
    expect(batch).toMatchObject({ sent: 500, failed: 1, unknown: 0 })
    expect(batch.results[500]?.error).toMatchObject({ code: 'provider_error', retryable: true })
  })

  it.each([
    ['too few answers', [{ ErrorCode: 0, MessageID: 'id' }]],
    ['an answer that is none', [{ ErrorCode: 0, MessageID: 'id' }, { hello: 'world' }]],
    [
      'too many answers',
      [{ hello: 'world' }, { ErrorCode: 0, MessageID: 'a' }, { ErrorCode: 0, MessageID: 'b' }],
    ],
    ['no list', { ErrorCode: 0, MessageID: 'id' }],
  ])('where the provider gives %s', async (_what, body) => {
    provider.faults.add({ status: 200, body })
    const batch = await arrangement.mailer().sendEmails(messages(2))
    expect(batch).toMatchObject({ sent: 0, failed: 0, unknown: 2 })
    expect(requests).toHaveLength(1)
  })

  it('and is repeated where it was only asked to slow down', async () => {
    provider.faults.add({ skip: 1, status: 429, headers: { 'retry-after': '3' } })
    const batch = await arrangement.mailer({ concurrency: 1 }).sendEmails(messages(1_001))
    expect(batch.sent).toBe(1_001)
    expect([waits, sizes(), provider.messages.length]).toEqual([[3_000], [500, 500, 500, 1], 1_001])
  })
})

describe('a batch that is over before its end', () => {
  it('because of the time, says of what had not begun that it may be tried again', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    arrangement.atRequest(2, () => vi.setSystemTime(Date.now() + 31_000))
    const batch = await arrangement
      .mailer({ concurrency: 1 })
      .sendEmails(messages(1_203), { timeoutMs: 30_000 })
    expect(runs(batch.results)).toEqual([
      ['sent', 1_000],
      ['failed', 203],
    ])
    expect(batch.results[1_000]?.error).toMatchObject({ code: 'provider_timeout', retryable: true })
    expect(requests).toHaveLength(2)
  })

  it('because its caller ended it, tells what is unknown from what had not begun', async () => {
    provider.faults.add({ skip: 1, hang: 'after' })
    const controller = new AbortController()
    arrangement.atRequest(2, () => controller.abort())
    const mailer = arrangement.mailer({ concurrency: 1 })
    const batch = await mailer.sendEmails(messages(1_203), { signal: controller.signal })
    expect(runs(batch.results)).toEqual([
      ['sent', 500],
      ['unknown', 500],
      ['failed', 203],
    ])
    expect(batch.results[1_000]?.error).toMatchObject({ code: 'provider_timeout', retryable: true })
    expect(requests).toHaveLength(2)
  })

  it('because its caller ended it between two tries, does not call that unknown', async () => {
    provider.faults.add({ skip: 1, status: 429 })
    const controller = new AbortController()
    const mailer = arrangement.mailer({ concurrency: 1, wait: async () => controller.abort() })
    const batch = await mailer.sendEmails(messages(501), { signal: controller.signal })
    expect(batch).toMatchObject({ sent: 500, failed: 1, unknown: 0 })
  })
})

describe('a batch of which nothing was sent throws', () => {
  it('for a wrong token', async () => {
    provider.settings.apiTokens = ['another']
    const error = await failureOf(arrangement.mailer().sendEmails(messages(501)))
    expect(error).toMatchObject({ code: 'credentials_rejected', retryable: false, sent: 'no' })
  })

  it('for a provider that can’t be reached', async () => {
    const mailer = arrangement.mailer({ baseUrl: await deadUrl() })
    const error = await failureOf(mailer.sendEmails(messages(501)))
    expect(error).toMatchObject({ code: 'provider_error', retryable: true, sent: 'no' })
  })

  it('the reason of its caller, who ended it before it began', async () => {
    const reason = new Error('the user went away')
    const sending = arrangement.mailer().sendEmails(messages(501), { signal: AbortSignal.abort(reason) })
    await expect(sending).rejects.toBe(reason)
    expect(requests).toEqual([])
  })

  it('but not where one of its calls may have sent something', async () => {
    provider.faults.add({ cut: 'before' }, { status: 401 })
    const batch = await arrangement.mailer({ concurrency: 1 }).sendEmails(messages(501))
    expect(batch).toMatchObject({ sent: 0, failed: 1, unknown: 500 })
  })
})
