import { expect, it } from 'vitest'
import { runWebhook } from './webhook-support.ts'

const { provider, requests, call } = runWebhook()

const mail = { to: 'ann@example.org', subject: 'Hello', textBody: 'private words' }

it('answers a redelivery of a batch from the record, and sends nothing again', async () => {
  const given = { messages: [mail, { ...mail, to: 'nobody' }] }
  const first = await call('sendEmails', given, 'evt_1')
  const again = await call('sendEmails', given, 'evt_1')
  expect([again.status, again.body]).toEqual([200, first.body])
  expect(first.headers.has('idempotency-replayed')).toBe(false)
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect([requests.length, provider.messages.length]).toEqual([1, 1])
})

it('answers a redelivery from the record after the provider refused the mail', async () => {
  provider.inactive.add('ann@example.org')
  const first = await call('sendEmail', mail, 'evt_1')
  provider.inactive.clear()
  const again = await call('sendEmail', mail, 'evt_1')
  expect([again.status, again.body]).toEqual([422, first.body])
  expect(requests).toHaveLength(1)
})

it('sends at the redelivery if the mail was certainly not sent before', async () => {
  provider.faults.add({ status: 429, headers: { 'retry-after': '600' } })
  const first = await call('sendEmail', mail, 'evt_1')
  expect(first).toMatchObject({ status: 429, body: { code: 'provider_rate_limited', retryable: true } })
  expect(first.headers.get('retry-after')).toBe('600')
  expect((await call('sendEmail', mail, 'evt_1')).status).toBe(200)
  expect(provider.messages).toHaveLength(1)
})

it.each([{ cut: 'after' }, { cut: 'before' }, { status: 500 }, { truncate: true }, { html: true }] as const)(
  'answers 409 and never sends again if the mail may have been sent: %j',
  async (fault) => {
    provider.faults.add(fault)
    const first = await call('sendEmail', mail, 'evt_1')
    expect(first).toMatchObject({ status: 409, body: { code: 'outcome_unknown', retryable: false } })
    expect(first.headers.has('retry-after')).toBe(false)
    const again = await call('sendEmail', mail, 'evt_1')
    expect([again.status, again.body]).toEqual([409, first.body])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(requests).toHaveLength(1)
  },
)
