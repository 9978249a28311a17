/**
 * What a delivery store shows of its records: a part of the suite that any store is held to.
 *
 * @module
 */
import type { DeliveryStore, Lease, RecordedAnswer } from '../delivery/store.ts'
import type { TestRunner } from './integration-suite.ts'

/** A store under test, and the clock that it goes by. */
export interface StoreBench {
  store(): DeliveryStore
  /** Milliseconds since 1970. */
  now(): number
  pass(milliseconds: number): void
}

/** Describes what can be read of a store. */
export function describeStoreRecords(
  { describe, it, expect }: TestRunner,
  name: string,
  { store, now, pass }: StoreBench,
): void {
  const subject = 'greeter/deployment/dep_1'
  const own = { id: 'evt_1', digest: 'd1' }
  const leaseMs = 60_000
  const keepMs = 7 * 24 * 60 * 60 * 1000

  async function claim(delivery: { id: string; digest: string } | undefined = own) {
    const result = await store().claim({ subject, delivery, leaseMs })
    if (result.state !== 'claimed') throw new Error(`Expected a claim, got ${result.state}.`)
    return result
  }
  const finish = (lease: Lease, answer: RecordedAnswer) =>
    store().complete(lease, { answer, progress: {}, keepMs })
  const read = () => store().read(subject)

  describe(`${name}: a record`, () => {
    it('is nothing before the first claim, and looking at it changes nothing', async () => {
      expect(await read()).toBe(undefined)
      expect(await claim()).toMatchObject({ takenOver: false, lease: { fence: 1 } })
    })

    it('tells who holds it, since when and for how long, and what is written down', async () => {
      const claimedAt = now()
      const { lease } = await claim()
      await store().advance(lease, { step: 'created', ids: ['a'] })
      pass(20_000)
      expect(await read()).toEqual({
        fence: 1,
        claimedAt,
        delivery: own.id,
        leaseMs: 40_000,
        progress: { step: 'created', ids: ['a'] },
        answers: [],
        expires: claimedAt + keepMs,
      })
      expect(await store().renew(lease, leaseMs)).toBe(true)
      expect(await read()).toMatchObject({ claimedAt, leaseMs })
    })

    it('tells that its holder vanished, and its next one when it was claimed again', async () => {
      await store().claim({ subject, leaseMs })
      pass(leaseMs)
      expect(await read()).toMatchObject({ leaseMs: 0, delivery: undefined })
      const { takenOver } = await claim()
      expect(takenOver).toBe(true)
      expect(await read()).toMatchObject({ fence: 2, claimedAt: now(), delivery: own.id, leaseMs })
    })

    it('tells which delivery gave it back, and what is left of its work', async () => {
      const { lease } = await claim()
      await store().advance(lease, { step: 'created' })
      await store().release(lease)
      const released = { fence: 1, delivery: own.id, leaseMs: undefined, answers: [] }
      expect(await read()).toMatchObject({ ...released, progress: { step: 'created' } })
    })

    it('tells what each delivery was answered, and when, and not in which words', async () => {
      const refusal = { status: 422, code: 'invalid_arguments', at: now() }
      await finish((await claim()).lease, { status: 200, body: 'sealed' })
      // Names that every object has already.
      for (const id of ['__proto__', 'constructor']) {
        const delivery = { id, digest: 'd2' }
        await finish((await claim(delivery)).lease, { ...refusal, body: 'sealed' })
        expect(await store().claim({ subject, delivery, leaseMs })).toEqual({
          state: 'done',
          answer: { ...refusal, body: 'sealed' },
        })
      }
      const { answers = [], ...record } = (await read()) ?? {}
      expect(record).toMatchObject({ fence: 3, leaseMs: undefined, expires: now() + keepMs })
      expect(answers.toSorted((one, other) => (one.delivery < other.delivery ? -1 : 1))).toEqual([
        { delivery: '__proto__', ...refusal },
        { delivery: 'constructor', ...refusal },
        { delivery: own.id, status: 200 },
      ])
    })

    it('is nothing any more when it is not kept any more', async () => {
      await finish((await claim()).lease, { status: 200, body: 'sealed' })
      pass(keepMs)
      expect(await read()).toBe(undefined)
    })
  })
}
