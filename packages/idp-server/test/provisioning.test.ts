import { type DeliveryStore, memoryStore } from '@org/core'
import { deliver, type Fault } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { applicationsPath } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, platform, creates, deployment } = fixture

const LEASE_MS = 60_000
const inputs = { applicationName: 'Shop' }
const created = (id = 'dep_1') => ({ name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } })
const deleted = (id = 'dep_1') => ({ name: 'DEPLOYMENT_DELETED', deployment: { id } })
const onCreate = { method: 'POST', path: applicationsPath }

/** A fault of a create, and whether the application exists afterwards. */
const ambiguous: [string, Fault, exists: boolean][] = [
  ['cut before its effect', { cut: 'before' }, false],
  ['cut after its effect', { cut: 'after' }, true],
  ['cut in its response', { cut: 'during' }, true],
  ['unanswered without an effect', { hang: true }, false],
  ['unanswered with an effect', { hang: 'after' }, true],
  ['answered with 500 without an effect', { status: 500 }, false],
  ['answered with 503 after its effect', { status: 503, takesEffect: true }, true],
  ['answered with an empty body', { empty: true }, true],
  ['answered with half a response', { truncate: true }, true],
  ['answered with a page', { html: true }, false],
]

describe('a create with an unknown outcome', () => {
  it.each(ambiguous)('leads to one application after it was %s', async (_, fault, exists) => {
    platform.addDeployment({ id: 'dep_1', inputs })
    const handle = fixture.handler({ settleMs: 0, timeoutMs: 'hang' in fault ? 400 : undefined })
    provider.faults.add({ ...onCreate, ...fault })
    const first = await deliver(handle, created(), { id: 'evt_1' })
    expect(provider.applications.size).toBe(exists ? 1 : 0)
    if (first.status !== 200) {
      expect(first).toMatchObject({ status: 504, body: { code: 'provider_timeout', retryable: true } })
      expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(0)
      expect((await deliver(handle, created(), { id: 'evt_1' })).status).toBe(200)
    }
    expect(provider.applications.size).toBe(1)
    expect(creates()).toBe(exists ? 1 : 2)
    expect(deployment()?.outputs.applicationId).toBe([...provider.applications.keys()][0])
  })

  it('is not repeated while the application may still appear', async () => {
    platform.addDeployment({ id: 'dep_1', inputs })
    const handle = fixture.handler()
    provider.faults.add({ ...onCreate, cut: 'before' })
    for (const id of ['evt_1', 'evt_1', 'evt_2']) {
      const response = await deliver(handle, created(), { id })
      expect(response).toMatchObject({ status: 504, body: { retryable: true } })
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(30)
    }
    expect(await deliver(handle, deleted(), { id: 'evt_3' })).toMatchObject({ status: 504 })
    expect(creates()).toBe(1)
  })

  it('is looked up by a teardown, which names the application and does not delete a guess', async () => {
    platform.addDeployment({ id: 'dep_1', inputs })
    const handle = fixture.handler({ settleMs: 0 })
    provider.faults.add(
      { ...onCreate, cut: 'after' },
      { method: 'GET', path: applicationsPath, skip: 1, times: 3, status: 500 },
    )
    expect((await deliver(handle, created(), { id: 'evt_1' })).status).toBe(504)
    expect(provider.applications.size).toBe(1)
    const [application = ''] = provider.applications.keys()
    expect(await deliver(handle, deleted(), { id: 'evt_2' })).toMatchObject({
      status: 409,
      body: { code: 'outcome_unknown', detail: expect.stringContaining(application) },
    })
    expect(provider.applications.size).toBe(1)
  })

  it('adopts no older application, and none of another deployment', async () => {
    provider.addApplication({ name: 'Shop' })
    platform.addDeployment({ id: 'dep_1', inputs })
    platform.addDeployment({ id: 'dep_2', inputs })
    const handle = fixture.handler({ settleMs: 0 })
    provider.faults.add({ ...onCreate, cut: 'before' })
    expect((await deliver(handle, created('dep_1'), { id: 'evt_1' })).status).toBe(504)
    expect((await deliver(handle, created('dep_2'), { id: 'evt_2' })).status).toBe(200)
    expect((await deliver(handle, created('dep_1'), { id: 'evt_1' })).status).toBe(200)
    const ids = ['dep_1', 'dep_2'].map((id) => platform.deployments.get(id)?.outputs.applicationId)
    expect(new Set(ids).size).toBe(2)
    expect(provider.applications.size).toBe(3)
  })

  it('leaves several candidates to a person, and names their ids', async () => {
    platform.addDeployment({ id: 'dep_1', inputs })
    const handle = fixture.handler({ settleMs: 0 })
    provider.faults.add({ ...onCreate, cut: 'before' })
    await deliver(handle, created(), { id: 'evt_1' })
    const strangers = [provider.addApplication({ name: 'Shop' }), provider.addApplication({ name: 'Shop' })]
    const response = await deliver(handle, created(), { id: 'evt_1' })
    expect(response).toMatchObject({ status: 409, body: { code: 'outcome_unknown', retryable: false } })
    for (const { applicationId } of strangers) {
      expect(deployment()?.logs.at(-1)?.message).toContain(applicationId)
    }
    expect(provider.applications.size).toBe(2)
  })
})

describe('a process that dies', () => {
  /** A store that loses all writes from the given one on. */
  function mortalStore(deathAt: number) {
    let time = 0
    let writes = 0
    const store = memoryStore({ now: () => time })
    const died = Promise.withResolvers<void>()
    function dead() {
      died.resolve()
      return new Promise<never>(() => {})
    }
    const counted = <T>(write: () => Promise<T>) => {
      writes += 1
      return writes >= deathAt ? dead() : write()
    }
    const mortal: DeliveryStore = {
      ...store,
      advance: (lease, progress) => counted(() => store.advance(lease, progress)),
      complete: (lease, completion) => counted(() => store.complete(lease, completion)),
      release: dead,
    }
    const reborn = () => {
      time += LEASE_MS
      return store
    }
    return { mortal, died: died.promise, reborn }
  }

  // The writes: the intent, the reservation, the id, the response.
  it.each([1, 2, 3, 4])(
    'at write %i leaves one application, published by the next delivery',
    async (deathAt) => {
      platform.addDeployment({ id: 'dep_1', inputs })
      const { mortal, died, reborn } = mortalStore(deathAt)
      void deliver(fixture.handler({ store: mortal, settleMs: 0 }), created(), { id: 'evt_1' })
      await died
      const handle = fixture.handler({ store: reborn(), settleMs: 0 })
      expect((await deliver(handle, created(), { id: 'evt_1' })).status).toBe(200)
      expect(provider.applications.size).toBe(1)
      expect(creates()).toBe(1)
      expect(deployment()?.outputs.applicationId).toBe([...provider.applications.keys()][0])
      expect(await deliver(handle, deleted(), { id: 'evt_2' })).toMatchObject({ body: { status: 'stopped' } })
      expect(provider.applications.size).toBe(0)
    },
  )
})

it('500 random orders of creations, deletions and redeliveries leave no application behind, and touch no other', {
  timeout: 60_000,
}, async () => {
  // A seeded generator, so that a failing order can be repeated.
  const seed = 20_261_120
  let state = seed
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  const foreign = provider.addApplication({ name: 'Shop' }).applicationId
  const handle = fixture.handler({ settleMs: 0 })
  for (let order = 0; order < 500; order += 1) {
    const id = `dep_order_${order}`
    platform.addDeployment({ id, inputs })
    const events = [
      { event: created(id), id: `${id}_a` },
      { event: created(id), id: `${id}_b` },
      { event: deleted(id), id: `${id}_c` },
    ]
    const deliveries = Array.from({ length: 6 }, () => events[random(3)] ?? events[2])
    const concurrent = random(2) === 0
    const responses = []
    for (const delivery of deliveries) {
      if (!delivery) continue
      const response = deliver(handle, delivery.event, { id: delivery.id })
      responses.push(response)
      if (!concurrent) await response
    }
    for (const { status } of await Promise.all(responses))
      expect([200, 409], `order ${order}, seed ${seed}`).toContain(status)
    // The platform redelivers until it gets a final response, so the deletion arrives.
    const last = await deliver(handle, deleted(id), { id: `${id}_c` })
    expect(last.body, `order ${order}, seed ${seed}`).toEqual({ status: 'stopped' })
    // A late delivery.
    await deliver(handle, created(id), { id: `${id}_late` })
    expect([...provider.applications.keys()], `order ${order}, seed ${seed}`).toEqual([foreign])
  }
})
