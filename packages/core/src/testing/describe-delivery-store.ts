import type { ClaimRequest, DeliveryStore, Lease, RecordedResponse } from '../delivery/store.ts'
import type { TestRunner } from './integration-suite.ts'

const keepMs = 7 * 24 * 60 * 60 * 1000
const leaseMs = 60_000
const subject = 'greeter/deployment/dep_1'
const delivery = { id: 'evt_1', digest: 'd1' }
const second = { id: 'evt_2', digest: 'd2' }
const response: RecordedResponse = { status: 200, body: 'encrypted' }

/**
 * Describes the promises of the port `DeliveryStore` as a suite of tests, which every store passes.
 *
 * @param runner the functions of the test runner
 * @param name the name of the store in the names of the tests
 * @param create makes an empty store that reads the time, in milliseconds since 1970, from `now`
 */
export function describeDeliveryStore(
  { describe, it, expect, beforeEach }: TestRunner & { beforeEach(body: () => Promise<void>): unknown },
  name: string,
  create: (now: () => number) => DeliveryStore | Promise<DeliveryStore>,
): void {
  let time: number
  let store: DeliveryStore

  const ask = (request: Partial<ClaimRequest> = {}) => store.claim({ subject, delivery, leaseMs, ...request })

  async function claim(request: Partial<ClaimRequest> = {}) {
    const result = await ask(request)
    if (result.state !== 'claimed') throw new Error(`Expected a claim, got ${result.state}.`)
    return result
  }

  const finish = (lease: Lease, progress = {}, recorded = response) =>
    store.complete(lease, { response: recorded, progress, isLiving: false })

  /** Tries each write, which the store must refuse. */
  async function expectNoWrite(lease: Lease) {
    expect(await store.renew(lease, leaseMs)).toBe(false)
    expect(await store.advance(lease, { step: 'stale' })).toBe(false)
    expect(await finish(lease, { step: 'stale' })).toBe(false)
    expect(await store.release(lease)).toBe(false)
  }

  beforeEach(async () => {
    time = Date.UTC(2026, 10, 20)
    store = await create(() => time)
  })

  describe(`the ${name} store`, () => {
    it('takes a write as a probe, again and again', async () => {
      for (const _ of [1, 2]) expect(await store.probe()).toBe(undefined)
    })

    it('gives a claim to the first delivery that asks, tells others how long to wait, and leaves other subjects free', async () => {
      expect(await store.read(subject)).toBe(undefined)
      const { lease, ...first } = await claim()
      expect(first).toEqual({ state: 'claimed', progress: {} })
      expect(lease).toMatchObject({ subject, fence: 1 })
      expect(lease.owner === '').toBe(false)
      time += 59_000
      for (const other of [delivery, second, undefined])
        expect(await ask({ delivery: other })).toEqual({ state: 'busy', retryAfterMs: 1_000 })
      expect(await ask({ subject: 'greeter/deployment/dep_2' })).toMatchObject({ state: 'claimed' })
    })

    it('gives a claim to one of fifty deliveries that ask at once', async () => {
      const states = (await Promise.all(Array.from({ length: 50 }, () => ask()))).map(({ state }) => state)
      expect(states.toSorted()).toEqual([...Array(49).fill('busy'), 'claimed'])
    })

    it('gives the same claim to an owner that asks again because an answer was lost, until the claim ends', async () => {
      const { lease } = await claim({ owner: 'its owner' })
      await store.advance(lease, { step: 'created' })
      time += 1_000
      const same = { state: 'claimed', lease, progress: { step: 'created' } }
      expect(await claim({ owner: 'its owner' })).toEqual(same)
      expect(await ask({ owner: 'another' })).toEqual({ state: 'busy', retryAfterMs: 59_000 })
      await finish(lease)
      expect(await ask({ owner: 'its owner' })).toEqual({ state: 'done', response, fence: 1 })
    })

    it('gives an expired claim to the next delivery, with a higher fence and another owner', async () => {
      const first = await claim({ delivery: undefined })
      time += leaseMs
      expect(await store.read(subject)).toMatchObject({ fence: 1, leaseMs: 0, delivery: undefined })
      const { lease } = await claim()
      expect(lease.fence).toBe(2)
      expect(lease.owner).not.toBe(first.lease.owner)
      const claimed = { fence: 2, claimedAt: time, delivery: 'evt_1', leaseMs }
      expect(await store.read(subject)).toMatchObject(claimed)
    })

    it('hands a copy of progress to the next claim, in which a step replaced its own value only', async () => {
      const { lease } = await claim()
      expect(await store.advance(lease, { 'call 0': ['a'], 'call 1': 'begun' })).toBe(true)
      const ids = ['b']
      await store.advance(lease, { 'call 1': ids })
      await store.advance(lease, { 'call 0': null })
      ids.push('c')
      time += leaseMs
      expect((await claim()).progress).toEqual({ 'call 0': null, 'call 1': ['b'] })
    })

    it('keeps progress at a release, and replaces it at a completion', async () => {
      const { lease } = await claim()
      const progress = { step: 'created' }
      await store.advance(lease, progress)
      expect(await store.release(lease)).toBe(true)
      expect(await store.read(subject)).toMatchObject({ fence: 1, leaseMs: undefined, progress })
      const next = await claim()
      expect(next.progress).toEqual(progress)
      await finish(next.lease, { deleted: true })
      expect(await ask({ delivery: second })).toMatchObject({ progress: { deleted: true } })
    })

    it('takes no write from an owner whose lease expired, before and after another takes over', async () => {
      const { lease } = await claim()
      time += leaseMs
      await expectNoWrite(lease)
      await claim({ delivery: second })
      await expectNoWrite(lease)
      expect(await ask()).toMatchObject({ state: 'busy' })
      time += leaseMs
      expect((await claim()).progress).toEqual({})
    })

    it('takes no write from an owner after its own end, nor under a guessed owner, fence or subject', async () => {
      const { lease } = await claim()
      await expectNoWrite({ ...lease, owner: 'someone else' })
      await expectNoWrite({ ...lease, fence: lease.fence + 1 })
      await expectNoWrite({ ...lease, subject: 'another' })
      await store.release(lease)
      await expectNoWrite(lease)
      const { lease: next } = await claim()
      expect(await finish(next)).toBe(true)
      await expectNoWrite(next)
    })

    it('replays the response to each delivery, and shows its status, code and time without the body', async () => {
      await finish((await claim()).lease)
      const refusal = { status: 422, code: 'invalid_arguments', at: time }
      // Names that every object has already.
      const others = ['__proto__', 'constructor'].map((id) => ({ id, digest: 'd2' }))
      for (const other of others) {
        await finish((await claim({ delivery: other })).lease, {}, { ...refusal, body: 'encrypted, too' })
      }
      const record = { fence: 3, leaseMs: undefined, expires: time + keepMs }
      expect(await store.read(subject)).toMatchObject(record)
      const responseTo = async (id: string) => (await store.read(subject, id))?.response
      expect([await responseTo('evt_1'), await responseTo('evt_2')]).toEqual([{ status: 200 }, undefined])
      for (const { id } of others) expect(await responseTo(id)).toEqual(refusal)

      // Also while another delivery works on the subject.
      await claim({ delivery: second })
      expect(await ask()).toEqual({ state: 'done', response, fence: 1 })
      for (const [at, other] of others.entries()) {
        const recorded = { ...refusal, body: 'encrypted, too' }
        expect(await ask({ delivery: other })).toEqual({ state: 'done', response: recorded, fence: 2 + at })
      }
    })

    it('refuses a delivery id with another digest, during the work, after a crash and after the end', async () => {
      const expectMismatch = async () =>
        expect(await ask({ delivery: { id: delivery.id, digest: 'another' } })).toEqual({ state: 'mismatch' })
      await claim()
      await expectMismatch()
      time += leaseMs
      await expectMismatch()
      await finish((await claim()).lease)
      await expectMismatch()
    })

    it('keeps an answer and a tombstone for seven days, and not for longer', async () => {
      const [claimedAt, progress] = [time, { '@deleted': true }]
      const { lease } = await claim()
      await store.advance(lease, { '@intent': true })
      time += 1_000
      await finish(lease, progress)
      time += keepMs - 1
      expect(await ask()).toEqual({ state: 'done', response, fence: 1 })
      const record = { fence: 1, claimedAt, delivery: delivery.id, leaseMs: undefined, progress }
      const expected = { ...record, response: { status: 200 }, expires: time + 1 }
      expect(await store.read(subject, delivery.id)).toEqual(expected)
      time += 1
      expect(await store.read(subject, delivery.id)).toBe(undefined)
      expect(await ask()).toMatchObject({ state: 'claimed', progress: {} })
    })

    it('replays nothing to a delivery without an id, nor after a release', async () => {
      await finish((await claim({ delivery: undefined })).lease)
      await store.release((await claim({ delivery: undefined })).lease)
      await store.release((await claim()).lease)
      expect(await ask()).toMatchObject({ state: 'claimed' })
    })

    it('forgets each answer of a living deployment seven days after it was given, and never the deployment', async () => {
      const progress = { application: 'app_1' }
      const day = keepMs / 7
      for (const at of [0, 1, 2]) {
        const { lease } = await claim({ delivery: { id: `evt_${at}`, digest: 'd' } })
        await store.complete(lease, { response, progress, isLiving: true })
        time += day
      }
      for (const left of [['evt_0', 'evt_1', 'evt_2'], ['evt_1', 'evt_2'], ['evt_2'], []]) {
        for (const id of ['evt_0', 'evt_1', 'evt_2']) {
          const { response: found, progress: kept } = (await store.read(subject, id)) ?? {}
          expect([id, found !== undefined, kept]).toEqual([id, left.includes(id), progress])
        }
        time += left.length === 3 ? 4 * day : day
      }
      time += 50 * 52 * keepMs
      expect(await claim({ delivery: { id: 'evt_2', digest: 'another' } })).toMatchObject({ progress })
    })

    it('reserves a resource for the first of fifty owners that ask at once, and for the same one again', async () => {
      const resource = 'greeter/thing/1'
      const reserve = (owner: string) => store.reserve({ subject: resource, owner })
      const owners = Array.from({ length: 50 }, (_, at) => `greeter/deployment/dep_${at}`)
      const [first = '', ...others] = await Promise.all(owners.map(reserve))
      expect(owners.includes(first)).toBe(true)
      expect(new Set(others)).toEqual(new Set([first]))
      time += 50 * 52 * keepMs
      for (const owner of ['another', first]) expect(await reserve(owner)).toBe(first)
      expect(await store.read(resource)).toMatchObject({ leaseMs: undefined, progress: { owner: first } })
    })

    it('shows a claim, its times and its progress, and extends it when it is renewed', async () => {
      const claimedAt = time
      const { lease } = await claim()
      const progress = { step: 'created', ids: ['a'] }
      await store.advance(lease, progress)
      time += 20_000
      const claimed = { fence: 1, claimedAt, delivery: delivery.id, leaseMs: 40_000, progress }
      expect(await store.read(subject)).toEqual({ ...claimed, expires: claimedAt + keepMs })
      expect(await store.renew(lease, leaseMs)).toBe(true)
      expect(await store.read(subject)).toMatchObject({ claimedAt, leaseMs })
      time += leaseMs - 1
      expect(await ask()).toMatchObject({ state: 'busy', retryAfterMs: 1 })
    })
  })
}
