import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { runWebhook } from './webhook-support.ts'

const arrangement = runWebhook()
const { provider, requests, call } = arrangement

const mail = { to: 'ann@example.org', subject: 'Hello', textBody: 'private words' }

describe('a redelivery', () => {
  it.each([
    ['sendEmail', mail],
    ['sendEmails', { messages: [mail, { ...mail, to: 'nobody' }] }],
  ])('of %s sends no second mail, and is answered as before', async (name, given) => {
    const first = await call(name, given, 'evt_1')
    const again = await call(name, given, 'evt_1')
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(first.headers.has('idempotency-replayed')).toBe(false)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect([requests.length, provider.messages.length]).toEqual([1, 1])
  })

  it('that comes while the first is under way sends nothing', async () => {
    const reached = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const handle = arrangement.handler({
      async fetch(input, init) {
        reached.resolve()
        await released.promise
        return fetch(input, init)
      },
    })
    const event = { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: mail } }
    const first = deliver(handle, event, { id: 'evt_1' })
    await reached.promise
    const second = await deliver(handle, event, { id: 'evt_1' })
    expect(second).toMatchObject({ status: 409, body: { code: 'delivery_in_progress', retryable: true } })
    released.resolve()
    expect((await first).status).toBe(200)
    expect(provider.messages).toHaveLength(1)
  })

  it('with another body is refused', async () => {
    await call('sendEmail', mail, 'evt_1')
    const answer = await call('sendEmail', { ...mail, to: 'bob@example.org' }, 'evt_1')
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_event' } })
    expect(provider.messages).toHaveLength(1)
  })

  it('of a send that the provider refused is answered as before', async () => {
    provider.inactive.add('ann@example.org')
    const first = await call('sendEmail', mail, 'evt_1')
    provider.inactive.clear()
    const again = await call('sendEmail', mail, 'evt_1')
    expect([again.status, again.body]).toEqual([422, first.body])
    expect(requests).toHaveLength(1)
  })

  it('of a send that was certainly not made makes it', async () => {
    provider.faults.add({ status: 429, headers: { 'retry-after': '600' } })
    const first = await call('sendEmail', mail, 'evt_1')
    expect(first).toMatchObject({ status: 429, body: { code: 'provider_rate_limited', retryable: true } })
    expect(first.headers.get('retry-after')).toBe('600')
    expect((await call('sendEmail', mail, 'evt_1')).status).toBe(200)
    expect(provider.messages).toHaveLength(1)
  })
})

it.each([{ cut: 'after' }, { cut: 'before' }, { status: 500 }, { truncate: true }, { html: true }] as const)(
  'a send that may have happened (%j) is answered 409 for good, and never made again',
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
