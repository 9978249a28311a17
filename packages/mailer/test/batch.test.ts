import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { isMailError } from '../src/index.ts'
import { addressOf, endOf, failureOf, idle, message, messages, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider, requests } = mail
const large = message({ textBody: 'a'.repeat(4_950_000), htmlBody: 'b'.repeat(4_950_000) })

/** Messages that end with an error, or never. */
async function* source(length = Number.POSITIVE_INFINITY, end?: Error) {
  for (let index = 0; index < length; index += 1) yield message({ to: addressOf(index) })
  throw end
}

describe('a batch', () => {
  it('of 1,203 messages leaves in three calls, and has a result for each, in the order given', async () => {
    const progress: unknown[] = []
    const onProgress = (each: unknown) => progress.push(each)
    const batch = await mail.serial().sendEmails(messages(1_203), { onProgress })
    expect(requests.map(({ text }) => JSON.parse(text).length)).toEqual([500, 500, 203])
    const results = provider.messages.map(({ messageId, submittedAt: time }, index) => {
      const submittedAt = new Date(time).toISOString()
      const sent = { status: 'sent', messageId, submittedAt, rejected: [], error: null }
      return { index, key: `row-${index}`, to: addressOf(index), ...sent }
    })
    expect(batch).toEqual({ sent: 1_203, failed: 0, unknown: 0, results })
    expect(progress).toEqual([500, 1_000, 1_203].map((sent) => ({ done: sent, sent, failed: 0, unknown: 0 })))
  })

  it('comes from any iterable, also with promises of another realm, as in Jest', async () => {
    const Foreign: PromiseConstructor = runInNewContext('Promise')
    const given = messages(3).values()
    const foreign = { [Symbol.asyncIterator]: () => ({ next: () => Foreign.resolve(given.next()) }) }
    for (const each of [new Set(messages(3)), foreign])
      expect((await mail.mailer().sendEmails(each)).sent).toBe(3)
  })

  it('sends no call of more than 50 MB, and has no more than 64 MB in flight', async () => {
    const calls = mail.hold()
    const batch = mail.mailer({ fetch: calls.fetch }).sendEmails(Array(15).fill(large))
    for (const sent of [5, 10, 15]) {
      await calls.arrived(1)
      await calls.answer(1)
      await expect.poll(() => provider.messages.length).toBe(sent)
    }
    expect((await batch).sent).toBe(15)
  })
})

describe('an answer to a batch', () => {
  const change = (item: object | undefined, fields: object) => ({ ...item, ...fields })
  const stranger = { To: `${addressOf(1)}, x@y.z` }
  const note = 'x'.repeat(20_000)
  it.each<[string, (items: object[]) => unknown, string]>([
    ['with an unreadable item', (items) => items.with(1, { hello: 'world' }), '1 sent,1 unknown,3 sent'],
    ['that is too short', (items) => items.slice(1), '5 unknown'],
    ['that is too long', (items) => [...items, change(items[0], { MessageID: 'x' })], '5 unknown'],
    ['about a stranger, too,', (items) => items.with(1, change(items[1], stranger)), '5 unknown'],
    ['of a mock that has one id', (items) => items.map(() => ({ MessageID: 'id' })), '5 sent'],
    ['that is no list', ([item]) => item, '5 unknown'],
    ['much longer than its messages', (items) => items.map((item) => change(item, { note })), '5 unknown'],
  ])('%s means what it certainly says', async (_, answer, expected) => {
    const given = messages(5).map((each, at) => ({ ...each, to: `Ann <A${at}@Example.org>`, cc: 'b@b.co' }))
    const changing: typeof fetch = async (input, init) =>
      Response.json(answer(await (await fetch(input, init)).json()))
    const { fates } = await endOf(mail.mailer({ fetch: changing }).sendEmails(given))
    expect(fates).toBe(expected)
  })
})

describe('a batch that ends early', () => {
  const broken = new Error('the database is gone')
  const onProgress = async ({ done }: { done: number }) => {
    if (done >= 1_000) throw broken
  }

  it.each([
    ['source', () => mail.mailer().sendEmails(source(5_600, broken))],
    ['onProgress', () => mail.mailer().sendEmails(messages(3_000), { onProgress })],
  ])('throws what its %s throws, with the result of each mail that left', async (_, send) => {
    const { error, results } = await endOf(send())
    const sent = results.filter(({ status }) => status === 'sent')
    expect([error, sent.length]).toEqual([broken, provider.messages.length])
    expect(sent.length).toBeGreaterThan(2)
    expect(JSON.stringify(error)).not.toContain('@')
  })

  it('throws why nothing was sent at all', async () => {
    const rejected = { code: 'credentials_rejected', retryable: false, effect: 'none' }
    const refused = await endOf(mail.mailer({ apiToken: 'another' }).sendEmails(messages(10_000)))
    expect([refused, requests.length]).toMatchObject([{ error: rejected, fates: '10000 failed' }, 1])
    expect(refused.last?.message).toContain('Check the Server API Token')
    const cause = new Error('the user left')
    const unread = { [Symbol.iterator]: () => ({ next: () => expect.fail('read') }) }
    const { error } = await endOf(mail.mailer().sendEmails(unread, { signal: AbortSignal.abort(cause) }))
    expect(error).toMatchObject({ code: 'aborted', cause, effect: 'none' })
  })

  it.each([() => expect.fail('closed'), () => new Promise(() => {})])(
    'by a refused token in the middle of an endless source says that mails have left: %s',
    async (close) => {
      provider.faults.add({ skip: 2, times: 100, status: 401 })
      const given = source()
      const endless = { [Symbol.asyncIterator]: () => ({ next: () => given.next(), return: close }) }
      const { error, fates } = await endOf(Reflect.apply(mail.serial().sendEmails, undefined, [endless]))
      expect(error).toMatchObject({ code: 'credentials_rejected', effect: 'unknown', retryable: false })
      expect([isMailError(error), requests.length]).toEqual([true, 3])
      expect(fates).toMatch(/^1000 sent,/)
    },
  )

  it('has a result for a message that was read and did not fit into the last call', async () => {
    const stop = new AbortController()
    mail.atRequest(1, () => stop.abort())
    const given = Array(6).fill(large).values()
    const { fates } = await endOf(mail.mailer().sendEmails(given, { stop: stop.signal }))
    expect(fates).toBe('5 sent,1 failed')
  })

  it('by its signal separates the messages in flight from those not begun', async () => {
    provider.faults.add({ skip: 1, hang: 'after' })
    const controller = new AbortController()
    mail.atRequest(2, () => controller.abort())
    const batch = mail.serial().sendEmails(messages(1_203), { signal: controller.signal })
    const last = { code: 'aborted', retryable: true }
    expect(await endOf(batch)).toMatchObject({ fates: '500 sent,500 unknown,203 failed', last })
  })
})

describe('a stream', () => {
  it('reads no further than it sends, and closes its source when its reader stops', async () => {
    const seen = { read: 0, isClosed: false }
    async function* watched() {
      try {
        for await (const each of source()) {
          seen.read += 1
          yield each
        }
      } finally {
        seen.isClosed = true
      }
    }
    for await (const { index } of mail.mailer({ concurrency: 2 }).streamEmails(watched()))
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

  it('throws the error of its source after the results before it', async () => {
    const stream = mail.serial().streamEmails(source(1_001, new Error('gone')))
    for (let count = 0; count < 1_000; count += 1) expect((await stream.next()).value.status).toBe('sent')
    await expect(stream.next().then(() => stream.next())).rejects.toThrow('gone')
  })
})

describe('invalid options', () => {
  it('of createMailer are refused by name', () => {
    const invalid: object = {
      ...{ fromEmail: 'Shop', baseUrl: 'ftp://example.com', timeoutMs: Number.NaN, concurrency: 0 },
      ...{ headers: { 'bad name': 'x' }, defaults: { tagg: 'shop' }, timeout: 5 },
    }
    const faultOf = (name: string) =>
      name === 'timeout' ? 'is no option' : expect.stringMatching(/^must be/)
    const errors = Object.keys(invalid).map((name) => ({ path: `options.${name}`, message: faultOf(name) }))
    expect(() => mail.mailer({ ...invalid })).toThrow(
      expect.objectContaining({ code: 'invalid_arguments', errors }),
    )
    expect(() => mail.mailer(Object({ headers: new Headers() }))).toThrow('options.headers')
    expect(() => mail.mailer({ fromEmail: 'a@bücher.example' })).toThrow('xn--')
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
