import { expect, it } from 'vitest'
import { failureOf, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider, requests } = mail

/** Yields messages, counts them, and notes when its reader closes it. */
function source(length: number, end?: Error) {
  const seen = { read: 0, closed: false }
  async function* messages() {
    try {
      for (; seen.read < length; seen.read += 1) yield message({ to: `person-${seen.read}@example.org` })
      if (end) throw end
    } finally {
      seen.closed = true
    }
  }
  return { seen, messages: messages() }
}

async function collect<Item>(stream: AsyncIterable<Item>): Promise<Item[]> {
  const items = []
  for await (const item of stream) items.push(item)
  return items
}

it('yields the result of each of 2,501 messages, in the order given', async () => {
  const results = await collect(mail.mailer().streamEmails(source(2_501).messages))
  expect(results.map(({ index }) => index)).toEqual(Array.from({ length: 2_501 }, (_, index) => index))
  expect(results.map(({ to }) => to)).toEqual(results.map((_, index) => `person-${index}@example.org`))
  expect(requests).toHaveLength(6)
})

it('reads no further than it sends, and closes its source when its reader stops', async () => {
  const { seen, messages } = source(100_000)
  for await (const { index } of mail.mailer({ concurrency: 2 }).streamEmails(messages)) if (index === 1) break
  // Two calls of 500, and the message that showed the second to be full.
  expect(seen.read).toBeLessThanOrEqual(1_001)
  expect(seen.closed).toBe(true)
})

it('gives each result to one of several readers that ask at once', async () => {
  const stream = mail.mailer({ concurrency: 1 }).streamEmails(source(501).messages)
  const read = await Promise.all(Array.from({ length: 503 }, () => stream.next()))
  const indexes = read.flatMap(({ done, value }) => (done ? [] : [value.index]))
  expect(indexes.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 501 }, (_, index) => index))
  expect(await stream.next()).toEqual({ done: true, value: undefined })
})

it('answers readers in the order in which they ask, also one that asks again meanwhile', async () => {
  const stream = mail.mailer().streamEmails(source(4).messages)
  const asked = [stream.next(), stream.next(), stream.next()]
  const again = asked[0]?.then(() => stream.next())
  const read = await Promise.all([...asked, again])
  expect(read.map((result) => result?.value?.index)).toEqual([0, 1, 2, 3])
})

it('yields nothing more after its reader stopped', async () => {
  const stream = mail.mailer().streamEmails(source(3).messages)
  await stream.next()
  await stream.return?.()
  expect(await stream.next()).toEqual({ done: true, value: undefined })
})

it('yields the result of an invalid message in its place', async () => {
  const given = [message(), message({ to: 'nobody' }), message()]
  const results = await collect(mail.mailer().streamEmails(given))
  expect(results.map(({ index, status }) => [index, status])).toEqual([
    [0, 'sent'],
    [1, 'failed'],
    [2, 'sent'],
  ])
})

it('says that mails may have left if it ends before its source does', async () => {
  provider.faults.add({ cut: 'after' }, { path: '/email/batch', status: 401 })
  const stream = mail.mailer({ concurrency: 1 }).streamEmails(source(100_000).messages)
  const error = await failureOf(collect(stream))
  expect(error).toMatchObject({ code: 'credentials_rejected', effect: 'unknown', retryable: false })
})

it('yields a failed result for each message if the token is wrong', async () => {
  provider.settings.apiTokens = ['another-token']
  const results = await collect(mail.mailer().streamEmails([message()]))
  expect(results).toMatchObject([{ status: 'failed', error: { code: 'credentials_rejected' } }])
})

it('throws the error of its source, after the results before it', async () => {
  const { messages } = source(1_001, new Error('the database is gone'))
  const stream = mail.mailer({ concurrency: 1 }).streamEmails(messages)
  for (let count = 0; count < 500; count += 1) expect((await stream.next()).value.status).toBe('sent')
  await expect(collect(stream)).rejects.toThrow('the database is gone')
  expect(await stream.next()).toEqual({ done: true, value: undefined })
})
