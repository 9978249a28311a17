/** A delivery store that is away or slow. In `lives/`, it fails at any write. */
import { type DeliveryStore, type HandlerContext, memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import {
  calling,
  clock,
  created,
  createHost,
  deleted,
  deployment,
  greet,
  inFakeTime,
  type ProviderCall,
  unreachableStore,
} from './fixtures.ts'

const id = 'evt_1'
const LEASE_MS = 30_000

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

/** Does work in fake time, and measures it. */
async function timed<Result>(work: () => Promise<Result>) {
  return inFakeTime(async () => {
    const began = Date.now()
    const result = await work()
    return { result, milliseconds: Date.now() - began }
  })
}

describe('a store that can’t be reached', () => {
  it('stops every event with an effect before the effect, and no other one', async () => {
    const host = createHost({ store: unreachableStore })
    for (const event of [created, deleted, greet]) {
      const { status, body, headers } = await deliver(host.handle, event, { id })
      expect([status, body, headers.get('retry-after')]).toMatchObject([503, { code: 'overloaded' }, '5'])
    }
    expect([host.providerCalls, host.writes()]).toEqual([[], []])
    const facts = { code: 'overloaded', reason: 'connect ECONNREFUSED' }
    expect(host.lines).toMatchObject(Array(3).fill({ level: 'error', facts }))
    for (const name of ['WEBHOOK_CHALLENGE', 'HEALTH_CHECK', 'METRIC_UPDATE', 'DOWNLOAD_STARTED'])
      expect((await deliver(host.handle, { name, deployment }, { id })).status).toBe(200)
    expect((await deliver(host.handle, calling('count'), { id })).status).toBe(200)
  })

  it('refuses an event in a few seconds, also if it hangs', async () => {
    const claim = () => pause(2_000).then(() => Promise.reject(new Error('It did not answer.')))
    const host = createHost({ now: () => Date.now(), store: { ...unreachableStore, claim } })
    const { result, milliseconds } = await timed(() => deliver(host.handle, greet, { id }))
    expect([result.status, milliseconds < 4_000]).toEqual([503, true])
  })

  it('ends an event in its time if a resource can’t be reserved', async () => {
    const provider = async (_: ProviderCall, { progress }: HandlerContext) =>
      void (await progress?.reserve('thing/1'))
    const host = createHost({ provider, store: { ...memoryStore(), reserve: unreachableStore.reserve } })
    const { result, milliseconds } = await timed(() => deliver(host.handle, created, { id }))
    expect(result.body).toMatchObject({ code: 'overloaded', retryable: true })
    expect(milliseconds).toBeLessThan(25_000)
  })

  it('for a second look at a replay leaves it as it is recorded', async () => {
    const host = createHost({ store: { ...memoryStore(), read: unreachableStore.read } })
    for (const _ of ['first', 'replayed'])
      expect((await deliver(host.handle, created, { id })).body).toMatchObject({ status: 'running' })
    expect(host.providerCalls).toHaveLength(1)
  })
})

describe('the end of an event', () => {
  type Complete = (memory: DeliveryStore) => DeliveryStore['complete']
  const slow =
    (milliseconds: number): Complete =>
    (memory) =>
    (...written) =>
      pause(milliseconds).then(() => memory.complete(...written))
  const away: Complete = () => unreachableStore.complete
  const lost: Complete = () => async () => false
  const sent = { result: { id: 'greeting-to-Ada' } }
  const stopped = { status: 'stopped' }
  const inProgress = { code: 'delivery_in_progress', retryable: true }
  const overloaded = { code: 'overloaded', retryable: true }

  it.each<[string, object, Complete, object, object]>([
    ['waits for a store that is slow', greet, slow(300), sent, sent],
    // The lease prevents a second effect.
    ['of a call waits only for a moment', greet, away, sent, inProgress],
    ['of a deployment event has the time that is left', deleted, slow(5_000), stopped, stopped],
    // Nothing else keeps a late creation away.
    ['of a creation fails if it is not recorded', created, away, overloaded, inProgress],
    ['of a deletion fails if it is not recorded', deleted, away, overloaded, inProgress],
    ['of a deletion fails if the claim was lost', deleted, lost, inProgress, inProgress],
  ])('%s', async (_, event, complete, first, again) => {
    const memory = memoryStore()
    const host = createHost({ store: { ...memory, complete: complete(memory) } })
    const { result, milliseconds } = await timed(() => deliver(host.handle, event, { id }))
    expect([result.body, event !== greet || milliseconds < 2_000]).toMatchObject([first, true])
    expect(JSON.stringify(host.lines).includes('The response was not recorded in time.')).toBe(
      complete === away,
    )
    expect((await deliver(host.handle, event, { id })).body).toMatchObject(again)
    expect(host.providerCalls).toHaveLength(1)
  })

  it('is delivery_in_progress if the first answer of the store is lost, and then the lease', async () => {
    const { now, pass } = clock()
    const memory = memoryStore({ now })
    const complete = vi.fn<DeliveryStore['complete']>(async (...written) => {
      pass(LEASE_MS)
      return memory.complete(...written)
    })
    complete.mockImplementationOnce(unreachableStore.complete)
    const host = createHost({ now, store: { ...memory, complete } })
    const { body } = await inFakeTime(() => deliver(host.handle, deleted, { id }))
    expect(body).toMatchObject(inProgress)
  })
})
