/** A delivery store that is away or slow. In `lives/`, it fails at any write. */
import { type DeliveryStore, memoryStore } from '@org/core'
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

/** The store whose `complete` takes its time. */
function slowToComplete(milliseconds: number): DeliveryStore {
  const memory = memoryStore()
  return { ...memory, complete: (...written) => pause(milliseconds).then(() => memory.complete(...written)) }
}

describe('a store that can’t be reached', () => {
  it('stops every event with an effect before the effect, and no other one', async () => {
    const host = createHost({ store: unreachableStore })
    for (const event of [created, deleted, greet]) {
      const { status, body, headers } = await deliver(host.handle, event, { id })
      expect([status, body, headers.get('retry-after')]).toMatchObject([503, { code: 'overloaded' }, '5'])
    }
    expect([host.providerCalls, host.writes()]).toEqual([[], []])
    const told = host.lines.filter(({ message }) => message === 'The delivery store is unreachable.')
    expect(told).toHaveLength(3)
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

  it.each([
    ['until its lease ends', LEASE_MS + 1_000],
    ['until the host shuts down', LEASE_MS / 10],
  ])('may have given a claim, which is taken back %s', async (_, limitMs) => {
    const stopping = new AbortController()
    const background: Promise<unknown>[] = []
    const waitUntil = (work: Promise<unknown>) => background.push(work)
    const store = unreachableStore
    const host = createHost({ now: () => Date.now(), store, stopping: stopping.signal, waitUntil })
    const { milliseconds } = await timed(async () => {
      await deliver(host.handle, greet, { id })
      if (limitMs < LEASE_MS) stopping.abort()
      await Promise.race([Promise.all(background), pause(limitMs)])
    })
    expect([background.length, milliseconds < limitMs]).toEqual([1, true])
  })

  it('for a second look at a replay leaves it as it is recorded', async () => {
    const host = createHost({ store: { ...memoryStore(), read: unreachableStore.read } })
    for (const _ of ['first', 'replayed'])
      expect((await deliver(host.handle, created, { id })).body).toMatchObject({ status: 'running' })
    expect(host.providerCalls).toHaveLength(1)
  })
})

describe('at the end of a call, a store', () => {
  it.each<[string, DeliveryStore, object, string[]]>([
    ['that is slow is waited for', slowToComplete(300), { status: 200 }, []],
    [
      'that is away holds nothing up, and the lease prevents a second effect',
      { ...memoryStore(), complete: unreachableStore.complete },
      { status: 409, body: { code: 'delivery_in_progress' } },
      ['The delivery store is unreachable.', 'The response was not recorded in time.'],
    ],
  ])('%s', async (_, store, again, told) => {
    const host = createHost({ store })
    const { result, milliseconds } = await timed(() => deliver(host.handle, greet, { id }))
    expect([result.status, milliseconds < 2_000]).toEqual([200, true])
    expect(host.lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual(told)
    expect(await deliver(host.handle, greet, { id })).toMatchObject(again)
    expect(host.providerCalls).toHaveLength(1)
  })
})

describe('the end of a deployment event', () => {
  it.each<[string, DeliveryStore['complete'], string]>([
    ['overloaded', unreachableStore.complete, 'the store is away'],
    ['delivery_in_progress', async () => false, 'the claim was lost'],
  ])(
    'is %s and retryable, because nothing else keeps a late creation away, if %s: %s',
    async (code, complete) => {
      for (const event of [created, deleted]) {
        const { handle } = createHost({ store: { ...memoryStore(), complete } })
        const { body } = await inFakeTime(() => deliver(handle, event, { id }))
        expect(body).toMatchObject({ code, retryable: true })
      }
    },
  )

  it('is delivery_in_progress if its first answer is lost, and then the lease', async () => {
    const { now, pass } = clock()
    const memory = memoryStore({ now })
    const complete = vi.fn<DeliveryStore['complete']>(async (...written) => {
      pass(LEASE_MS)
      return memory.complete(...written)
    })
    complete.mockImplementationOnce(unreachableStore.complete)
    const host = createHost({ now, store: { ...memory, complete } })
    const { body } = await inFakeTime(() => deliver(host.handle, deleted, { id }))
    expect(body).toMatchObject({ code: 'delivery_in_progress' })
  })

  it('has the time that the event has left', async () => {
    const { handle } = createHost({ store: slowToComplete(5_000) })
    expect((await inFakeTime(() => deliver(handle, deleted, { id }))).body).toEqual({ status: 'stopped' })
  })
})
