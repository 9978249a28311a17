/**
 * The promises of the port `DeliveryStore`, as a suite that any store can be held to.
 *
 * @module
 */
import type { ClaimRequest, DeliveryStore, Lease, RecordedAnswer } from '../delivery/store.ts'
import { describeStoreRecords } from './describe-store-records.ts'
import type { TestRunner } from './integration-suite.ts'

/** What the suite needs of a test runner beside what every suite needs: Vitest, Jest and Bun have it. */
export interface StoreTestRunner extends TestRunner {
  beforeEach(body: () => Promise<void>): unknown
}

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Describes a store as a suite of tests.
 *
 * @param runner the functions of the test runner
 * @param name stands before the name of each group of tests
 * @param create makes an empty store that reads the time, in milliseconds since 1970, from `now`
 *
 * @example
 * ```ts
 * import { beforeEach, describe, expect, it } from 'vitest'
 *
 * describeDeliveryStore({ describe, it, expect, beforeEach }, 'my store', (now) => myStore({ now }))
 * ```
 */
export function describeDeliveryStore(
  { describe, it, expect, beforeEach }: StoreTestRunner,
  name: string,
  create: (now: () => number) => DeliveryStore | Promise<DeliveryStore>,
): void {
  let time: number
  let store: DeliveryStore

  const subject = 'greeter/deployment/dep_1'
  const delivery = { id: 'evt_1', digest: 'd1' }
  const answer: RecordedAnswer = { status: 200, body: 'sealed' }
  const keepMs = 7 * DAY_MS

  const ask = (request: Partial<ClaimRequest> = {}) =>
    store.claim({ subject, delivery, leaseMs: 60_000, ...request })

  async function claim(request: Partial<ClaimRequest> = {}) {
    const result = await ask(request)
    if (result.state !== 'claimed') throw new Error(`Expected a claim, got ${result.state}.`)
    return result
  }

  const finish = (lease: Lease, progress = {}) => store.complete(lease, { answer, progress, keepMs })

  beforeEach(async () => {
    time = Date.UTC(2026, 10, 20)
    store = await create(() => time)
  })

  describe(`${name}: a claim`, () => {
    it('is given to the first who asks, with nothing recorded', async () => {
      const { lease, ...first } = await claim()
      expect(first).toEqual({ state: 'claimed', takenOver: false, progress: {} })
      expect(lease).toMatchObject({ subject, fence: 1 })
      expect(lease.owner === '').toBe(false)
    })

    it('is refused to everyone else while it lasts, with the time that is left', async () => {
      await claim()
      time += 59_000
      for (const other of [delivery, { id: 'evt_2', digest: 'd2' }, undefined]) {
        expect(await ask({ delivery: other })).toEqual({ state: 'busy', retryAfterMs: 1_000 })
      }
    })

    it('of one subject leaves the others free', async () => {
      await claim()
      expect(await ask({ subject: 'greeter/deployment/dep_2' })).toMatchObject({ state: 'claimed' })
    })

    it('is given to one of many who ask at once', async () => {
      const results = await Promise.all(Array.from({ length: 50 }, () => ask()))
      expect(results.filter(({ state }) => state === 'claimed').length).toBe(1)
      expect(results.filter(({ state }) => state === 'busy').length).toBe(49)
    })

    it('ends with its lease, and is then taken over with a higher fence and another owner', async () => {
      const first = await claim()
      time += 60_000
      const second = await claim()
      expect(second.takenOver).toBe(true)
      expect(second.lease.fence > first.lease.fence).toBe(true)
      expect(second.lease.owner).not.toBe(first.lease.owner)
    })

    it('lasts longer where it is renewed', async () => {
      const { lease } = await claim()
      time += 50_000
      expect(await store.renew(lease, 60_000)).toBe(true)
      time += 59_999
      expect(await ask()).toMatchObject({ state: 'busy', retryAfterMs: 1 })
      time += 1
      expect(await ask()).toMatchObject({ state: 'claimed' })
    })
  })

  describe(`${name}: progress`, () => {
    it('is what the next holder continues from', async () => {
      const { lease } = await claim()
      expect(await store.advance(lease, { step: 'intent' })).toBe(true)
      expect(await store.advance(lease, { step: 'created', applicationId: 'app_1' })).toBe(true)
      time += 60_000
      expect((await claim()).progress).toEqual({ step: 'created', applicationId: 'app_1' })
    })

    it('is written step by step: a name replaces its own value, and leaves the others', async () => {
      const { lease } = await claim()
      await store.advance(lease, { 'call 0': ['a'], 'call 1': 'begun' })
      await store.advance(lease, { 'call 1': ['b'] })
      await store.advance(lease, { 'call 0': null })
      time += 60_000
      expect((await claim()).progress).toEqual({ 'call 0': null, 'call 1': ['b'] })
    })

    it('outlives a release, and is replaced by a completion', async () => {
      const first = await claim()
      await store.advance(first.lease, { step: 'created' })
      expect(await store.release(first.lease)).toBe(true)
      const second = await claim()
      expect(second).toMatchObject({ takenOver: false, progress: { step: 'created' } })
      await finish(second.lease, { deleted: true })
      const third = await claim({ delivery: { id: 'evt_2', digest: 'd2' } })
      expect(third).toMatchObject({ takenOver: false, progress: { deleted: true } })
    })

    it('is a copy: what its holder changes later is not recorded', async () => {
      const progress = { ids: ['a'] }
      const { lease } = await claim()
      await store.advance(lease, progress)
      progress.ids.push('b')
      time += 60_000
      const taken = await claim()
      expect(taken.progress).toEqual({ ids: ['a'] })
    })
  })

  describe(`${name}: a holder that lost its claim`, () => {
    const takenOver = async () => void (await claim({ delivery: { id: 'evt_2', digest: 'd2' } }))
    for (const [why, lose] of [
      ['it ran out', async () => {}],
      ['another took it over', takenOver],
    ] as const) {
      it(`can write nothing more, because ${why}`, async () => {
        const { lease } = await claim()
        time += 60_000
        await lose()
        expect(await store.renew(lease, 60_000)).toBe(false)
        expect(await store.advance(lease, { step: 'stale' })).toBe(false)
        expect(await finish(lease, { step: 'stale' })).toBe(false)
        expect(await store.release(lease)).toBe(false)
        time += 60_000
        expect(await ask({ delivery: { id: 'evt_3', digest: 'd3' } })).toMatchObject({
          state: 'claimed',
          progress: {},
        })
      })
    }

    it('does not end the claim of the one who took over', async () => {
      const { lease } = await claim()
      time += 60_000
      await claim()
      await store.release(lease)
      await finish(lease)
      expect(await ask()).toMatchObject({ state: 'busy' })
    })

    for (const end of ['complete', 'release'] as const) {
      it(`has lost it by its own ${end}`, async () => {
        const { lease } = await claim()
        expect(await (end === 'complete' ? finish(lease) : store.release(lease))).toBe(true)
        expect(await store.renew(lease, 60_000)).toBe(false)
        expect(await finish(lease)).toBe(false)
        expect(await store.release(lease)).toBe(false)
      })
    }

    it('can’t guess its way back in', async () => {
      const { lease } = await claim()
      expect(await store.renew({ ...lease, owner: 'someone else' }, 60_000)).toBe(false)
      expect(await store.renew({ ...lease, fence: lease.fence + 1 }, 60_000)).toBe(false)
      expect(await store.renew({ ...lease, subject: 'another' }, 60_000)).toBe(false)
    })
  })

  describe(`${name}: an answer`, () => {
    it('is given again to the same delivery', async () => {
      await finish((await claim()).lease)
      expect(await ask()).toEqual({ state: 'done', answer })
    })

    it('is refused to the same id with another digest, while it is under way and after', async () => {
      const other = { id: delivery.id, digest: 'another' }
      const { lease } = await claim()
      expect(await ask({ delivery: other })).toEqual({ state: 'mismatch' })
      await finish(lease)
      expect(await ask({ delivery: other })).toEqual({ state: 'mismatch' })
    })

    it('is kept for each delivery of a subject', async () => {
      await finish((await claim()).lease)
      const second = { id: 'evt_2', digest: 'd2' }
      const refusal = { status: 422, body: 'sealed, too' }
      const { lease } = await claim({ delivery: second })
      await store.complete(lease, { answer: refusal, progress: {}, keepMs })
      expect(await ask({ delivery: second })).toEqual({ state: 'done', answer: refusal })
      expect(await ask()).toEqual({ state: 'done', answer })
    })

    it('is given even while another delivery works on the subject', async () => {
      await finish((await claim()).lease)
      await claim({ delivery: { id: 'evt_2', digest: 'd2' } })
      expect(await ask()).toEqual({ state: 'done', answer })
    })

    it('is given to nobody where the delivery had no id', async () => {
      await finish((await claim({ delivery: undefined })).lease)
      expect(await ask({ delivery: undefined })).toMatchObject({ state: 'claimed' })
    })

    it('does not exist after a release: the same delivery may try again', async () => {
      await store.release((await claim()).lease)
      expect(await ask()).toMatchObject({ state: 'claimed', takenOver: false })
    })

    it('is kept as long as was asked for, and no longer', async () => {
      await finish((await claim()).lease, { deleted: true })
      time += keepMs - 1
      expect(await ask()).toMatchObject({ state: 'done' })
      time += 1
      expect(await ask()).toMatchObject({ state: 'claimed', takenOver: false, progress: {} })
    })
  })

  describeStoreRecords({ describe, it, expect }, name, {
    store: () => store,
    now: () => time,
    pass(milliseconds) {
      time += milliseconds
    },
  })

  it(`${name}: says that it can be reached`, async () => {
    expect(await store.ping()).toBe(undefined)
  })
}
