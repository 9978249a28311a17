import { describe, expect, it, vi } from 'vitest'
import type { BatchJournal, MessageRecord } from '../src/index.ts'
import { addressOf, failureOf, message, messages, runMailProvider, runs } from './support.ts'

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

const sentTwice = () => provider.messages.length - new Set(provider.messages.flatMap(({ to }) => to)).size

describe('a batch with a journal', () => {
  it('sends a message once, however its rows move and whatever the default sender is', async () => {
    const { journal } = table()
    const without = messages(1_000).map((given, index) =>
      index % 3 ? { ...given, from: 'a@example.com' } : given,
    )
    provider.faults.add({ skip: 1, times: 100, status: 429, headers: { 'retry-after': '400' } })
    const first = await failureOf(mail.mailer({ fromEmail: undefined }).sendEmails(without, { journal }))
    expect(first).toMatchObject({ code: 'overloaded', retryAfter: 400 })
    expect(provider.messages.length).toBe(500)

    provider.faults.clear()
    const again = [message({ to: 'new@example.org' }), ...without]
    const { results } = await mail.mailer().sendEmails(again, { journal })
    expect(runs(results)).toBe('1001 sent')
    expect(provider.messages).toHaveLength(1_001)
    expect(sentTwice()).toBe(0)
  })

  it('sends a message as often as the batch holds it, and no more when the batch comes again', async () => {
    const { journal } = table()
    const same = [message(), message(), message({ to: addressOf(1) })]
    await mail.mailer().sendEmails(same, { journal })
    expect((await mail.mailer().sendEmails(same, { journal })).sent).toBe(3)
    expect(provider.messages).toHaveLength(3)
    await mail.mailer().sendEmails([...same, message()], { journal })
    expect(provider.messages).toHaveLength(4)
  })

  it('reads and writes a long body that goes to many recipients once, to its last letter', async () => {
    const { rows, journal } = table()
    // A pair of surrogates at each edge of a piece.
    const textBody = `a${'😀'.repeat(50_000)}"\n\ud800`
    const bodies = [...Array(20).fill(textBody), `${textBody}b`, `${textBody}c`]
    const given = messages(22).map((each, at) => ({ ...each, textBody: bodies[at] }))
    const encode = vi.spyOn(TextEncoder.prototype, 'encodeInto')
    const { sent } = await mail.mailer().sendEmails(given, { journal })
    const written = encode.mock.calls.reduce((sum, [text]) => sum + text.length, 0)
    encode.mockRestore()
    expect(written).toBeLessThan(4 * textBody.length)
    expect(provider.messages.map((each) => each.textBody)).toEqual(bodies)
    expect(sent).toBe(22)
    expect(rows.size).toBe(22)
    expect([...rows.keys()].filter((key) => key.includes('#'))).toEqual([])
  })

  it('does not take the record of another message for its own', async () => {
    const { journal } = table()
    await mail.mailer().sendEmails(messages(3), { journal })
    const others = messages(3).map((given) => ({ ...given, subject: 'Another matter' }))
    expect((await mail.mailer().sendEmails(others, { journal })).sent).toBe(3)
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

  it.each([undefined, null, {}, []])('fails the batch before it sends if read returns %j', async (found) => {
    const journal = { read: () => JSON.parse(JSON.stringify(found ?? null)), write: async () => {} }
    const error = await failureOf(mail.mailer().sendEmails(messages(3), { journal }))
    expect(error).toMatchObject({ code: 'overloaded', retryable: true })
    expect(provider.messages).toEqual([])
  })

  it('takes the record of a call back that did not leave', async () => {
    const { rows, journal } = table()
    provider.faults.add({ times: 100, status: 429, headers: { 'retry-after': '400' } })
    await failureOf(mail.mailer().sendEmails(messages(3), { journal }))
    expect(rows.size).toBe(0)
  })

  it('records no address and no text', async () => {
    const { rows, journal } = table()
    provider.inactive.add(addressOf(1))
    await mail.mailer().sendEmails(messages(3), { journal })
    expect(rows.size).toBe(3)
    expect(JSON.stringify([...rows])).not.toMatch(/@|Hello|Ann/)
  })

  it.each([1, 2, 3])(
    'that fails at write %i returns what it knows, and sends nothing twice later',
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

      const { sent, unknown } = await mail.mailer().sendEmails(messages(1_001), { journal })
      expect(sent + unknown).toBe(1_001)
      expect(sentTwice()).toBe(0)
    },
  )
})
