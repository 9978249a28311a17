import { afterEach, describe, expect, it, vi } from 'vitest'
import type { BatchJournal, BatchOptions, Message, MessageRecord, MessageResult } from '../src/index.ts'
import { addressOf, deadUrl, failureOf, message, messages, runMailProvider, runs } from './support.ts'

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
  return { rows, journal }
}

afterEach(() => void vi.useRealTimers())

const sentTwice = () => provider.messages.length - new Set(provider.messages.flatMap(({ to }) => to)).size

describe('a batch with a journal', () => {
  it('sends a message once, however its rows move and whatever the default sender is', async () => {
    const { rows, journal } = table()
    const without = messages(1_000).map((given, index) =>
      index % 3 ? { ...given, from: 'a@example.com' } : given,
    )
    provider.faults.add({ skip: 1, times: 100, status: 429, headers: { 'retry-after': '400' } })
    const first = await failureOf(mail.mailer({ fromEmail: undefined }).sendEmails(without, { journal }))
    expect(first).toMatchObject({ code: 'provider_rate_limited', retryAfter: 400, retryable: true })
    expect([provider.messages.length, rows.size]).toEqual([333, 333])

    provider.faults.clear()
    const again = [message({ to: 'new@example.org' }), ...without]
    const { results } = await mail.mailer().sendEmails(again, { journal })
    expect(runs(results)).toBe('1001 sent')
    const { sent } = await mail.mailer({ fromEmail: 'other@example.com' }).sendEmails(again, { journal })
    expect(sent).toBe(1_001)
    expect(provider.messages).toHaveLength(1_001)
    expect(sentTwice()).toBe(0)
  })

  it('sends a message as often as the batch holds it, and no more when the batch comes again', async () => {
    const { journal } = table()
    const same = [message(), message(), message({ to: addressOf(1) })]
    for (const [given, accepted] of [
      [same, 3],
      [same, 3],
      [[...same, message()], 4],
    ] as const) {
      expect((await mail.mailer().sendEmails(given, { journal })).sent).toBe(given.length)
      expect(provider.messages).toHaveLength(accepted)
    }
  })

  it('writes a long body that goes to many recipients once, to its last letter', async () => {
    const { rows, journal } = table()
    const textBody = `a${'😀'.repeat(50_000)}"\n\ud800`
    const bodies = [...Array(20).fill(textBody), `${textBody}b`, `${textBody}c`]
    const given = messages(22).map((each, at) => ({ ...each, textBody: bodies[at] }))
    const stringify = vi.spyOn(JSON, 'stringify')
    const { sent } = await mail.mailer().sendEmails(given, { journal })
    const written = stringify.mock.calls.filter(([value]) => bodies.includes(value))
    stringify.mockRestore()
    expect(written).toHaveLength(3)
    expect(provider.messages.map((each) => each.textBody)).toEqual(bodies)
    expect(sent).toBe(22)
    expect(rows.size).toBe(22)
    expect([...rows.keys()].filter((key) => key.includes('#'))).toEqual([])
  })

  const file = (text: string) => [{ name: 'a', contentType: 'a/b', content: Buffer.from(text) }]
  it.each<[string, Partial<Message>, Partial<Message>]>([
    ['subject', { subject: 'One' }, { subject: 'Two' }],
    ['file', { attachments: file('one') }, { attachments: file('two') }],
    ['end of a long body', { textBody: 'a'.repeat(40_000) }, { textBody: `${'a'.repeat(39_999)}b` }],
  ])('does not take the record of a message with another %s for its own', async (_what, one, other) => {
    const { journal } = table()
    for (const fields of [one, other]) {
      const given = [0, 1, 2].map((at) => message({ ...fields, to: addressOf(at) }))
      expect((await mail.mailer().sendEmails(given, { journal })).sent).toBe(3)
    }
    expect(provider.messages).toHaveLength(6)
  })

  it('recognises a message, however it is written and whoever made it', async () => {
    class Mail {
      readonly #to: string
      constructor(to: string) {
        this.#to = to
      }
      get to() {
        return this.#to
      }
      get subject() {
        return 'Hello'
      }
      get textBody() {
        return 'Hi Ann'
      }
    }
    const { journal } = table()
    await mail.mailer().sendEmails([new Mail(addressOf(0)), new Mail(addressOf(1))], { journal })
    await mail.mailer().sendEmails([new Mail(addressOf(2))], { journal })
    expect(provider.messages).toHaveLength(3)
    const other = { to: { address: addressOf(0) }, subject: 'Hello', textBody: 'Hi Ann', tag: '', cc: [] }
    expect((await mail.mailer().sendEmails([other], { journal })).sent).toBe(1)
    expect(provider.messages).toHaveLength(3)
  })

  it.each([null, {}, new Promise(() => {})])('fails before it sends if read returns %j', async (found) => {
    const stop = new AbortController()
    const read = () => {
      stop.abort()
      return JSON.parse('[]').concat(found)[0]
    }
    const journal = { read, write: async () => {} }
    const error = await failureOf(mail.mailer().sendEmails(messages(3), { journal, stop: stop.signal }))
    expect(error).toMatchObject({ code: 'overloaded', retryable: true })
    expect(provider.messages).toEqual([])
  })

  it('that is stopped tells what was sent, and what of its list is left', async () => {
    const { journal } = table()
    const stop = new AbortController()
    const options = { journal, stop: stop.signal, onProgress: () => stop.abort() }
    const error = await failureOf(mail.mailer({ concurrency: 1 }).sendEmails(messages(2_000), options))
    expect(error).toMatchObject({ code: 'overloaded', retryable: true, effect: 'none' })
    expect(runs(Object(error).results)).toBe('500 sent,1500 failed')
    const { results } = await mail.mailer().sendEmails(messages(2_000), { journal })
    expect([runs(results), provider.messages.length]).toEqual(['2000 sent', 2_000])
  })

  it('sends the messages of a call that was refused as a whole in the next run', async () => {
    const { rows, journal } = table()
    const refused = mail.mailer({ apiToken: 'revoked' }).sendEmails(messages(3), { journal })
    expect(await failureOf(refused)).toMatchObject({ code: 'credentials_rejected' })
    expect(rows.size).toBe(0)
    expect((await mail.mailer().sendEmails(messages(3), { journal })).sent).toBe(3)
  })

  it('tells the provider’s own error if the provider is away for longer than an outage may last', async () => {
    const { journal } = table()
    const error = await failureOf(
      mail.mailer({ baseUrl: await deadUrl() }).sendEmails(messages(3), { journal, outageMs: 1_000 }),
    )
    expect(error).toMatchObject({ code: 'provider_error', retryable: true, effect: 'none' })
    expect(error.hint).toContain('the same journal')
  })

  it('knows a message by its key alone, and tells the key with each result', async () => {
    const { rows, journal } = table()
    const row = (at: number, fields: Partial<Message> = {}) =>
      message({ to: addressOf(at), key: `row-${at}`, ...fields })
    const first = await mail.mailer().sendEmails([row(0), row(1), message()], { journal })
    expect(first.results.map(({ key }) => key)).toEqual(['row-0', 'row-1', expect.stringMatching(/^1:/)])
    expect([...rows.keys()]).toEqual(first.results.map(({ key }) => key))

    const changed = { headers: { 'List-Unsubscribe': '<https://example.com/?t=2>' }, subject: 'Later' }
    const invalid = row(1, { subject: '' })
    const unreadable = row(0, { htmlBody: () => Promise.reject(new Error('the template is gone')) })
    for (const again of [row(0, changed), unreadable])
      expect((await mail.mailer().sendEmails([again, invalid], { journal })).sent).toBe(2)
    expect(provider.messages).toHaveLength(3)
    expect(JSON.stringify(provider.messages)).not.toContain('row-')
  })

  it('refuses a key that comes twice in a batch, or that is none', async () => {
    const { journal } = table()
    const keys = ['a', 'a', true, 'x'.repeat(256)]
    const given = keys.map((key, at) => Object.assign(message({ to: addressOf(at) }), { key }))
    const { results } = await mail.mailer().sendEmails(given, { journal })
    expect(runs(results)).toBe('1 sent,3 failed')
    const words = results.map(({ error }) => error?.message ?? '')
    expect(words[1]).toContain('key is the key of an earlier message of this batch')
    for (const word of words.slice(2))
      expect(word).toContain('key must be a number, or a text of at most 255 characters')
  })

  it('sends a message of unknown fate again only if the caller says so', async () => {
    const { journal } = table()
    provider.faults.add({ cut: 'after', times: 1 })
    const given = messages(2).map((each, at) => ({ ...each, key: `row-${at}` }))
    expect((await mail.mailer().sendEmails(given, { journal })).unknown).toBe(2)
    expect((await mail.mailer().sendEmails(given, { journal })).unknown).toBe(2)
    expect(provider.messages).toHaveLength(2)
    const asked: (string | undefined)[] = []
    const resend = ({ key, status }: MessageResult) => {
      asked.push(`${key} ${status}`)
      return key === 'row-1'
    }
    const { results } = await mail.mailer().sendEmails(given, { journal, resend })
    expect(runs(results)).toBe('1 unknown,1 sent')
    expect(asked).toEqual(['row-0 unknown', 'row-1 unknown'])
    expect(provider.messages).toHaveLength(3)
    expect(runs((await mail.mailer().sendEmails(given, { journal })).results)).toBe('1 unknown,1 sent')
    const promising: BatchOptions = {}
    // A promise would be true, whatever it says; JavaScript does not see that.
    Reflect.set(promising, 'resend', async () => false)
    const later: BatchOptions[] = [{ resend: () => expect.fail('resend has no idea') }, promising]
    for (const options of later)
      await expect(mail.mailer().sendEmails(given, { journal, ...options })).rejects.toThrow('resend')
    expect(provider.messages).toHaveLength(3)
  })

  it('sends what the provider did not take for now in the next run, and a corrected message on request', async () => {
    const { journal } = table()
    const [inactive, fixed] = [addressOf(1), addressOf(7)]
    provider.inactive.add(inactive)
    provider.faults.add({
      path: '/email/batch',
      status: 200,
      body: [{ ErrorCode: 100, Message: 'Maintenance' }],
    })
    const send = (to: string, resend?: () => boolean) =>
      mail.mailer().sendEmails([message({ key: 'row', to })], { journal, resend })
    expect((await send(inactive)).results[0]?.error).toMatchObject({ retryable: true })
    expect((await send(inactive)).results[0]?.error).toMatchObject({ retryable: false })
    expect((await send(fixed)).failed).toBe(1)
    expect((await send(fixed, () => true)).sent).toBe(1)
  })

  it('takes the record of a call back if the time was over once it was written, and sends it later', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { rows, journal } = table()
    const slow: BatchJournal = {
      read: journal.read,
      async write(records) {
        vi.setSystemTime(Date.now() + 20_000)
        await journal.write(records)
      },
    }
    const limits = { timeoutMs: 20_000 }
    const error = await failureOf(mail.mailer().sendEmails(messages(3), { ...limits, journal: slow }))
    expect(error).toMatchObject({ code: 'overloaded', retryable: true, effect: 'none' })
    expect([rows.size, provider.messages.length]).toEqual([0, 0])
    expect((await mail.mailer().sendEmails(messages(3), { journal })).sent).toBe(3)
  })

  it.each([7, 'sent', {}, { status: 'sent', rejected: [] }, { status: 'failed', rejected: [], error: null }])(
    'takes a message with the unreadable record %j for one that may have been sent',
    async (record) => {
      const { rows, journal } = table()
      await mail.mailer().sendEmails(messages(2), { journal })
      const [first = ''] = rows.keys()
      rows.set(first, JSON.stringify(record))
      const { results } = await mail.mailer().sendEmails(messages(2), { journal })
      expect(runs(results)).toBe('1 unknown,1 sent')
      expect(results[0]?.error).toMatchObject({ code: 'outcome_unknown', retryable: false })
      expect(provider.messages).toHaveLength(2)
    },
  )

  it('records no address and no text, and tells the same when the batch comes again', async () => {
    const { rows, journal } = table()
    provider.inactive.add(addressOf(1))
    const given = [...messages(3), message({ to: [addressOf(3), addressOf(1)] })]
    const first = await mail.mailer().sendEmails(given, { journal })
    expect(first).toMatchObject({ sent: 3, failed: 1 })
    expect(first.results[3]).toMatchObject({ status: 'sent', rejected: [addressOf(1)] })
    expect(rows.size).toBe(4)
    expect(JSON.stringify([...rows])).not.toMatch(/@|Hello|Ann/)
    const again = await mail.mailer().sendEmails(given, { journal })
    expect(again.results.map(({ to: _, ...result }) => result)).toEqual(
      first.results.map(({ to: _, ...result }) => result),
    )
  })

  it.each([1, 2, 3])(
    'that fails at write %i lets no further call leave, returns what it knows, and sends nothing twice later',
    async (failing) => {
      const { journal } = table()
      let writes = 0
      const unsteady: BatchJournal = {
        read: journal.read,
        async write(records) {
          writes += 1
          if (writes === failing) throw new Error('the database is gone')
          await journal.write(records)
        },
      }
      const sending = mail.mailer({ concurrency: 1 }).sendEmails(messages(1_001), { journal: unsteady })
      const results = await sending.then(
        (batch) => batch.results,
        (error: { results: { status: string }[] }) => error.results,
      )
      expect(results.filter(({ status }) => status === 'sent')).toHaveLength(provider.messages.length)
      // Each call is recorded before it leaves, and after its answer.
      expect(provider.messages).toHaveLength(failing === 1 ? 0 : 500)

      const { sent, unknown } = await mail.mailer().sendEmails(messages(1_001), { journal })
      expect(sent + unknown).toBe(1_001)
      expect(sentTwice()).toBe(0)
    },
  )
})
