import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { messages, runs } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const webhook = runWebhook()
const { provider, requests, call } = webhook
const mail = (index: number) => ({ to: `a${index}@example.org`, subject: 'Hi', textBody: 'private words' })
const reads = () => requests.filter(({ method }) => method === 'GET')

describe('while the provider is away, the host', () => {
  it.each([
    ['a page with 502', { status: 502 }],
    ['a page with 503', { status: 503 }],
    ['a broken connection', { cut: 'after' }],
  ] as const)(
    'does not know the outcome of the first mail after %s, and sends no other',
    async (_, fault) => {
      provider.faults.add({ ...fault, times: 3 })
      const answers = []
      for (let index = 0; index < 10; index += 1)
        answers.push(await call('sendEmail', mail(index), `evt_${index}`))
      const [first, ...others] = answers
      expect(first).toMatchObject({ status: 409, body: { code: 'outcome_unknown' } })
      for (const { status, body, headers } of others) {
        expect([status, body]).toMatchObject([502, { code: 'provider_error', retryable: true }])
        expect(headers.get('retry-after')).toBe('1')
      }
      expect(reads()).toHaveLength(1)
      provider.faults.clear()
      const again = () => call('sendEmail', mail(1), 'evt_1')
      await expect.poll(async () => (await again()).status).toBe(200)
      expect((await call('sendEmail', mail(2), 'evt_2')).status).toBe(200)
    },
  )

  it('reads once after a mail that broke, and sends the next', async () => {
    provider.faults.add({ path: '/email', status: 502 })
    expect((await call('sendEmail', mail(1))).status).toBe(409)
    expect((await call('sendEmail', mail(2))).status).toBe(200)
    expect(reads()).toHaveLength(1)
  })

  it('does not take the page of a gateway for the answer of the provider', async () => {
    provider.faults.add({ path: '/email', status: 502 })
    provider.faults.add({ path: '/server', status: 200, body: { status: 'maintenance' } })
    await call('sendEmail', mail(1))
    expect((await call('sendEmail', mail(2))).body).toMatchObject({ code: 'provider_error' })
  })

  it('sends no mail after an answer about somebody else before a read succeeds', async () => {
    const answer = { ErrorCode: 0, Message: 'OK', MessageID: 'm_1', SubmittedAt: '2026-01-01T00:00:00Z' }
    provider.faults.add({ path: '/email', status: 200, body: { ...answer, To: 'eve@example.org' } })
    await call('sendEmail', mail(1))
    await call('sendEmail', mail(2))
    expect(reads()).toHaveLength(1)
  })

  it('opens the gate by a 401, and tells that the token is wrong', async () => {
    provider.faults.add({ path: '/email', status: 502 })
    await call('sendEmail', mail(1))
    provider.settings.apiTokens = ['another-token']
    expect((await call('sendEmail', mail(2))).body).toMatchObject({ code: 'credentials_rejected' })
  })
})

describe('a batch, while the provider is away,', () => {
  it.each([
    ['a page with 502', { status: 502 }],
    ['no list', { status: 200, body: {} }],
    ['a list of another length', { status: 200, body: [{ ErrorCode: 406, Message: 'Inactive' }] }],
  ])('shares the gate of its host, and shuts it by %s', async (_, fault) => {
    const batch = () => call('sendEmails', { messages: [mail(1), mail(2)] })
    provider.faults.add({ ...fault, times: Number.POSITIVE_INFINITY })
    expect((await batch()).body).toMatchObject({ result: { unknown: 2 } })
    provider.faults.clear()
    provider.faults.add({ path: '/server', status: 502 })
    expect((await call('sendEmail', mail(3))).body).toMatchObject({ code: 'provider_error' })
  })

  it('leaves unknown what was under way, and sends the rest when the provider is back', async () => {
    provider.faults.add({ path: '/email/batch', skip: 4, times: 1, status: 502 })
    provider.faults.add({ path: '/server', times: 3, status: 502 })
    const batch = await webhook
      .mailer({ apiToken: 'shared-token', concurrency: 1 })
      .sendEmails(messages(4_000))
    expect(runs(batch.results)).toBe('2000 sent,500 unknown,1500 sent')
    expect(provider.messages).toHaveLength(3_500)
  })

  it('fails the rest, which may be sent again, if the provider answers no read for a minute', async () => {
    provider.faults.add({ path: '/email/batch', skip: 1, times: 1, status: 502 })
    provider.faults.add({ path: '/server', times: Number.POSITIVE_INFINITY, status: 502 })
    const batch = await webhook
      .mailer({ apiToken: 'shared-token', concurrency: 1 })
      .sendEmails(messages(2_000))
    expect(runs(batch.results)).toBe('500 sent,500 unknown,1000 failed')
    expect(batch.results.at(-1)?.error).toMatchObject({ code: 'provider_error', retryable: true })
    expect(webhook.waits.reduce((sum, wait) => sum + wait, 0) / 60_000).toBeCloseTo(1)
  })
})

it('a batch that is stopped awaits the calls in flight, and leaves the rest', async () => {
  const calls = webhook.hold()
  const stop = new AbortController()
  const mailer = webhook.mailer({ apiToken: 'shared-token', fetch: calls.fetch })
  const batch = mailer.sendEmails(messages(2_000), { stop: stop.signal })
  await calls.answer(1)
  await calls.arrived(2)
  stop.abort()
  await calls.answer(2)
  expect(runs((await batch).results)).toBe('1500 sent,500 failed')
})

it('a mail that waits for a rate limit to end does not leave after the outcome of another is unknown', async () => {
  provider.faults.add({ path: '/email', status: 429 }, { path: '/email', status: 502 })
  const other: Promise<unknown>[] = []
  const mailer = webhook.mailer({
    apiToken: 'shared-token',
    async wait() {
      other.push(mailer.sendEmail(mail(2)))
      await expect(other[0]).rejects.toMatchObject({ code: 'outcome_unknown' })
    },
  })
  await expect(mailer.sendEmail(mail(1))).rejects.toMatchObject({ code: 'provider_error', effect: 'none' })
  expect(provider.messages).toEqual([])
})

it('a batch that is stopped while it waits for a provider that is away says so', async () => {
  const stop = new AbortController()
  provider.faults.add({ path: '/email/batch', status: 502 }, { path: '/server', status: 502 })
  const wait = async () => stop.abort()
  const mailer = webhook.mailer({ apiToken: 'shared-token', concurrency: 1, wait })
  const { results } = await mailer.sendEmails(messages(1_000), { stop: stop.signal })
  expect(runs(results)).toBe('500 unknown,500 failed')
  expect(results.at(-1)?.error).toMatchObject({ code: 'aborted' })
})

it('a batch ends after the longest outage if reads succeed and calls go on to break', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  provider.faults.add({ path: '/email/batch', skip: 1, times: Number.POSITIVE_INFINITY, status: 502 })
  const wait = async (milliseconds: number) => void vi.setSystemTime(Date.now() + milliseconds)
  const mailer = webhook.mailer({ apiToken: 'shared-token', concurrency: 1, wait })
  const { results } = await mailer.sendEmails(messages(10_000), { outageMs: 20_000 })
  expect(runs(results)).toBe('500 sent,3500 unknown,6000 failed')
})
