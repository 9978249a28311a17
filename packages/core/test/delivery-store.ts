import { beforeEach, describe, expect, it } from 'vitest'
import type { ClaimRequest, DeliveryStore, Lease, RecordedAnswer } from '../src/index.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * The promises of the port `DeliveryStore`, for any store to be held to.
 *
 * @param create makes an empty store that reads the time from `now`
 */
export function describeDeliveryStore(
  name: string,
  create: (now: () => number) => DeliveryStore | Promise<DeliveryStore>,
): void {
  let time: number
  let store: DeliveryStore

  const subject = 'greeter/deployment/dep_1'
  const delivery = { id: 'evt_1', digest: 'd1' }
  const answer: RecordedAnswer = { status: 200, body: { status: 'running', outputs: { region: 'eu' } } }
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
      expect(await ask()).toEqual({
        state: 'claimed',
        takenOver: false,
        progress: {},
        lease: { subject, owner: expect.any(String), fence: 1 },
      })
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
      expect(results.filter(({ state }) => state === 'claimed')).toHaveLength(1)
      expect(results.filter(({ state }) => state === 'busy')).toHaveLength(49)
    })

    it('ends with its lease, and is then taken over with a higher fence and another owner', async () => {
      const first = await claim()
      time += 60_000
      const second = await claim()
      expect(second.takenOver).toBe(true)
      expect(second.lease.fence).toBeGreaterThan(first.lease.fence)
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
    it.each([
      { why: 'it ran out', lose: async () => {} },
      {
        why: 'another took it over',
        lose: async () => void (await claim({ delivery: { id: 'evt_2', digest: 'd2' } })),
      },
    ])('can write nothing more, because $why', async ({ lose }) => {
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

    it('does not end the claim of the one who took over', async () => {
      const { lease } = await claim()
      time += 60_000
      await claim()
      await store.release(lease)
      await finish(lease)
      expect(await ask()).toMatchObject({ state: 'busy' })
    })

    it.each(['complete', 'release'] as const)('has lost it by its own %s', async (end) => {
      const { lease } = await claim()
      expect(await (end === 'complete' ? finish(lease) : store.release(lease))).toBe(true)
      expect(await store.renew(lease, 60_000)).toBe(false)
      expect(await finish(lease)).toBe(false)
      expect(await store.release(lease)).toBe(false)
    })

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
      const refusal = { status: 422, body: { code: 'invalid_inputs' } }
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

  it(`${name}: says that it can be reached`, async () => {
    await expect(store.ping()).resolves.toBeUndefined()
  })
}
