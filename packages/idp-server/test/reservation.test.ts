import { memoryStore } from '@org/core'
import { deliver, type Fault } from '@org/core/testing'
import { expect, it, vi } from 'vitest'
import { applicationsPath } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, platform, creates, deployment } = fixture

const KEEP_MS = 60_000
const inputs = { applicationName: 'Shop' }
const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }

/** A store and a handler: `act` runs as soon as the provider has created the first application. */
function contended(act: (store: ReturnType<typeof memoryStore>, subject: string) => Promise<unknown>) {
  const store = memoryStore()
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
  return handle
}

it('an application that another deployment has reserved is left to it, and another one is created', async () => {
  platform.addDeployment({ id: 'dep_1', inputs })
  const handle = contended(async (store, subject) => {
    await store.reserve({ subject, owner: 'idp-server/deployment/dep_2', keepMs: KEEP_MS })
  })
  const first = await deliver(handle, created, { id: 'evt_1' })
  expect(first).toMatchObject({ status: 409, body: { code: 'delivery_in_progress', retryable: true } })
  expect(deployment()?.outputs).toEqual({})

  const [taken] = provider.applications.keys()
  expect((await deliver(handle, created, { id: 'evt_1' })).status).toBe(200)
  expect(creates()).toBe(2)
  expect(deployment()?.outputs.applicationId).not.toBe(taken)
})

it('a creation takes seven requests to the store, and four calls to the platform', async () => {
  platform.addDeployment({ id: 'dep_1', inputs })
  const store = memoryStore()
  const asked: string[] = []
  const counting = new Proxy(store, {
    get(target, name: keyof typeof store) {
      asked.push(name)
      return target[name]
    },
  })
  const handle = fixture.handler({ store: counting })
  expect((await deliver(handle, created, { id: 'evt_1' })).status).toBe(200)
  expect(asked).toEqual(['claim', 'advance', 'reserve', 'advance', 'reserve', 'reserve', 'complete'])
  expect(
    platform.calls.map(({ method, path }) => `${method} ${path.replace('/deployments/dep_1', '')}`),
  ).toEqual(['PUT /status', 'GET ', 'PUT /outputs', 'PUT /status'])
})

it.each<[string, Fault[]]>([
  ['its own', []],
  ['the one before', [{ method: 'GET', path: applicationsPath, skip: 1, times: 3, status: 500 }]],
])('a delivery that finds the application of %s in the list reserves it once', async (_, lost) => {
  platform.addDeployment({ id: 'dep_1', inputs })
  const store = memoryStore()
  const reserve = vi.spyOn(store, 'reserve')
  const handle = fixture.handler({ store, settleMs: 0 })
  provider.faults.add({ method: 'POST', path: applicationsPath, cut: 'after' }, ...lost)
  for (const status of [...lost.map(() => 504), 200])
    expect((await deliver(handle, created, { id: 'evt_1' })).status).toBe(status)
  const [applicationId] = provider.applications.keys()
  const subject = `idp-server/application/${applicationId}`
  const subjects = reserve.mock.calls.map(([reservation]) => reservation.subject)
  expect(subjects.filter((each) => !each.includes('/keys/'))).toEqual([subject])
})
