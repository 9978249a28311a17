import { describe, expect, it, vi } from 'vitest'
import { IntegrationError, isMailError, type MessageResult } from '../src/index.ts'
import { addressOf, failureOf, message, messages, runMailProvider, runs } from './support.ts'

const mail = runMailProvider()
const { provider, requests } = mail

/** The results that an error carries. */
function resultsOf(error: unknown): readonly MessageResult[] {
  if (typeof error !== 'object' || error === null || !('results' in error)) throw error
  return Array.isArray(error.results) ? error.results : []
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.fail('expected a rejection'),
    (reason: unknown) => reason,
  )
}

/** Changes the provider’s answer to a batch on its way back. */
function withAnswer(change: (items: object[]) => unknown): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    return Response.json(change(await response.json()))
  }
}

/** Checks that every sent result has the id of the mail to its recipient, and returns the runs of the statuses. */
function account(results: readonly MessageResult[]): string {
  const ids = new Map(provider.messages.map(({ to, messageId }) => [to[0], messageId]))
  for (const { index, status, messageId } of results) {
    if (status === 'sent') expect(messageId).toBe(ids.get(addressOf(index)))
  }
  return runs(results)
}

const circle: Record<string, unknown> = {}
circle.self = circle

describe('an item that is no message', () => {
  it.each([
    ['null', null],
    ['a number', 7],
    ['an object instead of an address', { to: { email: 'ann@example.org' }, subject: 'a', textBody: 'b' }],
    ['a bigint in the metadata', { ...message(), metadata: { id: 7n } }],
    ['a circle in the metadata', { ...message(), metadata: circle }],
  ])('fails alone if it is %s', async (_what, item) => {
    const items = [...messages(500), item, ...messages(2)]
    const batch = await mail.mailer().sendEmails(JSON.parse('[]').concat(items))
    expect(runs(batch.results)).toBe('500 sent,1 failed,2 sent')
    expect(batch.results[500]).toMatchObject({ to: null, error: { code: 'invalid_arguments' } })
    expect(provider.messages).toHaveLength(502)
  })
})

describe('a source that throws', () => {
  const broken = new Error('the database is gone')
  async function* source(count: number, end: unknown = broken) {
    yield* messages(count)
    throw end
  }

  it('leaves a result for each message that it gave before, on its own error', async () => {
    const error = await thrownBy(mail.mailer().sendEmails(source(5_600)))
    expect(error).toBe(broken)
    expect(account(resultsOf(error))).toBe('5600 sent')
    expect(JSON.stringify(error)).not.toContain('@')
    expect(provider.messages).toHaveLength(5_600)
  })

  it('leaves the results on an error of the mailer if it throws no object', async () => {
    const error = await failureOf(mail.mailer().sendEmails(source(3, null)))
    expect(error).toMatchObject({ code: 'aborted', cause: null })
    expect(account(resultsOf(error))).toBe('3 sent')
  })
})

it('ends a batch whose onProgress throws, with the results of every call that was made', async () => {
  const broken = new Error('the bar is full')
  const onProgress = ({ done }: { done: number }) => {
    if (done >= 1_000) throw broken
  }
  const error = await thrownBy(mail.mailer({ concurrency: 1 }).sendEmails(messages(3_000), { onProgress }))
  expect(error).toBe(broken)
  const results = resultsOf(error)
  expect(results).toHaveLength(3_000)
  expect(results.filter(({ status }) => status === 'sent')).toHaveLength(provider.messages.length)
  expect(provider.messages.length).toBeLessThan(2_000)
})

it('has every result, whatever the source does when it is closed', async () => {
  provider.faults.add({ skip: 1, times: 100, status: 401, body: { ErrorCode: 10, Message: 'No token.' } })
  const endless = (close: () => unknown) => ({
    [Symbol.asyncIterator]: () => {
      let index = -1
      return {
        next: async () => {
          index += 1
          return { done: false, value: message({ to: addressOf(index) }) }
        },
        return: close,
      }
    },
  })
  for (const close of [() => ({ done: true }), () => expect.fail('closed'), () => new Promise(() => {})]) {
    const sending = Reflect.apply(mail.mailer().sendEmails, undefined, [endless(close)])
    const error = await failureOf(sending)
    expect(error.code).toBe('credentials_rejected')
    expect(resultsOf(error).filter(({ status }) => status === 'sent').length % 500).toBe(0)
  }
})

it('says that mails have left, where a batch ends early', async () => {
  provider.faults.add({ skip: 1, times: 100, status: 401, body: { ErrorCode: 10, Message: 'No token.' } })
  function* source() {
    for (let index = 0; ; index += 1) yield message({ to: addressOf(index) })
  }
  const error = await failureOf(mail.mailer().sendEmails(source()))
  expect(error).toMatchObject({ code: 'credentials_rejected', effect: 'unknown', retryable: false })
  expect(isMailError(error) && error.results?.[0]?.status).toBe('sent')
})

it('throws if it ends early while it waits for its journal, because messages have no result', async () => {
  const calls = mail.hold()
  let reads = 0
  const read = () => {
    reads += 1
    return reads < 3 ? new Map() : new Promise<Map<string, never>>(() => {})
  }
  const mailer = mail.mailer({ fetch: calls.fetch })
  const batch = failureOf(mailer.sendEmails(messages(1_500), { journal: { read, write: async () => {} } }))
  await calls.answer(1)
  await calls.answer(1, () => Response.json({ ErrorCode: 10, Message: 'No' }, { status: 401 }))
  expect(await batch).toMatchObject({ code: 'credentials_rejected', results: { length: 1_000 } })
})

it('ends at once although its journal does not answer any more', async () => {
  const controller = new AbortController()
  function* source() {
    yield message()
    controller.abort()
    yield message()
  }
  const journal = { read: () => new Promise<Map<string, never>>(() => {}), write: async () => {} }
  const batch = mail.mailer().sendEmails(source(), { signal: controller.signal, journal })
  expect(await failureOf(batch)).toMatchObject({ code: 'overloaded', retryable: true })
})

it('ends no process when an asynchronous onProgress fails', async () => {
  const broken = new Error('the bar is full')
  const onProgress = async () => Promise.reject(broken)
  expect(await thrownBy(mail.mailer({ concurrency: 1 }).sendEmails(messages(1_500), { onProgress }))).toBe(
    broken,
  )
})

it('waits for the calls in flight when the reader of a stream stops', async () => {
  for await (const { index } of mail.mailer().streamEmails(messages(5_000))) if (index === 1_600) break
  const { length } = provider.messages
  await mail.mailer().getServer()
  expect(provider.messages).toHaveLength(length)
})

describe('an answer', () => {
  it('without error codes means that the mails were sent', async () => {
    const fetch = withAnswer((items) => items.map((item) => ({ ...item, ErrorCode: undefined })))
    const { results } = await mail.mailer({ fetch }).sendEmails(messages(3))
    expect(account(results)).toBe('3 sent')
  })

  it('with one unreadable item leaves only its message unknown', async () => {
    const fetch = withAnswer((items) => items.with(1, { hello: 'world' }))
    const { results } = await mail.mailer({ fetch }).sendEmails(messages(3))
    expect(account(results)).toBe('1 sent,1 unknown,1 sent')
  })

  it('in another order is matched by the recipients, in letters of any case, and not by the copies', async () => {
    const fetch = withAnswer((items) => items.toReversed())
    const given = messages(5).map((each, at) => ({ ...each, to: `Ann <A${at}@Example.org>`, cc: 'b@b.co' }))
    const { results } = await mail.mailer({ fetch }).sendEmails(given)
    expect(results.map(({ messageId }) => messageId)).toEqual(
      provider.messages.map(({ messageId }) => messageId),
    )
  })

  it('that misses one of two mails to one recipient leaves both unknown', async () => {
    const fetch = withAnswer((items) => items.slice(1))
    const given = [message(), message(), message({ to: addressOf(2) })]
    const { results } = await mail.mailer({ fetch }).sendEmails(given)
    expect(account(results)).toBe('2 unknown,1 sent')
  })

  it('that names one recipient twice leaves the mail to that recipient unknown', async () => {
    const fetch = withAnswer((items) => [...items, { ...items[0], MessageID: 'another' }])
    const { results } = await mail.mailer({ fetch }).sendEmails(messages(2))
    expect(account(results)).toBe('1 unknown,1 sent')
  })

  it('in another order leaves refused messages unknown, because a refusal names nobody', async () => {
    provider.inactive.add(addressOf(0))
    const fetch = withAnswer((items) => items.toReversed())
    const { results } = await mail.mailer({ fetch }).sendEmails(messages(5))
    expect(account(results)).toBe('1 unknown,4 sent')
  })

  it('that gives two mails one id leaves the second unknown', async () => {
    const fetch = withAnswer((items) => items.with(1, { ...items[1], MessageID: Object(items[0]).MessageID }))
    const { results } = await mail.mailer({ fetch }).sendEmails(messages(3))
    expect(account(results)).toBe('1 sent,1 unknown,1 sent')
  })

  it.each(['', `${addressOf(1)}, `])('about %sa stranger leaves its message unknown', async (others) => {
    const To = `${others}someone@elsewhere.example`
    const fetch = withAnswer((items) => items.with(1, { ...items[1], To }))
    const { results } = await mail.mailer({ fetch }).sendEmails(messages(3))
    expect(account(results)).toBe('1 sent,1 unknown,1 sent')
  })

  it('is unknown if the answer has more bytes than the messages explain', async () => {
    const fetch = withAnswer((items) => items.map((item) => ({ ...item, note: 'x'.repeat(4_000) })))
    const { results } = await mail.mailer({ fetch }).sendEmails(messages(100))
    expect(account(results)).toBe('100 unknown')
    expect(results[0]?.error?.message).toContain('The response is longer than')
  })

  it('that is too short leaves only the messages unknown that it does not name', async () => {
    const fetch = withAnswer((items) => items.slice(1))
    const { results } = await mail.mailer({ fetch }).sendEmails(messages(3))
    expect(account(results)).toBe('1 unknown,2 sent')
  })

  it.each([
    ['about many strangers', 500, Array.from({ length: 150 }, (_, index) => `s${index}@b.co`).join()],
    ['with 6,000 entries', 6_000, 's@b.co'],
  ])('%s is read once, and leaves its messages unknown', async (_what, count, To) => {
    const split = vi.spyOn(String.prototype, 'split')
    const answers = Array.from({ length: count }, (_, at) => ({ To, MessageID: `id ${at}` }))
    const fetch = async () => Response.json(answers)
    const { results } = await mail.mailer({ fetch }).sendEmails(messages(500))
    const reads = split.mock.calls.length
    split.mockRestore()
    expect(account(results)).toBe('500 unknown')
    expect(reads).toBeLessThan(5_000)
  })

  it('about a stranger makes the outcome of a single send unknown', async () => {
    const fetch = withAnswer((items) => ({ ...items, To: 'someone@elsewhere.example' }))
    const error = await failureOf(mail.mailer({ fetch }).sendEmail(message()))
    expect(error).toMatchObject({ code: 'outcome_unknown', effect: 'unknown' })
  })
})

describe('a refused token', () => {
  it('ends a batch: no other call leaves', async () => {
    const error = await failureOf(mail.mailer({ apiToken: 'another' }).sendEmails(messages(10_000)))
    expect(error).toMatchObject({ code: 'credentials_rejected', retryable: false, effect: 'none' })
    expect(runs(resultsOf(error))).toBe('10000 failed')
    expect(requests).toHaveLength(1)
  })

  it('in the middle fails the rest of a list, and returns every result', async () => {
    provider.faults.add({ skip: 2, times: 100, status: 401, body: { ErrorCode: 10, Message: 'No token.' } })
    const { results } = await mail.mailer({ concurrency: 1 }).sendEmails(messages(5_000))
    expect(account(results)).toBe('1000 sent,4000 failed')
    expect(requests).toHaveLength(3)
  })

  it('in the middle ends an endless stream, after the results', async () => {
    provider.faults.add({ skip: 2, times: 100, status: 401, body: { ErrorCode: 10, Message: 'No token.' } })
    function* endless() {
      for (let index = 0; ; index += 1) yield message({ to: addressOf(index) })
    }
    const error = await failureOf(mail.mailer({ concurrency: 1 }).sendEmails(endless()))
    expect(error).toMatchObject({ code: 'credentials_rejected' })
    expect(account(resultsOf(error)).startsWith('1000 sent,')).toBe(true)
    expect(requests).toHaveLength(3)
  })
})

describe('invalid options', () => {
  it.each([
    ['timeoutMs', Number.NaN],
    ['timeoutMs', -1],
    ['timeoutMs', '30'],
    ['concurrency', 0],
    ['concurrency', 1.5],
    ['baseUrl', 'no url'],
    ['baseUrl', 'ftp://example.com'],
    ['fetch', 'fetch'],
    ['apiToken', 7],
    ['headers', { 'bad name': 'x' }],
    ['headers', { 'x-a': 'a\nb' }],
    ['headers', new Headers({ 'x-gateway': 'a' })],
    ['tokenHeader', 'bad name'],
  ])('of createMailer are refused by name: %s %s', (name, value) => {
    const create = () => mail.mailer({ [name]: value })
    expect(create).toThrow(IntegrationError)
    expect(create).toThrow(`options.${name} must be`)
  })

  it('of createMailer are refused if there is no option of that name', () => {
    expect(() => mail.mailer(Object({ timeout: 5 }))).toThrow('options.timeout is no option')
  })

  it.each([
    ['signal', 'now'],
    ['signal', { aborted: false }],
    ['timeoutMs', 0],
    ['deadline', Number.NaN],
    ['onProgress', true],
    ['journal', {}],
    ['journl', {}],
  ])('of a batch are refused by name: %s %s', async (name, value) => {
    const error = await failureOf(mail.mailer().sendEmails(messages(1), { [name]: value }))
    expect(error).toMatchObject({ code: 'invalid_arguments', errors: [{ path: `options.${name}` }] })
    expect(requests).toEqual([])
  })

  it.each([null, undefined, 7])('are refused: %s instead of a message, a batch or options', async (value) => {
    const mailer = mail.mailer()
    for (const [method, given] of [
      [mailer.sendEmail, [value]],
      [mailer.sendEmails, [value]],
      [mailer.sendEmail, [message(), value ?? null]],
      [mailer.sendEmails, [messages(1), value ?? null]],
      [mailer.getServer, [value ?? null]],
      [mailer.getDeliveryStats, [value ?? null]],
    ] as const) {
      const error = await failureOf(Reflect.apply(method, mailer, given))
      expect(error.code).toBe('invalid_arguments')
    }
    expect(requests).toEqual([])
  })
})
