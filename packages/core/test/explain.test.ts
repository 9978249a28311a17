import { describe, expect, it } from 'vitest'
import {
  type DeliveryStore,
  explainDelivery,
  IntegrationError,
  type Json,
  type Lease,
  memoryStore,
} from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { calling, created, createHost, deleted, greeter, token } from './example.ts'

const id = 'evt_1'
const start = Date.UTC(2026, 10, 20, 9)
const leaseMs = 60_000
const call = 'greeter/delivery/evt_1'
const ofDeployment = 'greeter/deployment/dep_1'

/** A store with a clock, and what it tells of the delivery. */
function createBench() {
  let time = start
  const now = () => time
  const store = memoryStore({ now })
  return {
    store,
    now,
    pass(milliseconds: number) {
      time += milliseconds
    },
    async claim(subject: string, steps: Record<string, Json> = {}, deliveryId = id): Promise<Lease> {
      const delivery = { id: deliveryId, digest: 'd' }
      const result = await store.claim({ subject, delivery, leaseMs })
      if (result.state !== 'claimed') throw new Error(result.state)
      await store.advance(result.lease, steps)
      return result.lease
    },
    explain: (deploymentId?: string, of: DeliveryStore = store) =>
      explainDelivery({ store: of, integrations: [greeter], deliveryId: id, deploymentId, now }),
  }
}

describe('a delivery', () => {
  it('of which nothing is recorded is not explained', async () => {
    expect(await createBench().explain('dep_1')).toEqual([])
  })

  it('that is being worked on says until when, and that a redelivery has to wait', async () => {
    const bench = createBench()
    await bench.claim(call)
    bench.pass(15_000)
    expect(await bench.explain()).toEqual([
      {
        route: 'greeter',
        subject: 'call',
        state: 'in_progress',
        claims: 1,
        claimedAt: '2026-11-20T09:00:00.000Z',
        leaseEndsAt: '2026-11-20T09:01:00.000Z',
        steps: [],
        keptUntil: '2026-11-27T09:00:00.000Z',
        redelivery: expect.stringMatching(/409 \(delivery_in_progress\).* in 45 seconds/),
      },
    ])
  })

  it('that was answered says with which status and code, and when; its words are sealed', async () => {
    const provider = async () => {
      throw new IntegrationError('provider_rejected', 'No greeting for Ada.')
    }
    const { store, now, explain } = createBench()
    const host = createHost({ store, now, provider })
    await deliver(host.handle, calling('greet', { to: 'Ada' }), { id })
    const explained = await explain()
    expect(explained).toMatchObject([
      {
        state: 'done',
        answer: { status: 422, code: 'provider_rejected', at: '2026-11-20T09:00:00.000Z' },
        redelivery: expect.stringContaining('recorded answer again'),
      },
    ])
    expect(JSON.stringify(explained)).not.toMatch(/Ada|sealed:/)
  })

  it.each([
    ['was given back', 'released'],
    ['was left by a holder that vanished', 'abandoned'],
  ])('that %s says what is written down, and goes on from it', async (_, state) => {
    const bench = createBench()
    const steps = { 'call 0': 'sealed:AAAA', 'call 1': 'begun', 'call 2': null, list: ['a@example.com'] }
    const lease = await bench.claim(call, steps)
    if (state === 'released') await bench.store.release(lease)
    bench.pass(leaseMs)
    const [explained] = await bench.explain()
    expect(explained).toMatchObject({
      state,
      steps: [
        { name: 'call 0', state: 'recorded' },
        { name: 'call 1', state: 'begun' },
        { name: 'call 2', state: 'taken_back' },
        { name: 'list', state: 'recorded' },
      ],
      redelivery: expect.stringMatching(/goes on with the rest.*\(call 1\) is not repeated/),
    })
    expect(JSON.stringify(explained)).not.toMatch(/AAAA|example\.com/)
  })

  it.each([
    [{ applicationId: 'app_1' }, 'It goes on from what is written down: applicationId.'],
    [{ applicationId: null }, 'It runs from the beginning; nothing of it is written down.'],
  ])('with the steps %j says what comes next', async (steps, redelivery) => {
    const bench = createBench()
    await bench.claim(call, steps)
    bench.pass(leaseMs)
    expect(await bench.explain()).toMatchObject([{ redelivery }])
  })

  it('whose change may have left says so, and does what it says', async () => {
    const bench = createBench()
    const result = await bench.store.claim({ subject: call, leaseMs })
    if (result.state === 'claimed') await bench.store.advance(result.lease, { intent: true })
    bench.pass(leaseMs)
    expect(await bench.explain()).toMatchObject([
      { state: 'outcome_unknown', redelivery: expect.stringContaining('409 (outcome_unknown)') },
    ])
    const { handle } = createHost({ store: bench.store, now: bench.now })
    expect(await deliver(handle, calling('greet', { to: 'Ada' }), { id })).toMatchObject({
      status: 409,
      body: { code: 'outcome_unknown' },
    })
  })

  it('is told without mail addresses and secrets, whatever was written down', async () => {
    const bench = createBench()
    await bench.claim(call, { 'to ada@example.com': 'for bob@example.com', count: 3, done: false })
    const [explained] = await bench.explain()
    expect(explained?.steps).toEqual([
      { name: 'to [address]', state: 'recorded', value: 'for [address]' },
      { name: 'count', state: 'recorded', value: 3 },
      { name: 'done', state: 'recorded', value: false },
    ])
  })
})

describe('a delivery of a deployment’s event', () => {
  it('is found where its deployment is named, with what is recorded of the deployment', async () => {
    const bench = createBench()
    await bench.claim(ofDeployment, { applicationId: 'app_1' })
    expect(await bench.explain()).toEqual([])
    expect(await bench.explain('dep_2')).toEqual([])
    expect(await bench.explain('dep_1')).toMatchObject([
      {
        subject: 'deployment',
        deployment: 'dep_1',
        steps: [{ name: 'applicationId', state: 'recorded', value: 'app_1' }],
      },
    ])
  })

  it('is found after it was given back, so that a creation that fails can be looked into', async () => {
    const bench = createBench()
    await bench.store.release(await bench.claim(ofDeployment, { applicationId: 'app_1' }))
    expect(await bench.explain('dep_1')).toMatchObject([
      { state: 'released', redelivery: 'It goes on from what is written down: applicationId.' },
    ])
  })

  it('opens nothing of what other deliveries did with that deployment', async () => {
    const bench = createBench()
    await bench.claim(ofDeployment, { applicationId: 'app_1' }, 'evt_2')
    expect(await bench.explain('dep_1')).toEqual([])
  })

  it('tells what it was answered, also while another delivery works on the deployment', async () => {
    const bench = createBench()
    const host = createHost({ store: bench.store, now: bench.now })
    await deliver(host.handle, created, { id })
    bench.pass(5_000)
    await bench.claim(ofDeployment, {}, 'evt_2')
    const [explained] = await bench.explain('dep_1')
    expect(explained).toMatchObject({ state: 'done', claims: 2, answer: { status: 200 } })
    expect(explained).not.toHaveProperty('claimedAt')
    expect(JSON.stringify(explained)).not.toContain(token)
  })

  it('whose deployment was deleted says that it would be ignored', async () => {
    const bench = createBench()
    const host = createHost({ store: bench.store, now: bench.now })
    await deliver(host.handle, deleted, { id: 'evt_0' })
    await bench.claim(ofDeployment)
    bench.pass(leaseMs)
    expect(await bench.explain('dep_1')).toMatchObject([
      { state: 'abandoned', redelivery: expect.stringContaining('DEPLOYMENT_CREATED is ignored') },
    ])
  })
})

it('a store that can’t be reached is no delivery that is unknown', async () => {
  const { store, explain } = createBench()
  const away = { ...store, read: () => Promise.reject(new Error('away')) }
  await expect(explain('dep_1', away)).rejects.toThrow('away')
})
