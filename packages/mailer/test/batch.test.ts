import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { isMailError, type MessageResult } from '../src/index.ts'
import { addressOf, failureOf, idle, message, messages, runMailProvider, runs } from './support.ts'

const mail = runMailProvider()
const { provider, requests } = mail
const noToken = { status: 401, body: { ErrorCode: 10, Message: 'No token.' } }

/** Any number of messages, counted, that end with an error or never. */
function source(length = Number.POSITIVE_INFINITY, end?: unknown) {
  const seen = { read: 0, isClosed: false }
  async function* messages() {
    try {
      for (; seen.read < length; seen.read += 1) yield message({ to: addressOf(seen.read) })
      if (end !== undefined) throw end
    } finally {
      seen.isClosed = true
    }
  }
  return { seen, messages: messages() }
}

async function collect<Item>(stream: AsyncIterable<Item>): Promise<Item[]> {
  const items = []
  for await (const item of stream) items.push(item)
  return items
}

/** What a batch throws, and the results that it carries. */
async function failing(work: Promise<unknown>): Promise<{ error: unknown; results: MessageResult[] }> {
  const error: unknown = await work.then(
    () => expect.fail('expected a rejection'),
    (reason: unknown) => reason,
  )
  return { error, results: [...Object(error).results] }
}

describe('a batch', () => {
  it('of 1,203 messages leaves in three calls, and has a result for each, in the order given', async () => {
    const seen: unknown[] = []
    const onProgress = (progress: unknown) => seen.push(progress)
    const batch = await mail.mailer({ concurrency: 1 }).sendEmails(messages(1_203), { onProgress })
    expect(requests.map(({ text }) => JSON.parse(text).length)).toEqual([500, 500, 203])
    const { messageId, submittedAt = '' } = provider.messages[0] ?? {}
    const time = new Date(submittedAt).toISOString()
    const first = { index: 0, key: 'row-0', to: addressOf(0), status: 'sent', messageId, submittedAt: time }
    expect(batch.results[0]).toEqual({ ...first, rejected: [], error: null })
    const ids = provider.messages.map(({ messageId }, index) => ({ index, messageId }))
    expect(batch.results.map(({ index, messageId }) => ({ index, messageId }))).toEqual(ids)
    const counts = { failed: 0, unknown: 0 }
    expect(seen).toEqual([500, 1_000, 1_203].map((sent) => ({ done: sent, sent, ...counts })))
    expect(batch).toMatchObject({ sent: 1_203, ...counts })
  })

  it('comes from any iterable, also with promises of another realm, as in Jest', async () => {
    const Foreign: PromiseConstructor = runInNewContext('Promise')
    const given = messages(3).values()
    const foreign = { [Symbol.asyncIterator]: () => ({ next: () => Foreign.resolve(given.next()) }) }
    for (const each of [new Set(messages(3)), foreign])
      expect((await mail.mailer().sendEmails(each)).sent).toBe(3)
  })

  it('sends no call of more than 50 MB, and has no more than 64 MB in flight', async () => {
    const halves = { textBody: 'a'.repeat(4_950_000), htmlBody: 'b'.repeat(4_950_000) }
    const calls = mail.hold()
    const large = Array.from({ length: 15 }, () => message(halves))
    const batch = mail.mailer({ fetch: calls.fetch }).sendEmails(large)
    for (const count of [5, 10, 15]) {
      await calls.arrived(1)
      expect(calls.held).toHaveLength(1)
      await calls.answer(1)
      await expect.poll(() => provider.messages.length).toBe(count)
    }
    expect((await batch).sent).toBe(15)
  })
})

describe('an answer to a batch', () => {
  const change = (item: object | undefined, fields: object) => ({ ...item, ...fields })
  it.each<[string, (items: object[]) => unknown, string]>([
    ['with an unreadable item', (items) => items.with(1, { hello: 'world' }), '1 sent,1 unknown,3 sent'],
    ['that is too short', (items) => items.slice(1), '5 unknown'],
    ['that is too long', (items) => [...items, change(items[0], { MessageID: 'x' })], '5 unknown'],
    [
      'about a stranger, too,',
      (items) => items.with(1, change(items[1], { To: `${addressOf(1)}, x@y.z` })),
      '5 unknown',
    ],
    ['of a mock that has one id', (items) => items.map(() => ({ MessageID: 'id' })), '5 sent'],
    ['that is no list', ([item]) => item, '5 unknown'],
    [
      'that is much longer than the messages explain',
      (items) => items.map((item) => change(item, { note: 'x'.repeat(20_000) })),
      '5 unknown',
    ],
  ])('%s means what it certainly says', async (_, answer, expected) => {
    const given = messages(5).map((each, at) => ({ ...each, to: `Ann <A${at}@Example.org>`, cc: 'b@b.co' }))
    const changing: typeof fetch = async (input, init) =>
      Response.json(answer(await (await fetch(input, init)).json()))
    expect(runs((await mail.mailer({ fetch: changing }).sendEmails(given)).results)).toBe(expected)
  })
})

describe('a batch that ends early', () => {
  const broken = new Error('the database is gone')
  const twice = ({ done }: { done: number }) => {
    if (done >= 1_000) throw broken
  }

  it.each([
    ['source', () => mail.mailer().sendEmails(source(5_600, broken).messages)],
    ['onProgress', () => mail.mailer().sendEmails(messages(3_000), { onProgress: async (at) => twice(at) })],
  ])('throws what its %s throws, with the result of each mail that left', async (_, send) => {
    const { error, results } = await failing(send())
    expect(error).toBe(broken)
    const sent = results.filter(({ status }) => status === 'sent')
    expect(sent).toHaveLength(provider.messages.length)
    expect(sent.length).toBeGreaterThan(2)
    expect(JSON.stringify(error)).not.toContain('@')
  })

  it('throws why nothing was sent at all', async () => {
    const { error, results } = await failing(
      mail.mailer({ apiToken: 'another' }).sendEmails(messages(10_000)),
    )
    expect(error).toMatchObject({ code: 'credentials_rejected', retryable: false, effect: 'none' })
    expect([runs(results), requests.length]).toEqual(['10000 failed', 1])
    const cause = new Error('the user left')
    const unread = { [Symbol.iterator]: () => ({ next: () => expect.fail('read') }) }
    const ended = mail.mailer().sendEmails(unread, { signal: AbortSignal.abort(cause) })
    expect(await failureOf(ended)).toMatchObject({ code: 'aborted', cause, effect: 'none' })
  })

  it('by a refused token in the middle fails the rest of a list, and makes no other call', async () => {
    provider.faults.add({ skip: 2, times: 100, ...noToken })
    const { results } = await mail.mailer({ concurrency: 1 }).sendEmails(messages(5_000))
    expect([runs(results), requests.length]).toEqual(['1000 sent,4000 failed', 3])
  })

  it.each([() => expect.fail('closed'), () => new Promise(() => {})])(
    'by a refused token in the middle of an endless source says that mails have left: %s',
    async (close) => {
      provider.faults.add({ skip: 2, times: 100, ...noToken })
      const { messages } = source()
      const endless = { [Symbol.asyncIterator]: () => ({ next: () => messages.next(), return: close }) }
      const { sendEmails } = mail.mailer({ concurrency: 1 })
      const { error, results } = await failing(Reflect.apply(sendEmails, undefined, [endless]))
      expect(error).toMatchObject({ code: 'credentials_rejected', effect: 'unknown', retryable: false })
      expect([isMailError(error), requests.length]).toEqual([true, 3])
      expect(runs(results)).toMatch(/^1000 sent,/)
    },
  )

  it('has a result for a message that was read and did not fit into the last call', async () => {
    const stop = new AbortController()
    mail.atRequest(1, () => stop.abort())
    const halves = { textBody: 'a'.repeat(4_950_000), htmlBody: 'b'.repeat(4_950_000) }
    const large = Array.from({ length: 6 }, () => message(halves))
    const { results } = await failing(mail.mailer().sendEmails(large.values(), { stop: stop.signal }))
    expect(runs(results)).toBe('5 sent,1 failed')
  })

  it('by its signal separates the messages in flight from those not begun', async () => {
    provider.faults.add({ skip: 1, hang: 'after' })
    const controller = new AbortController()
    mail.atRequest(2, () => controller.abort())
    const { signal } = controller
    const { results } = await mail.mailer({ concurrency: 1 }).sendEmails(messages(1_203), { signal })
    expect(runs(results)).toBe('500 sent,500 unknown,203 failed')
    expect(results[1_000]?.error).toMatchObject({ code: 'aborted', retryable: true })
  })
})

describe('a stream', () => {
  it('reads no further than it sends, and closes its source when its reader stops', async () => {
    const { seen, messages } = source()
    for await (const { index } of mail.mailer({ concurrency: 2 }).streamEmails(messages))
      if (index === 1) break
    // Two calls of 500, and the message that showed the second to be full.
    expect([seen.read <= 1_001, seen.isClosed]).toEqual([true, true])
  })

  it('awaits the calls in flight when its reader stops', async () => {
    const calls = mail.hold()
    const stream = mail.mailer({ fetch: calls.fetch }).streamEmails(messages(1_500))
    const first = Array.from({ length: 501 }, () => stream.next())
    for (const _ of ['first call', 'second call']) await calls.answer(1)
    await Promise.all(first)
    // The third call.
    await calls.arrived(1)
    const stopped = stream.return?.().then(() => 'over')
    expect(await Promise.race([stopped, idle().then(() => 'awaits')])).toBe('awaits')
    await calls.answer(1)
    expect(await stopped).toBe('over')
  })

  it('throws the error of its source, or why it ended, after the results before it', async () => {
    const stream = mail.mailer({ concurrency: 1 }).streamEmails(source(1_001, new Error('gone')).messages)
    for (let count = 0; count < 500; count += 1) expect((await stream.next()).value.status).toBe('sent')
    await expect(collect(stream)).rejects.toThrow('gone')
    provider.faults.add({ cut: 'after' }, { path: '/email/batch', status: 401 })
    const ended = failureOf(collect(mail.mailer({ concurrency: 1 }).streamEmails(source().messages)))
    expect(await ended).toMatchObject({ code: 'credentials_rejected', effect: 'unknown', retryable: false })
  })
})

describe('invalid options', () => {
  it.each([
    ['timeoutMs', Number.NaN],
    ['concurrency', 0],
    ['baseUrl', 'ftp://example.com'],
    ['headers', { 'bad name': 'x' }],
    ['headers', new Headers({ 'x-gateway': 'a' })],
    ['defaults', { tagg: 'shop' }],
    ['timeout', 5],
  ])('of createMailer are refused by name: %s %s', (name, value) => {
    const words = name === 'timeout' ? 'is no option' : 'must be'
    expect(() => mail.mailer({ [name]: value })).toThrow(`options.${name} ${words}`)
  })

  it('of a call are refused by name, as is no object', async () => {
    const { sendEmails, getServer, getDeliveryStats } = mail.mailer()
    const options = { signal: {}, deadline: Number.NaN, onProgress: true, journal: {}, journl: {} }
    for (const [method, given, paths] of [
      [sendEmails, [messages(1), options], Object.keys(options).map((name) => `options.${name}`)],
      [sendEmails, [7], ['messages']],
      [sendEmails, [messages(1), null], ['options']],
      [getServer, [7], ['options']],
      [getDeliveryStats, [null], ['filter']],
    ] as const) {
      const { code, errors } = await failureOf(Reflect.apply(method, undefined, given))
      expect([code, errors?.map(({ path }) => path)]).toEqual(['invalid_arguments', paths])
    }
    expect(requests).toEqual([])
  })
})
