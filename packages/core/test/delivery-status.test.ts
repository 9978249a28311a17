import { IntegrationError, memoryStore } from '@org/core'
import { type Json, readDeliveryStatus } from '@org/core/internal'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { clock, created, createHost, deleted, failing, greet, greeter, token } from './fixtures.ts'

const id = 'evt_1'
const leaseMs = 60_000
const call = 'greeter/delivery/evt_1'
const ofDeployment = 'greeter/deployment/dep_1'

/** A store with a clock, a host on it, and the status of the delivery `evt_1`. */
function createFixture(provider?: Parameters<typeof createHost>[0]) {
  const { now, pass } = clock(Date.UTC(2026, 10, 20, 9))
  const store = memoryStore({ now })
  return {
    store,
    pass,
    host: createHost({ store, now, ...provider }),
    async claim(subject: string, steps: Record<string, Json> = {}, deliveryId = id) {
      const result = await store.claim({ subject, delivery: { id: deliveryId, digest: 'd' }, leaseMs })
      if (result.state !== 'claimed') throw new Error(result.state)
      await store.advance(result.lease, steps)
      return result.lease
    },
    status: (deploymentId?: string) =>
      readDeliveryStatus({ store, integrations: [greeter], deliveryId: id, deploymentId, now }),
  }
}

describe('the status of a delivery', () => {
  it('says during the work until when the claim lasts, and when a redelivery helps', async () => {
    const { claim, pass, status } = createFixture()
    expect(await status('dep_1')).toEqual([])
    await claim(call)
    pass(15_000)
    expect(await status()).toEqual([
      {
        route: 'greeter',
        subject: 'call',
        state: 'in_progress',
        claims: 1,
        claimedAt: '2026-11-20T09:00:00.000Z',
        leaseEndsAt: '2026-11-20T09:01:00.000Z',
        steps: [],
        keptUntil: '2026-11-27T09:00:00.000Z',
        redelivery: expect.stringContaining('409 (delivery_in_progress)'),
      },
    ])
  })

  it('has the status, the code and the time of the response, but not its text', async () => {
    const provider = failing(new IntegrationError('provider_rejected', 'No greeting for Ada.'))
    const { host, status } = createFixture({ provider })
    await deliver(host.handle, greet, { id })
    const response = { status: 422, code: 'provider_rejected', at: '2026-11-20T09:00:00.000Z' }
    const redelivery = expect.stringContaining('recorded response again')
    const found = await status()
    expect(found).toMatchObject([{ state: 'done', response, redelivery }])
    expect(JSON.stringify(found)).not.toContain('Ada')
  })

  it.each(['released', 'abandoned'])(
    'has the steps of a call that was %s, without encrypted values and mail addresses',
    async (state) => {
      const { claim, pass, status, store } = createFixture()
      const lease = await claim(call, {
        'call 0': 'encrypted:AAAA',
        'call 1': 'begun',
        'call 2': null,
        list: ['a@example.com'],
        'to ada@example.com': 'for bob@example.com',
        count: 3,
      })
      if (state === 'released') await store.release(lease)
      pass(leaseMs)
      const steps = [
        { name: 'call 0', state: 'recorded' },
        { name: 'call 1', state: 'begun' },
        { name: 'call 2', state: 'taken_back' },
        { name: 'list', state: 'recorded' },
        { name: 'to [address]', state: 'recorded', value: 'for [address]' },
        { name: 'count', state: 'recorded', value: 3 },
      ]
      const redelivery = expect.stringContaining('continues from the recorded steps')
      const [found] = await status()
      expect(found).toMatchObject({ state, redelivery })
      expect(found?.steps).toEqual(steps)
    },
  )

  it('is an unknown outcome if the host died after a change may have left', async () => {
    const { claim, pass, status } = createFixture()
    await claim(call, { '@intent': true })
    pass(leaseMs)
    const redelivery = expect.stringContaining('409 (outcome_unknown)')
    expect(await status()).toMatchObject([{ state: 'outcome_unknown', redelivery, steps: [] }])
  })
})

describe('the status of a deployment event', () => {
  it('needs the id of the deployment, and is found during the work and after a release', async () => {
    const { claim, status, store } = createFixture()
    const lease = await claim(ofDeployment, { applicationId: 'app_1' })
    expect([await status(), await status('dep_2')]).toEqual([[], []])
    const steps = [{ name: 'applicationId', state: 'recorded', value: 'app_1' }]
    const found = { subject: 'deployment', deployment: 'dep_1', steps }
    expect(await status('dep_1')).toMatchObject([{ ...found, state: 'in_progress' }])
    await store.release(lease)
    expect(await status('dep_1')).toMatchObject([{ ...found, state: 'released' }])
  })

  it('has its response also while another delivery works on the deployment', async () => {
    const { claim, host, pass, status } = createFixture()
    await deliver(host.handle, created, { id })
    pass(5_000)
    await claim(ofDeployment, {}, 'evt_2')
    const [found] = await status('dep_1')
    expect(found).toMatchObject({ state: 'done', claims: 2, response: { status: 200 } })
    expect(found).not.toHaveProperty('claimedAt')
    expect(JSON.stringify(found)).not.toContain(token)
  })

  it('has what is known of the deployment, and none of the steps that core keeps for itself', async () => {
    const { host, status } = createFixture()
    await deliver(host.handle, { ...created, timestamp: '2026-11-20T08:00:00Z' }, { id })
    const [running] = await status('dep_1')
    expect(running).toMatchObject({
      steps: [],
      life: { deleted: false, lastStatus: 'running', lastEventAt: '2026-11-20T08:00:00.000Z' },
    })
    await deliver(host.handle, deleted, { id: 'evt_2' })
    const [stopped] = await status('dep_1')
    expect(stopped).toMatchObject({
      life: { deleted: true, lastStatus: 'stopped' },
    })
    expect(JSON.stringify([running, stopped])).not.toContain('@')
  })

  it('has of a recorded object only the fields that are public outputs', async () => {
    const { claim, status } = createFixture()
    await claim(ofDeployment, { account: { token, region: 'eu', owner: 'Ada' } })
    const [found] = await status('dep_1')
    expect(found?.steps).toEqual([{ name: 'account', state: 'recorded', value: { region: 'eu' } }])
  })
})
