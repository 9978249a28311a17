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

  /** Tries each write, which must change nothing; after its own end, an end is `true`. */
  async function expectNoWrite(lease: Lease, hasEnded = false) {
    const before = await store.read(subject)
    const results = [await store.renew(lease, leaseMs), await store.advance(lease, { step: 'stale' })]
    results.push(await finish(lease, { step: 'stale' }), await store.release(lease))
    expect(results).toEqual([false, false, hasEnded, hasEnded])
    expect(await store.read(subject)).toEqual(before)
  }

  beforeEach(async () => {
    time = Date.UTC(2026, 10, 20)
    store = await create(() => time)
  })

  describe(`the ${name} store`, () => {
    it('takes a write as a probe, again and again', async () => {
      for (const _ of [1, 2]) expect(await store.probe()).toBe(undefined)
    })

    it('gives a claim to one of fifty deliveries that ask at once, and leaves other subjects free', async () => {
      expect(await store.read(subject)).toBe(undefined)
      const results = await Promise.all(Array.from({ length: 50 }, () => ask()))
      const states = results.map(({ state }) => state).toSorted()
      expect(states).toEqual([...Array(49).fill('busy'), 'claimed'])
      time += 59_000
      for (const other of [delivery, second, undefined])
        expect(await ask({ delivery: other })).toEqual({ state: 'busy', retryAfterMs: 1_000 })
      expect(await ask({ subject: 'another' })).toMatchObject({ state: 'claimed', progress: {} })
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

    it('shows a claim, its times and its progress, extends it when it is renewed, and gives it to the next delivery when it expires', async () => {
      const claimedAt = time
      const first = await claim()
      const progress = { step: 'created', ids: ['a'] }
      await store.advance(first.lease, progress)
      time += 20_000
      const claimed = { fence: 1, claimedAt, delivery: delivery.id, leaseMs: 40_000, progress }
      expect(await store.read(subject)).toEqual({ ...claimed, expires: claimedAt + keepMs })
      expect(await store.renew(first.lease, leaseMs)).toBe(true)
      time += leaseMs - 1
      expect(await ask()).toMatchObject({ state: 'busy', retryAfterMs: 1 })
      time += 1
      expect(await store.read(subject)).toMatchObject({ fence: 1, leaseMs: 0 })
      const { lease } = await claim({ delivery: undefined })
      expect([lease.fence, lease.owner === first.lease.owner]).toEqual([2, false])
      expect(await store.read(subject)).toMatchObject({ fence: 2, claimedAt: time, leaseMs, progress })
    })

    it('hands a copy of progress, in which a step replaced its own value only, to the next claim after a crash or a release', async () => {
      const { lease } = await claim()
      expect(await store.advance(lease, { 'call 0': ['a'], 'call 1': 'begun' })).toBe(true)
      const ids = ['b']
      await store.advance(lease, { 'call 1': ids })
      await store.advance(lease, { 'call 0': null })
      ids.push('c')
      time += leaseMs
      const progress = { 'call 0': null, 'call 1': ['b'] }
      const next = await claim()
      expect([next.progress, await store.release(next.lease)]).toEqual([progress, true])
      expect(await store.read(subject)).toMatchObject({ fence: 2, leaseMs: undefined, progress })
      const last = await claim()
      expect(last.progress).toEqual(progress)
      await finish(last.lease, { deleted: true })
      expect(await ask({ delivery: second })).toMatchObject({ progress: { deleted: true } })
    })

    it('takes no write from an owner whose lease expired, before and after another takes over', async () => {
      const { lease } = await claim()
      time += leaseMs
      await expectNoWrite(lease)
      await claim({ delivery: second })
      await expectNoWrite(lease)
    })

    it('takes no write after the end of a claim, nor under a guessed owner, fence or subject', async () => {
      const { lease } = await claim()
      await expectNoWrite({ ...lease, owner: 'someone else' })
      await expectNoWrite({ ...lease, fence: lease.fence + 1 })
      await expectNoWrite({ ...lease, subject: 'another' })
      await store.release(lease)
      await expectNoWrite(lease, true)
      const { lease: next } = await claim()
      expect(await finish(next)).toBe(true)
      await expectNoWrite(next, true)
      await expectNoWrite(lease)
    })

    it('replays the response to each delivery, and shows its status, code and time without the body', async () => {
      await finish((await claim()).lease)
      const refusal = { status: 422, code: 'invalid_arguments', at: time }
      const recorded = { ...refusal, body: 'encrypted, too' }
      // Names that every object has already.
      const others = ['__proto__', 'constructor'].map((id) => ({ id, digest: 'd2' }))
      for (const other of others) await finish((await claim({ delivery: other })).lease, {}, recorded)
      const responses = []
      for (const { id } of [delivery, second, ...others])
        responses.push((await store.read(subject, id))?.response)
      expect(responses).toEqual([{ status: 200 }, undefined, refusal, refusal])

      // Also while another delivery works on the subject.
      await claim({ delivery: second })
      expect(await ask()).toEqual({ state: 'done', response, fence: 1 })
      for (const [at, other] of others.entries())
        expect(await ask({ delivery: other })).toEqual({ state: 'done', response: recorded, fence: 2 + at })
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

    it('replays nothing to a delivery without an id, nor after a release', async () => {
      await finish((await claim({ delivery: undefined })).lease)
      await store.release((await claim({ delivery: undefined })).lease)
      await store.release((await claim()).lease)
      expect(await ask()).toMatchObject({ state: 'claimed' })
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

    it('forgets each answer of a living deployment seven days after it was given, and never the deployment', async () => {
      const progress = { application: 'app_1' }
      const ids = ['evt_0', 'evt_1', 'evt_2']
      for (const id of ids) {
        const { lease } = await claim({ delivery: { id, digest: 'd' } })
        await store.complete(lease, { response, progress, isLiving: true })
        time += keepMs / 7
      }
      time += (3 / 7) * keepMs
      for (const left of [ids, ids.slice(1), ids.slice(2), []]) {
        const found = []
        for (const id of ids) if ((await store.read(subject, id))?.response) found.push(id)
        expect(found).toEqual(left)
        time += keepMs / 7
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
  })
}
