import type { Fault } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { runWebhook } from './webhook-support.ts'

const { backend, requests, call } = runWebhook()

const ada = { emailAddress: 'ada@example.com', firstName: 'Ada', password: 'a long pass phrase' }

describe('a redelivery of createUser', () => {
  it('creates no second user, and is answered as before', async () => {
    const first = await call('createUser', ada, 'evt_1')
    const again = await call('createUser', ada, 'evt_1')
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(first.headers.has('idempotency-replayed')).toBe(false)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect([requests.length, backend.users.size]).toEqual([1, 1])
  })

  it('with another body is refused', async () => {
    await call('createUser', ada, 'evt_1')
    const answer = await call('createUser', { ...ada, emailAddress: 'bob@example.com' }, 'evt_1')
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_event' } })
    expect(backend.users.size).toBe(1)
  })

  it('that was refused is answered as before', async () => {
    const { id } = backend.instance.createUser({ email_address: [ada.emailAddress] })
    const first = await call('createUser', ada, 'evt_1')
    backend.users.delete(id)
    const again = await call('createUser', ada, 'evt_1')
    expect([again.status, again.body]).toEqual([422, first.body])
    expect(backend.users.size).toBe(0)
  })

  it('that was certainly not made makes it', async () => {
    backend.faults.add({ status: 429, headers: { 'retry-after': '600' } })
    expect(await call('createUser', ada, 'evt_1')).toMatchObject({ status: 429, body: { retryable: true } })
    expect((await call('createUser', ada, 'evt_1')).status).toBe(200)
    expect(backend.users.size).toBe(1)
  })
})

const faults: Fault[] = [
  { cut: 'before' },
  { cut: 'after' },
  { cut: 'during' },
  { status: 500, takesEffect: true },
  { status: 504 },
  { truncate: true },
  { empty: true },
  { html: true },
]

it.each(faults)(
  'a user who may have been created (%j) is a 409 for good, and never created again',
  async (fault) => {
    backend.faults.add(fault)
    const first = await call('createUser', ada, 'evt_1')
    expect(first).toMatchObject({ status: 409, body: { code: 'outcome_unknown', retryable: false } })
    expect(first.headers.has('retry-after')).toBe(false)
    const again = await call('createUser', ada, 'evt_1')
    expect([again.status, again.body]).toEqual([409, first.body])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(requests).toHaveLength(1)
  },
)

it('reading is not de-duplicated', async () => {
  const counts = async () => (await call('countUsers', {}, 'evt_1')).body
  const before = await counts()
  backend.instance.createUser()
  expect([before, await counts()]).toEqual([{ result: { count: 0 } }, { result: { count: 1 } }])
})
