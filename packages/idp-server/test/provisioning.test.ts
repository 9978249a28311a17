import { memoryStore } from '@org/core'
import { deliver, type Fault } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { applicationsPath } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, platform, creates, deployment } = fixture

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

it('a create that the provider refused is repeated at once by the next delivery', async () => {
  for (const status of [422, 429]) {
    provider.faults.add({ ...onCreate, status, headers: { 'retry-after': '600' } })
    expect((await fixture.create()).status).toBe(status)
  }
  expect((await fixture.create()).status).toBe(200)
  expect(creates()).toBe(3)
})

describe('a create with an unknown outcome', () => {
  it.each(ambiguous)('leads to one application after it was %s', async (_, fault, exists) => {
    platform.addDeployment({ id: 'dep_1', inputs })
    const handle = fixture.handler({ settleMs: 0, timeoutMs: 'hang' in fault ? 2_000 : undefined })
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
      const retryAfter = Number(response.headers.get('retry-after'))
      expect([retryAfter > 30, retryAfter <= 60]).toEqual([true, true])
    }
    expect(await deliver(handle, deleted(), { id: 'evt_3' })).toMatchObject({ status: 504 })
    expect(creates()).toBe(1)
  })

  it.each<[string, Fault, number[]]>([
    ['its answer was lost', { cut: 'before' }, [55_000, 10_000]],
    ['its host died', { hang: true }, [30_000, 55_000, 10_000]],
  ])('is repeated a minute after nothing of it could leave any more, if %s', async (_, fault, waits) => {
    platform.addDeployment({ id: 'dep_1', inputs })
    let time = Date.now()
    const now = () => time
    const dependencies = { now, store: memoryStore({ now }), settleMs: 60_000 }
    provider.faults.add({ ...onCreate, ...fault })
    const first = deliver(fixture.handler(dependencies), created())
    await expect.poll(creates).toBe(1)
    if ('cut' in fault) expect((await first).status).toBe(504)
    const statuses = []
    for (const wait of waits) {
      time += wait
      statuses.push((await deliver(fixture.handler(dependencies), created())).status)
    }
    expect(statuses).toEqual([...waits.slice(1).map(() => 504), 200])
    expect(creates()).toBe(2)
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

  it('adopts no application of another name, or of another environment', async () => {
    platform.addDeployment({ id: 'dep_1', inputs })
    const handle = fixture.handler({ settleMs: 0 })
    provider.faults.add({ ...onCreate, cut: 'before' })
    expect((await deliver(handle, created(), { id: 'evt_1' })).status).toBe(504)
    const production = { domain: 'shop.example.com', environment_types: ['production' as const] }
    const strangers = [
      provider.addApplication({ name: 'Blog' }),
      provider.addApplication({ name: 'Shop', ...production }),
    ]
    expect((await deliver(handle, created(), { id: 'evt_1' })).status).toBe(200)
    expect(creates()).toBe(2)
    const ids = strangers.map(({ applicationId }) => applicationId)
    expect(ids).not.toContain(deployment()?.outputs.applicationId)
  })

  it('adopts no application that another deployment of the same name has adopted', async () => {
    const handle = fixture.handler({ settleMs: 0 })
    for (const id of ['dep_1', 'dep_2']) platform.addDeployment({ id, inputs })
    provider.faults.add({ ...onCreate, cut: 'before' })
    expect((await deliver(handle, created('dep_2'), { id: 'evt_2' })).status).toBe(504)
    provider.faults.add(
      { ...onCreate, cut: 'after' },
      { method: 'GET', path: applicationsPath, skip: 1, times: 3, status: 500 },
    )
    expect((await deliver(handle, created('dep_1'), { id: 'evt_1' })).status).toBe(504)
    // No further change leaves before the provider has answered a read, one in a second.
    for (const [index, id] of ['dep_1', 'dep_2'].entries()) {
      const redelivered = async () => (await deliver(handle, created(id), { id: `evt_${index + 1}` })).status
      await expect.poll(redelivered).toBe(200)
    }
    const ids = ['dep_1', 'dep_2'].map((id) => platform.deployments.get(id)?.outputs.applicationId)
    expect(ids.toSorted()).toEqual([...provider.applications.keys()].toSorted())
    expect(creates()).toBe(3)
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
