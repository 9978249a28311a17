import { expect, it } from 'vitest'
import type { BatchJournal, BatchOptions, Message, MessageRecord, MessageResult } from '../src/index.ts'
import { addressOf, failureOf, message, messages, pass, runMailProvider, runs, stopClock } from './support.ts'

const mail = runMailProvider()
const { provider } = mail

/** A journal in a table, as a database would keep it: both methods answer later. */
function table() {
  const rows = new Map<string, string>()
  const journal: BatchJournal = {
    async read(keys) {
      const found = keys.flatMap((key) => {
        const row = rows.get(key)
        return row === undefined ? [] : [[key, JSON.parse(row)] satisfies [string, MessageRecord]]
      })
      return new Map(found)
    },
    async write(records) {
      for (const [key, record] of records) {
        if (record) rows.set(key, JSON.stringify(record))
        else rows.delete(key)
      }
    },
  }
  const send = (given: Message[], options: BatchOptions = {}) =>
    mail.mailer({ concurrency: 1 }).sendEmails(given, { journal, ...options })
  return { rows, journal, send }
}

const sentTwice = () => provider.messages.length - new Set(provider.messages.flatMap(({ to }) => to)).size
const keyed = (at: number, fields: Partial<Message> = {}) =>
  message({ to: addressOf(at), key: `row-${at}`, ...fields })

it('sends a message once, however its rows move and whatever the default sender is', async () => {
  const { rows, journal } = table()
  const without = messages(1_000).map((given, index) =>
    index % 3 ? { ...given, from: 'a@example.com' } : given,
  )
  provider.faults.add({ skip: 1, times: 100, status: 429, headers: { 'retry-after': '400' } })
  const first = failureOf(mail.mailer({ fromEmail: undefined }).sendEmails(without, { journal }))
  expect(await first).toMatchObject({ code: 'provider_rate_limited', retryAfter: 400, retryable: true })
  // The records of the call that was refused are gone.
  expect([provider.messages.length, rows.size]).toEqual([333, 333])
  provider.faults.clear()
  const again = [message({ to: 'new@example.org', key: 'new' }), ...without]
  for (const fromEmail of ['shop@example.com', 'other@example.com'])
    expect((await mail.mailer({ fromEmail }).sendEmails(again, { journal })).sent).toBe(1_001)
  expect([provider.messages.length, sentTwice()]).toEqual([1_001, 0])
})

it('knows a message by its key alone, and tells the key with each result', async () => {
  const { rows, send } = table()
  const { results } = await send([keyed(0), keyed(1), keyed(2)])
  const keys = results.map(({ key }) => key)
  expect([keys, [...rows.keys()]]).toEqual([['row-0', 'row-1', 'row-2'], keys])
  const changed = keyed(0, {
    headers: { 'List-Unsubscribe': '<https://example.com/?t=2>' },
    subject: 'Later',
  })
  const unreadable = keyed(0, { htmlBody: () => Promise.reject(new Error('the template is gone')) })
  for (const again of [changed, unreadable])
    expect((await send([again, keyed(1, { subject: '' })])).sent).toBe(2)
  expect(provider.messages).toHaveLength(3)
  expect(JSON.stringify(provider.messages)).not.toContain('row-')
})

it('knows a message whose key is a number in the table of the journal', async () => {
  const { rows, journal, send } = table()
  await send([message({ key: 7 })])
  // As a database without types answers.
  const read = async () => new Map<string, MessageRecord>(JSON.parse(`[[7, ${rows.get('7')}]]`))
  expect((await send([message({ key: 7 })], { journal: { ...journal, read } })).sent).toBe(1)
  expect(provider.messages).toHaveLength(1)
})

it('refuses a message without a key, and one whose key comes twice or is too long', async () => {
  const { results } = await table().send([
    keyed(0),
    keyed(0),
    keyed(1, { key: 'x'.repeat(256) }),
    message(),
    message(),
  ])
  expect(results.map(({ error }) => error?.message.replace('The message can’t be sent: key ', ''))).toEqual([
    undefined,
    'is the key of an earlier message of this batch.',
    'must be a number, or a text of at most 255 characters.',
    'is required with a journal.',
    'is required with a journal.',
  ])
})

it('sends a message of unknown fate again only if the caller says so', async () => {
  const { send } = table()
  provider.faults.add({ cut: 'after' })
  const given = [keyed(0), keyed(1)]
  for (const _ of [1, 2]) expect((await send(given)).unknown).toBe(2)
  const asked: MessageResult[] = []
  const resend = (result: MessageResult) => {
    asked.push(result)
    return result.key === 'row-1'
  }
  for (const options of [{ resend }, { resend: async () => false }])
    expect(runs((await send(given, options)).results)).toBe('1 unknown,1 sent')
  expect(asked).toMatchObject([0, 1].map((at) => ({ key: `row-${at}`, status: 'unknown' })))
  await expect(send(given, { resend: () => expect.fail('resend has no idea') })).rejects.toThrow('no idea')
  expect(provider.messages).toHaveLength(3)
})

it('sends what the provider did not take for now in the next run, and a corrected message on request', async () => {
  const { send } = table()
  provider.inactive.add(addressOf(1))
  const body = [{ ErrorCode: 100, Message: 'Maintenance' }]
  provider.faults.add({ path: '/email/batch', status: 200, body })
  for (const retryable of [true, false])
    expect((await send([keyed(1)])).results).toMatchObject([{ status: 'failed', error: { retryable } }])
  const fixed = keyed(1, { to: addressOf(7) })
  expect((await send([fixed])).failed).toBe(1)
  expect((await send([fixed], { resend: () => true })).sent).toBe(1)
})

it('sends the messages of a call that was refused as a whole in the next run', async () => {
  const { rows, journal, send } = table()
  const refused = failureOf(mail.mailer({ apiToken: 'revoked' }).sendEmails(messages(3), { journal }))
  expect([(await refused).code, rows.size]).toEqual(['credentials_rejected', 0])
  expect((await send(messages(3))).sent).toBe(3)
})

it('takes the record of a call back if the time was over once it was written, and sends it later', async () => {
  stopClock()
  const { rows, journal, send } = table()
  const slow: BatchJournal = {
    read: journal.read,
    async write(records) {
      pass(20_000)
      await journal.write(records)
    },
  }
  const error = await failureOf(send(messages(3), { timeoutMs: 20_000, journal: slow }))
  expect(error).toMatchObject({ code: 'overloaded', retryable: true, effect: 'none' })
  expect([rows.size, provider.messages.length]).toEqual([0, 0])
  expect((await send(messages(3))).sent).toBe(3)
})

it.each(['sent', { status: 'sent', rejected: [] }, { status: 'failed', rejected: [], error: null }])(
  'takes a message with the unreadable record %j for one that may have been sent',
  async (record) => {
    const { rows, send } = table()
    await send(messages(2))
    const [first = ''] = rows.keys()
    rows.set(first, JSON.stringify(record))
    const { results } = await send(messages(2))
    expect([runs(results), provider.messages.length]).toEqual(['1 unknown,1 sent', 2])
    expect(results[0]?.error).toMatchObject({ code: 'outcome_unknown', retryable: false })
  },
)

it('records no address and no text, and tells the same when the batch comes again', async () => {
  const { rows, send } = table()
  provider.inactive.add(addressOf(1))
  const given = [...messages(3), keyed(3, { to: [addressOf(3), addressOf(1)] })]
  const first = await send(given)
  expect(runs(first.results)).toBe('1 sent,1 failed,2 sent')
  expect(first.results[3]).toMatchObject({ rejected: [addressOf(1)] })
  expect([rows.size, /@|Hello|Ann/.test(JSON.stringify([...rows]))]).toEqual([4, false])
  const withoutTo = (results: readonly MessageResult[]) => results.map(({ to: _, ...result }) => result)
  expect(withoutTo((await send(given)).results)).toEqual(withoutTo(first.results))
})

it.each([1, 2, 3])(
  'lets no further call leave after its journal failed at write %i, and sends nothing twice later',
  async (failing) => {
    const { journal, send } = table()
    let writes = 0
    const unsteady: BatchJournal = {
      read: journal.read,
      async write(records) {
        writes += 1
        if (writes === failing) throw new Error('the database is gone')
        await journal.write(records)
      },
    }
    const error = await failureOf(send(messages(1_001), { journal: unsteady }))
    expect(error).toMatchObject({ code: 'overloaded', retryable: true })
    // Each call is recorded before it leaves, and after its answer.
    expect(provider.messages).toHaveLength(failing === 1 ? 0 : 500)
    expect(runs(Object(error).results)).toBe(failing === 1 ? '1001 failed' : '500 sent,501 failed')
    const { sent, unknown } = await send(messages(1_001))
    expect([sent + unknown, sentTwice()]).toEqual([1_001, 0])
  },
)

it('fails before it sends if the journal reads no Map', async () => {
  const journal = { read: () => JSON.parse('{}'), write: async () => {} }
  const error = await failureOf(mail.mailer().sendEmails(messages(3), { journal }))
  expect(error).toMatchObject({ code: 'overloaded', retryable: true })
  expect(provider.messages).toEqual([])
})

it('ends although its journal does not answer any more, and says that messages have no result', async () => {
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

it('says that a stream which was stopped may run again, and sends the rest then', async () => {
  const { journal } = table()
  const stop = new AbortController()
  const seen: MessageResult[] = []
  async function stream(options: BatchOptions) {
    const given = messages(2_000).values()
    const results = mail.mailer({ concurrency: 1 }).streamEmails(given, { journal, ...options })
    for await (const result of results) seen.push(result)
  }
  const error = await failureOf(stream({ stop: stop.signal, onProgress: () => stop.abort() }))
  expect(error).toMatchObject({ code: 'overloaded', retryable: true, effect: 'none' })
  expect(`${error.message} ${error.hint}`).toMatch(/500 mails have left.* the same journal/)
  expect(runs(seen.splice(0))).toMatch(/^500 sent/)
  await stream({})
  expect([runs(seen), provider.messages.length, sentTwice()]).toEqual(['2000 sent', 2_000, 0])
})
