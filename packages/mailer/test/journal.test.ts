import { expect, it } from 'vitest'
import type { BatchJournal, BatchOptions, Message, MessageRecord, MessageResult } from '../src/index.ts'
import {
  addressOf,
  endOf,
  failureOf,
  message,
  messages,
  pass,
  runMailProvider,
  stopClock,
} from './support.ts'

const mail = runMailProvider()
const { provider, sentTwice } = mail
const hint = expect.stringContaining('the same journal')
const later = { code: 'overloaded', retryable: true, effect: 'none' }

/** A journal in a table, as a database would keep it: both methods answer later. */
function table() {
  const rows = new Map<string, string>()
  const read = async (keys: readonly string[]) => {
    const found = keys.filter((key) => rows.has(key))
    return new Map<string, MessageRecord>(found.map((key) => [key, JSON.parse(rows.get(key) ?? '')]))
  }
  async function write(records: ReadonlyMap<string, MessageRecord | undefined>) {
    for (const [key, record] of records) {
      if (record) rows.set(key, JSON.stringify(record))
      else rows.delete(key)
    }
  }
  const send = (given: Message[], options: BatchOptions = {}) =>
    endOf(mail.serial().sendEmails(given, { journal: { read, write }, ...options }))
  return { rows, journal: { read, write }, send }
}

const keyed = (at: number, fields: Partial<Message> = {}) =>
  message({ to: addressOf(at), key: `row-${at}`, ...fields })

it('sends a message once, however its rows move and whatever the default sender is', async () => {
  const { rows, journal } = table()
  const from = 'a@example.com'
  const without = messages(1_000).map((given, at) => (at % 3 ? { ...given, from } : given))
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
  const { rows, journal, send } = table()
  const { results } = await send([keyed(0), keyed(1), message({ key: 7 })])
  const keys = results.map(({ key }) => key)
  expect([keys, [...rows.keys()]]).toEqual([['row-0', 'row-1', '7'], keys])
  const changed = keyed(0, { headers: { 'X-Time': '2' }, subject: 'Later' })
  const unreadable = keyed(0, { htmlBody: () => Promise.reject(new Error('the template is gone')) })
  for (const again of [changed, unreadable])
    expect((await send([again, keyed(1, { subject: '' })])).fates).toBe('2 sent')
  // A table without types has numbers as keys.
  const read = async () => new Map<string, MessageRecord>(JSON.parse(`[[7, ${rows.get('7')}]]`))
  expect((await send([message({ key: 7 })], { journal: { ...journal, read } })).fates).toBe('1 sent')
  expect([provider.messages.length, /row-/.test(JSON.stringify(provider.messages))]).toEqual([3, false])
})

it('refuses a message without a key, and one whose key comes twice or is too long, in each run', async () => {
  const { send } = table()
  const long = keyed(1, { key: 'x'.repeat(256) })
  const faults = [
    'key is the key of an earlier message of this batch',
    'key must be a number, or a text of at most 255 characters',
    'key is required with a journal',
    'key is required with a journal',
  ]
  for (const _ of [1, 2]) {
    const { results } = await send([keyed(0), keyed(0), long, message(), message()])
    const expected = faults.map((fault) => `The message can’t be sent: ${fault}.`)
    expect(results.map(({ error }) => error?.message)).toEqual([undefined, ...expected])
  }
})

it('sends a message of unknown fate again only if the caller says so', async () => {
  const { send } = table()
  provider.faults.add({ cut: 'after' })
  const given = [keyed(0), keyed(1)]
  for (const _ of [1, 2]) expect((await send(given)).fates).toBe('2 unknown')
  const asked: MessageResult[] = []
  const resend = (result: MessageResult) => {
    asked.push(result)
    return result.key === 'row-1'
  }
  for (const options of [{ resend }, { resend }, { resend: async () => false }])
    expect((await send(given, options)).fates).toBe('1 unknown,1 sent')
  expect(asked).toMatchObject([0, 1, 0].map((at) => ({ key: `row-${at}`, status: 'unknown' })))
  const { error, fates } = await send([...given, keyed(2)], { resend: () => expect.fail('no idea') })
  expect([String(error), fates]).toEqual([expect.stringContaining('no idea'), '1 unknown,1 sent,1 failed'])
  expect(provider.messages).toHaveLength(3)
})

it('sends what the provider did not take for now in the next run, and a corrected message on request', async () => {
  const { send } = table()
  provider.inactive.add(addressOf(1))
  const body = [{ ErrorCode: 100, Message: 'Maintenance' }]
  provider.faults.add({ path: '/email/batch', status: 200, body })
  for (const retryable of [true, false])
    expect(await send([keyed(1)])).toMatchObject({ fates: '1 failed', last: { retryable } })
  const fixed = [keyed(1, { to: addressOf(7) })]
  expect((await send(fixed)).fates).toBe('1 failed')
  expect((await send(fixed, { resend: () => true })).fates).toBe('1 sent')
})

it('sends the messages of a call that was refused as a whole in the next run', async () => {
  const { rows, journal, send } = table()
  const { error } = await endOf(mail.mailer({ apiToken: 'revoked' }).sendEmails(messages(3), { journal }))
  expect([error, rows.size]).toMatchObject([{ code: 'credentials_rejected' }, 0])
  expect((await send(messages(3))).fates).toBe('3 sent')
})

it('takes the record of a call back if the time was over once it was written, and sends it later', async () => {
  stopClock()
  const { rows, journal, send } = table()
  const write: BatchJournal['write'] = (records) => {
    pass(20_000)
    return journal.write(records)
  }
  const { error } = await send(messages(3), { timeoutMs: 20_000, journal: { ...journal, write } })
  expect([error, rows.size, provider.messages]).toMatchObject([later, 0, []])
  expect((await send(messages(3))).fates).toBe('3 sent')
})

it.each(['sent', { status: 'sent', rejected: [] }, { status: 'failed', rejected: [], error: null }])(
  'takes a message with the unreadable record %j for one that may have been sent',
  async (record) => {
    const { rows, send } = table()
    await send(messages(2))
    rows.set('row-0', JSON.stringify(record))
    const { fates, results } = await send(messages(2))
    expect([fates, provider.messages.length]).toEqual(['1 unknown,1 sent', 2])
    expect(results[0]?.error).toMatchObject({ code: 'outcome_unknown', retryable: false })
  },
)

it('records no address and no text, and tells the same when the batch comes again', async () => {
  const { rows, send } = table()
  provider.inactive.add(addressOf(1))
  const given = [...messages(3), keyed(3, { to: [addressOf(3), addressOf(1)] })]
  const [first, second] = [await send(given), await send(given)]
  expect(first.fates).toBe('1 sent,1 failed,2 sent')
  expect(first.results[3]).toMatchObject({ rejected: [addressOf(1)] })
  expect([rows.size, /@|Hello|Ann/.test(JSON.stringify([...rows]))]).toEqual([4, false])
  // The provider’s form of the recipients is not recorded.
  expect(second.results).toEqual(first.results.map((each) => ({ ...each, to: expect.any(String) })))
})

it.each([1, 2, 3])(
  'lets no further call leave after its journal failed at write %i, and sends nothing twice later',
  async (failing) => {
    const { journal, send } = table()
    let writes = 0
    const write: BatchJournal['write'] = (records) => {
      writes += 1
      if (writes === failing) throw new Error('the database is gone')
      return journal.write(records)
    }
    const { error, fates } = await send(messages(1_001), { journal: { ...journal, write } })
    // Each call is recorded before it leaves, and after its answer.
    const [left, expected] = failing === 1 ? [0, '1001 failed'] : [500, '500 sent,501 failed']
    expect([fates, provider.messages.length]).toEqual([expected, left])
    expect(error).toMatchObject({ ...later, effect: left ? 'unknown' : 'none', hint })
    expect((await send(messages(1_001))).fates).not.toMatch('failed')
    expect(sentTwice()).toBe(0)
  },
)

it('has a result of each message that was read when its journal can’t be read any more', async () => {
  const { journal, send } = table()
  const reads = [journal.read, () => expect.fail('gone')]
  const read: BatchJournal['read'] = (keys) => reads.shift()?.(keys) ?? new Map()
  const { error, fates } = await send(messages(1_200), { journal: { ...journal, read } })
  expect([error, fates]).toMatchObject([{ ...later, effect: 'unknown' }, '500 sent,700 failed'])
})

it('fails before it sends if the journal reads no Map', async () => {
  const { error } = await table().send(messages(3), { journal: { read: Object, write: async () => {} } })
  expect([error, provider.messages]).toMatchObject([later, []])
})

it('ends although its journal does not answer any more, with a result of each message', async () => {
  const calls = mail.hold()
  const answers = [new Map(), new Map(), new Promise<Map<string, never>>(() => {})]
  const journal = { read: () => answers.shift() ?? expect.fail('read again'), write: async () => {} }
  const batch = endOf(mail.mailer({ fetch: calls.fetch }).sendEmails(messages(1_500), { journal }))
  await calls.answer(1)
  await calls.answer(1, () => Response.json({ ErrorCode: 10, Message: 'No' }, { status: 401 }))
  expect(await batch).toMatchObject({
    error: { code: 'credentials_rejected' },
    fates: '500 sent,1000 failed',
  })
})

it('says that a stream which was stopped may run again, and sends the rest then', async () => {
  const { journal } = table()
  const stop = new AbortController()
  let sent = 0
  async function stream(options: BatchOptions) {
    sent = 0
    const given = messages(2_000).values()
    for await (const { status } of mail.serial().streamEmails(given, { journal, ...options }))
      if (status === 'sent') sent += 1
  }
  const error = await failureOf(stream({ stop: stop.signal, onProgress: () => stop.abort() }))
  expect([error, sent]).toMatchObject([{ ...later, effect: 'unknown' }, 500])
  expect(`${error.message} ${error.hint}`).toMatch(/500 mails had left.* the same journal/)
  await stream({})
  expect([sent, provider.messages.length, sentTwice()]).toEqual([2_000, 2_000, 0])
})
