import { memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { expect, it, vi } from 'vitest'
import { applicationsPath } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, platform, creates, deployment } = fixture

const LEASE_MS = 30_000
const inputs = { applicationName: 'Shop' }
const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }

/** A store and a handler: `act` runs as soon as the provider has created the first application. */
function contended(
  act: (store: ReturnType<typeof memoryStore>, subject: string) => Promise<void>,
  now?: () => number,
) {
  const store = memoryStore(now ? { now } : {})
  const handle = fixture.handler({
    store,
    settleMs: 0,
    async fetch(input, init) {
      const before = new Set(provider.applications.keys())
      const response = await fetch(input, init)
      const made = [...provider.applications.keys()].find((id) => !before.has(id))
      if (made && before.size === 0) await act(store, `idp-server/application/${made}`)
      return response
    },
  })
  return { store, handle }
}

it('an application that another deployment has reserved is left to it, and another one is created', async () => {
  platform.addDeployment({ id: 'dep_1', inputs })
  const { handle } = contended(async (store, subject) => {
    const claimed = await store.claim({ subject, leaseMs: LEASE_MS })
    if (claimed.state !== 'claimed') throw new Error(claimed.state)
    const progress = { owner: 'idp-server/deployment/dep_2' }
    await store.complete(claimed.lease, {
      response: { status: 200, body: '' },
      progress,
      keepMs: LEASE_MS,
      keepResponseMs: LEASE_MS,
    })
  })
  const first = await deliver(handle, created, { id: 'evt_1' })
  expect(first).toMatchObject({ status: 409, body: { code: 'delivery_in_progress', retryable: true } })
  expect(deployment()?.outputs).toEqual({})

  const [taken] = provider.applications.keys()
  expect((await deliver(handle, created, { id: 'evt_1' })).status).toBe(200)
  expect(creates()).toBe(2)
  expect(deployment()?.outputs.applicationId).not.toBe(taken)
})

it('a reservation whose holder died is waited for, and no other application is created', async () => {
  let time = Date.now()
  platform.addDeployment({ id: 'dep_1', inputs })
  const { handle } = contended(
    async (store, subject) => void (await store.claim({ subject, leaseMs: LEASE_MS })),
    () => time,
  )
  for (let tries = 0; tries < 2; tries += 1) {
    const response = await deliver(handle, created, { id: 'evt_1' })
    expect(response).toMatchObject({ status: 409, body: { code: 'delivery_in_progress' } })
  }
  time += LEASE_MS
  expect((await deliver(handle, created, { id: 'evt_1' })).status).toBe(200)
  expect(creates()).toBe(1)
})

it('a delivery that finds its application in the list reserves it once', async () => {
  platform.addDeployment({ id: 'dep_1', inputs })
  const store = memoryStore()
  const claim = vi.spyOn(store, 'claim')
  const handle = fixture.handler({ store, settleMs: 0 })
  provider.faults.add({ method: 'POST', path: applicationsPath, cut: 'after' })
  expect((await deliver(handle, created, { id: 'evt_1' })).status).toBe(200)
  const [applicationId] = provider.applications.keys()
  const reservations = claim.mock.calls.filter(([{ subject }]) => subject.endsWith(`/${applicationId}`))
  expect(reservations).toHaveLength(1)
})
