import { describe, expect, it } from 'vitest'
import type { Message } from '../src/index.ts'
import { runMailProvider } from './support.ts'

const arrangement = runMailProvider()
const { provider, requests } = arrangement

const message = (index: number): Message => ({
  from: 'shop@example.com',
  to: `person-${index}@example.org`,
  subject: 'News',
  textBody: 'private words',
})

/** Messages one after another, counted as they are read. */
function source(length: number) {
  const read = { count: 0 }
  async function* messages() {
    for (; read.count < length; read.count += 1) yield message(read.count)
  }
  return { read, messages: messages() }
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items = []
  for await (const item of stream) items.push(item)
  return items
}

describe('a stream of messages', () => {
  it('of 2,501 is sent in 6 calls, with a result for each in the order given', async () => {
    const results = await collect(arrangement.mailer().streamEmails(source(2_501).messages))
    expect(results.map(({ index }) => index)).toEqual(Array.from({ length: 2_501 }, (_, index) => index))
    expect(results.map(({ to }) => to)).toEqual(results.map((_, index) => `person-${index}@example.org`))
    expect(requests).toHaveLength(6)
  })

  it('is read no further than it is sent', async () => {
    const { read, messages } = source(100_000)
    const stream = arrangement.mailer({ concurrency: 2 }).streamEmails(messages)
    await stream.next()
    // Two calls of 500, and the message that showed the second to be full.
    expect(read.count).toBeLessThanOrEqual(1_001)
    await stream.return?.()
  })

  it('keeps unfit messages in their place', async () => {
    const messages = [message(0), { ...message(1), to: 'nobody' }, message(2)]
    const results = await collect(arrangement.mailer().streamEmails(messages))
    expect(results.map(({ index, status }) => [index, status])).toEqual([
      [0, 'sent'],
      [1, 'failed'],
      [2, 'sent'],
    ])
    expect(provider.messages).toHaveLength(2)
  })

  it('goes on after a call that broke, and says which messages that concerns', async () => {
    provider.faults.add({ path: '/email/batch', skip: 1, cut: 'after' })
    const results = await collect(arrangement.mailer({ concurrency: 1 }).streamEmails(source(1_500).messages))
    expect(results.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 500 }, () => 'sent'),
      ...Array.from({ length: 500 }, () => 'unknown'),
      ...Array.from({ length: 500 }, () => 'sent'),
    ])
    expect(provider.messages).toHaveLength(1_500)
  })

  it('has no results of its own for a refused token: each message says so', async () => {
    provider.settings.apiTokens = ['another-token']
    const results = await collect(arrangement.mailer().streamEmails([message(0)]))
    expect(results).toMatchObject([{ status: 'failed', error: { code: 'credentials_rejected' } }])
  })

  it('ends with what its source throws', async () => {
    async function* broken() {
      yield message(0)
      throw new Error('the database is gone')
    }
    await expect(collect(arrangement.mailer().streamEmails(broken()))).rejects.toThrow('the database is gone')
  })

  it('stops sending when its signal fires', async () => {
    const controller = new AbortController()
    arrangement.atRequest(2, () => controller.abort())
    const stream = arrangement
      .mailer({ concurrency: 1 })
      .streamEmails(source(2_000).messages, { signal: controller.signal })
    const results = await collect(stream)
    expect(results.filter(({ status }) => status === 'sent')).toHaveLength(500)
    expect(requests).toHaveLength(2)
  })
})

describe('a batch', () => {
  it('may come from an async iterable too', async () => {
    const batch = await arrangement.mailer().sendEmails(source(501).messages)
    expect(batch).toMatchObject({ sent: 501, failed: 0, unknown: 0 })
  })

  it('tells how far it is after each call', async () => {
    const seen: unknown[] = []
    await arrangement
      .mailer({ concurrency: 1 })
      .sendEmails(
        [...Array.from({ length: 700 }, (_, index) => message(index)), { ...message(700), to: 'nobody' }],
        {
          onProgress: (progress) => seen.push(progress),
        },
      )
    expect(seen).toEqual([
      { done: 500, sent: 500, failed: 0, unknown: 0 },
      { done: 701, sent: 700, failed: 1, unknown: 0 },
    ])
  })
})

describe('what the provider says beside an accepted message', () => {
  it.each(['short', 'long'] as const)('is understood in its %s wording', async (wording) => {
    provider.settings.inactiveWording = wording
    provider.inactive.add('person-1@example.org')
    const sent = await arrangement.mailer().sendEmail({ ...message(0), cc: 'person-1@example.org' })
    expect(sent).toMatchObject({ rejected: ['person-1@example.org'], notice: null })
  })

  it('is passed on where it is not understood, without addresses', async () => {
    const body = {
      To: 'x',
      MessageID: 'id-1',
      ErrorCode: 0,
      Message: 'Held for review by ops@provider.example.',
      SubmittedAt: '2026-11-20T09:00:00Z',
    }
    provider.faults.add({ status: 200, body })
    const sent = await arrangement.mailer().sendEmail(message(0))
    expect(sent).toMatchObject({ rejected: [], notice: 'Held for review by [address].' })
  })
})
