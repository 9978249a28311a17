import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { addressOf, deadUrl, failureOf, idle, message, messages, runMailProvider, runs } from './support.ts'

const mail = runMailProvider()
const { provider, requests, waits } = mail

/** How many messages each call held. */
const sizes = () => requests.flatMap(({ method, text }) => (method === 'POST' ? JSON.parse(text).length : []))

describe('sendEmails', () => {
  it('sends a batch in one call, and returns a result for each message', async () => {
    const batch = await mail.mailer().sendEmails(messages(2))
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

  it('sends 1,203 messages in three calls, and returns the results in the order given', async () => {
    const batch = await mail.mailer().sendEmails(messages(1_203))
    expect(sizes().toSorted((a, b) => b - a)).toEqual([500, 500, 203])
    const ids = new Map(provider.messages.map(({ to, messageId }) => [to[0], messageId]))
    expect(ids.size).toBe(1_203)
    expect(batch).toMatchObject({ sent: 1_203, failed: 0, unknown: 0 })
    expect(batch.results.map(({ index, to, messageId }) => [index, to, messageId])).toEqual(
      messages(1_203).map(({ to }, index) => [index, to, ids.get(String(to))]),
    )
  })

  it('sends a long batch in a test that has replaced every timer and clock', async () => {
    const fetch: typeof globalThis.fetch = async (_, init) => {
      const sent: { To: string }[] = JSON.parse(await new Response(init?.body).text())
      const answers = sent.map(({ To }) => ({ ErrorCode: 0, MessageID: crypto.randomUUID(), To }))
      return Response.json(answers)
    }
    const mailer = mail.mailer({ fetch })
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    expect(await mailer.sendEmails(messages(3_000))).toMatchObject({ sent: 3_000 })
  })

  it('sends no call of more than 50 MB, and has no more than 64 MB in flight', async () => {
    const calls: [count: number, bytes: number][] = []
    let inFlight = 0
    let most = 0
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const text = await new Request(input, init).text()
      inFlight += text.length
      most = Math.max(most, inFlight)
      // Another call could leave now.
      await idle()
      inFlight -= text.length
      const count = text.split('"Subject"').length - 1
      calls.push([count, text.length])
      return Response.json(
        Array.from({ length: count }, () => ({ ErrorCode: 0, MessageID: crypto.randomUUID() })),
      )
    }
    const textBody = 'a'.repeat(9_900_000)
    const large = Array.from({ length: 11 }, () => message({ textBody }))
    const batch = await mail.mailer({ fetch }).sendEmails(large)
    expect(batch.sent).toBe(11)
    expect(calls.map(([count]) => count)).toEqual([5, 5, 1])
    expect(Math.max(...calls.map(([, bytes]) => bytes))).toBeLessThanOrEqual(50_000_000)
    expect(most).toBeLessThanOrEqual(64_000_000)
  })

  it('takes messages from any iterable or async iterable', async () => {
    async function* generate() {
      yield* messages(3)
    }
    for (const batch of [generate(), new Set(messages(3))]) {
      expect((await mail.mailer().sendEmails(batch)).sent).toBe(3)
    }
  })

  it('calls nobody for an empty batch', async () => {
    const batch = await mail.mailer().sendEmails([])
    expect(batch).toEqual({ sent: 0, failed: 0, unknown: 0, results: [] })
    expect(requests).toEqual([])
  })

  it('reports its progress after each call', async () => {
    const seen: unknown[] = []
    const onProgress = (progress: unknown) => seen.push(progress)
    const batch = [...messages(700), message({ to: 'nobody' })]
    await mail.mailer({ concurrency: 1 }).sendEmails(batch, { onProgress })
    expect(seen).toEqual([
      { done: 500, sent: 500, failed: 0, unknown: 0 },
      { done: 701, sent: 700, failed: 1, unknown: 0 },
    ])
  })
})

describe('a refused message', () => {
  it('fails alone if it is invalid', async () => {
    const invalid = [{ to: 'nobody' }, { subject: 'a\nb' }, { textBody: '' }].map(message)
    const batch = await mail.mailer().sendEmails([...invalid, message(), ...invalid, message()])
    expect(batch).toMatchObject({ sent: 2, failed: 6, unknown: 0 })
    expect(batch.results.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(runs(batch.results)).toBe('3 failed,1 sent,3 failed,1 sent')
    expect(batch.results[1]).toEqual({
      index: 1,
      to: null,
      status: 'failed',
      messageId: null,
      submittedAt: null,
      rejected: [],
      error: { code: 'invalid_arguments', message: expect.stringContaining('subject'), retryable: false },
    })
    expect(sizes()).toEqual([2])
  })

  it('causes no call if all messages of the batch are invalid', async () => {
    const batch = await mail.mailer().sendEmails([message({ to: [] }), message({ subject: '' })])
    expect(batch).toMatchObject({ sent: 0, failed: 2, unknown: 0 })
    expect(requests).toEqual([])
  })

  it('fails alone if the provider refuses it', async () => {
    provider.inactive.add(addressOf(1))
    provider.settings.senders = ['example.com']
    const batch = await mail
      .mailer()
      .sendEmails([
        message({ to: addressOf(0) }),
        message({ to: addressOf(1) }),
        message({ to: addressOf(2), from: 'me@elsewhere.example' }),
        message({ to: [addressOf(3), addressOf(1)] }),
      ])
    expect(batch).toMatchObject({ sent: 2, failed: 2, unknown: 0 })
    expect(batch.results).toMatchObject([
      { status: 'sent', rejected: [], error: null },
      { status: 'failed', messageId: null, error: { code: 'provider_rejected', retryable: false } },
      { status: 'failed', messageId: null, error: { code: 'provider_rejected', retryable: false } },
      { status: 'sent', rejected: [addressOf(1)] },
    ])
    expect(batch.results[1]?.error?.message).toMatch(/406.*\[address\]/)
    expect(batch.results[2]?.error?.message).toMatch(/400.*\[address\].*Sender Signature/)
    expect(JSON.stringify(batch.results.map(({ error }) => error))).not.toContain('@')
  })
})

describe('a call that fails', () => {
  it.each(['before', 'after'] as const)(
    'leaves only its own messages unknown if it broke %s the provider accepted it',
    async (cut) => {
      provider.faults.add({ path: '/email/batch', skip: 1, cut })
      const batch = await mail.mailer({ concurrency: 1 }).sendEmails(messages(1_203))
      expect(batch).toMatchObject({ sent: 703, failed: 0, unknown: 500 })
      expect(runs(batch.results)).toBe('500 sent,500 unknown,203 sent')
      expect(batch.results[500]).toMatchObject({
        index: 500,
        to: addressOf(500),
        messageId: null,
        error: { code: 'outcome_unknown', retryable: false },
      })
      expect([sizes(), provider.messages.length]).toEqual([[500, 500, 203], cut === 'after' ? 1_203 : 703])
    },
  )

  const maintenance = { status: 503, body: { ErrorCode: 100, Message: 'Maintenance' } }

  it('waits while the provider is down for maintenance, and no longer than for an outage', async () => {
    provider.faults.add({ skip: 1, times: 3, ...maintenance })
    const batch = mail.mailer({ concurrency: 1 }).sendEmails(messages(1_501))
    expect(await batch).toMatchObject({ sent: 1_501 })
    provider.faults.add({ skip: 1, times: 999, ...maintenance })
    waits.length = 0
    const { results } = await mail.mailer({ concurrency: 1 }).sendEmails(messages(1_501))
    expect(runs(results)).toBe('500 sent,1001 failed')
    expect(results[500]?.error).toMatchObject({ code: 'provider_error', retryable: true })
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(60_000)
  })

  const accepted = { ErrorCode: 0, MessageID: 'id' }
  it.each([
    ['too few results', [accepted]],
    ['too many results', [{ hello: 'world' }, accepted, accepted]],
    ['no list', accepted],
  ])('leaves its messages unknown if the provider answers with %s', async (_what, body) => {
    provider.faults.add({ status: 200, body })
    const batch = await mail.mailer().sendEmails(messages(2))
    expect(batch).toMatchObject({ sent: 0, failed: 0, unknown: 2 })
    expect(requests).toHaveLength(1)
  })
})

describe('a batch that ends early', () => {
  it('separates the messages in flight from those not begun when its signal fires', async () => {
    provider.faults.add({ skip: 1, hang: 'after' })
    const controller = new AbortController()
    mail.atRequest(2, () => controller.abort())
    const mailer = mail.mailer({ concurrency: 1 })
    const batch = await mailer.sendEmails(messages(1_203), { signal: controller.signal })
    expect(runs(batch.results)).toBe('500 sent,500 unknown,203 failed')
    expect(batch.results[1_000]?.error).toMatchObject({ code: 'aborted', retryable: true })
    expect(requests).toHaveLength(2)
  })

  it('fails the messages of a call whose signal fires between two attempts', async () => {
    provider.faults.add({ skip: 1, status: 429 })
    const controller = new AbortController()
    const mailer = mail.mailer({ concurrency: 1, wait: async () => controller.abort() })
    const batch = await mailer.sendEmails(messages(501), { signal: controller.signal })
    expect(batch).toMatchObject({ sent: 500, failed: 1, unknown: 0 })
  })
})

describe('a batch of which nothing was sent', () => {
  it('throws if the provider can’t be reached for as long as an outage may last', async () => {
    const mailer = mail.mailer({ baseUrl: await deadUrl() })
    const unreached = await failureOf(mailer.sendEmails(messages(501), { outageMs: 5_000 }))
    expect(unreached).toMatchObject({ code: 'provider_error', retryable: true, effect: 'none' })
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(5_000)
  })

  const cause = new Error('the user left')
  it.each([
    [cause, { code: 'aborted', cause }],
    [new DOMException('late', 'TimeoutError'), { code: 'provider_timeout' }],
  ])('throws if the signal fired before with %s, and reads nothing', async (reason, expected) => {
    const source = { [Symbol.iterator]: () => ({ next: () => expect.fail('read') }) }
    const error = await failureOf(mail.mailer().sendEmails(source, { signal: AbortSignal.abort(reason) }))
    expect(error).toMatchObject({ ...expected, effect: 'none' })
    expect(requests).toEqual([])
  })

  it('returns results if the outcome of one call is unknown', async () => {
    provider.faults.add({ cut: 'before' }, { path: '/email/batch', status: 401 })
    const batch = await mail.mailer({ concurrency: 1 }).sendEmails(messages(501))
    expect(batch).toMatchObject({ sent: 0, failed: 1, unknown: 500 })
  })
})

it('reads a source whose promises are those of another realm, as in Jest', async () => {
  const Foreign: PromiseConstructor = runInNewContext('Promise')
  const given = messages(3)[Symbol.iterator]()
  const source = { [Symbol.asyncIterator]: () => ({ next: () => Foreign.resolve(given.next()) }) }
  expect((await mail.mailer().sendEmails(source)).sent).toBe(3)
})
