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

describe('a store that can’t be reached', () => {
  it('stops every event with an effect before the effect', async () => {
    const host = createHost({ store: unreachableStore })
    for (const event of [created, deleted, greet]) {
      const response = await deliver(host.handle, event, { id })
      expect(response).toMatchObject({ status: 503, body: { code: 'overloaded', retryable: true } })
      expect(response.headers.get('retry-after')).toBe('5')
    }
    expect([host.providerCalls, host.writes()]).toEqual([[], []])
    const told = host.lines.filter(({ message }) => message === 'The delivery store is unreachable.')
    expect(told).toHaveLength(3)
  })

  it('refuses an event in a few seconds, also if it hangs', async () => {
    const claim = () =>
      new Promise<never>((_, reject) => setTimeout(() => reject(new Error('It did not answer.')), 2_000))
    const host = createHost({ now: () => Date.now(), store: { ...unreachableStore, claim } })
    const milliseconds = await inFakeTime(async () => {
      const began = Date.now()
      expect((await deliver(host.handle, greet, { id })).status).toBe(503)
      return Date.now() - began
    })
    expect(milliseconds).toBeLessThan(4_000)
  })

  it('for a second look at a replay leaves it as it is recorded', async () => {
    const host = createHost({ store: { ...memoryStore(), read: unreachableStore.read } })
    for (const _ of ['first', 'replayed'])
      expect((await deliver(host.handle, created, { id })).body).toMatchObject({ status: 'running' })
    expect(host.providerCalls).toHaveLength(1)
  })

  it('does not stop an event without an effect', async () => {
    const { handle } = createHost({ store: unreachableStore })
    for (const name of ['WEBHOOK_CHALLENGE', 'HEALTH_CHECK', 'METRIC_UPDATE', 'DOWNLOAD_STARTED'])
      expect((await deliver(handle, { name, deployment }, { id })).status).toBe(200)
    expect((await deliver(handle, calling('count'), { id })).status).toBe(200)
  })

  it('at the end of a call neither changes nor holds up the response, and the lease prevents a second effect', async () => {
    const host = createHost({ store: { ...memoryStore(), complete: unreachableStore.complete } })
    const milliseconds = await inFakeTime(async () => {
      const began = Date.now()
      expect((await deliver(host.handle, greet, { id })).status).toBe(200)
      return Date.now() - began
    })
    expect(milliseconds).toBeLessThan(2_000)
    expect(host.lines.map(({ message }) => message)).toContain('The response was not recorded in time.')
    expect((await deliver(host.handle, greet, { id })).status).toBe(409)
    expect(host.providerCalls).toHaveLength(1)
  })

  it('at the end of a call is waited for, if it is only slow', async () => {
    const memory = memoryStore()
    const complete: DeliveryStore['complete'] = async (...written) => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      return memory.complete(...written)
    }
    const host = createHost({ store: { ...memory, complete } })
    await inFakeTime(() => deliver(host.handle, greet, { id }))
    const again = await deliver(host.handle, greet, { id })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(host.lines.map(({ level }) => level)).toEqual(['info', 'info'])
  })

  it.each<[string, string, DeliveryStore['complete']]>([
    ['overloaded', 'the store is away', unreachableStore.complete],
    ['delivery_in_progress', 'the claim was lost', async () => false],
  ])('at the end of a deployment event fails it as %s, because %s', async (code, _, complete) => {
    for (const event of [created, deleted]) {
      const host = createHost({ store: { ...memoryStore(), complete } })
      const response = await inFakeTime(() => deliver(host.handle, event, { id }))
      expect(response).toMatchObject({ body: { code, retryable: true } })
    }
  })

  it('at the end of a deployment event fails it if an answer is lost, and then the lease', async () => {
    const { now, pass } = clock()
    const memory = memoryStore({ now })
    const complete = vi.fn<DeliveryStore['complete']>(async (...written) => {
      pass(LEASE_MS)
      return memory.complete(...written)
    })
    complete.mockImplementationOnce(unreachableStore.complete)
    const host = createHost({ now, store: { ...memory, complete } })
    const response = await inFakeTime(() => deliver(host.handle, deleted, { id }))
    expect(response).toMatchObject({ status: 409, body: { code: 'delivery_in_progress' } })
    expect(complete).toHaveBeenCalledTimes(2)
  })

  it('at the end of a deployment event has the time that the event has left', async () => {
    const memory = memoryStore()
    const complete: DeliveryStore['complete'] = async (...written) => {
      await new Promise((resolve) => setTimeout(resolve, 5_000))
      return memory.complete(...written)
    }
    const host = createHost({ store: { ...memory, complete } })
    expect((await inFakeTime(() => deliver(host.handle, deleted, { id }))).body).toEqual({
      status: 'stopped',
    })
  })

  it('at the end of a deletion leaves no way for a late creation', async () => {
    const { now, pass } = clock()
    const memory = memoryStore({ now })
    let isAway = true
    const complete: DeliveryStore['complete'] = (...written) =>
      isAway ? unreachableStore.complete(...written) : memory.complete(...written)
    const host = createHost({ now, store: { ...memory, complete } })
    const first = await inFakeTime(() => deliver(host.handle, deleted, { id: 'evt_deleted' }))
    expect(first.status).toBe(503)
    pass(LEASE_MS)
    isAway = false
    expect((await deliver(host.handle, deleted, { id: 'evt_deleted' })).status).toBe(200)
    const late = await deliver(host.handle, created, { id: 'evt_created' })
    expect(late).toMatchObject({ status: 200, body: { status: 'ignored' } })
  })

  it('is not waited for by a host that shuts down, to take back what it may have given', async () => {
    const stopping = new AbortController()
    const background: Promise<unknown>[] = []
    const host = createHost({
      store: unreachableStore,
      stopping: stopping.signal,
      waitUntil: (work) => background.push(work),
    })
    const milliseconds = await inFakeTime(async () => {
      expect((await deliver(host.handle, greet, { id })).status).toBe(503)
      const began = Date.now()
      stopping.abort()
      await Promise.all(background)
      return Date.now() - began
    })
    expect(background).toHaveLength(1)
    expect(milliseconds).toBeLessThan(LEASE_MS / 10)
  })
})
