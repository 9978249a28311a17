/** A workspace that has many applications, of which people make, rename and delete some. */
import { memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { applicationsPath } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, platform, asked } = fixture

const inputs = { applicationName: 'Shop' }
const created = (id = 'dep_1') => ({ name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } })
const onCreate = { method: 'POST', path: applicationsPath }
const lists = () => asked().filter((request) => /^GET \/v1\/platform\/applications(\?|$)/.test(request))
const seed = (count: number, name = 'Other') =>
  Array.from({ length: count }, (_, index) => provider.addApplication({ name: `${name} ${index}` }))

describe('a workspace of 20,000 applications', () => {
  it('takes 30 creations at once, of which each gets one application and has a small record', async () => {
    seed(20_000)
    const store = memoryStore()
    const handle = fixture.handler({ store })
    const ids = Array.from({ length: 30 }, (_, index) => `dep_${index}`)
    for (const id of ids) platform.addDeployment({ id, inputs })
    const answers = await Promise.all(ids.map((id) => deliver(handle, created(id), { id: `evt_${id}` })))
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200))
    const published = ids.map((id) => platform.deployments.get(id)?.outputs.applicationId)
    expect([new Set(published).size, provider.applications.size]).toEqual([30, 20_030])
    expect(lists().filter((request) => request.includes('secret'))).toEqual([])
    expect(lists().length).toBeLessThan(5)
    const record = await store.read('idp-server/deployment/dep_1')
    expect(JSON.stringify(record).length).toBeLessThan(1_000)
  }, 20_000)

  it('has one application for a creation whose answer was lost', async () => {
    seed(20_000)
    platform.addDeployment({ id: 'dep_1', inputs })
    provider.faults.add({ ...onCreate, cut: 'after' })
    expect((await deliver(fixture.handler(), created())).status).toBe(200)
    expect(provider.applications.size).toBe(20_001)
  }, 20_000)
})

describe('an interrupted creation in a large workspace', () => {
  async function interrupted(newId: () => string) {
    const others = seed(500)
    for (const one of others) one.applicationId = newId()
    platform.addDeployment({ id: 'dep_1', inputs })
    const store = memoryStore()
    const handle = fixture.handler({ store, settleMs: 0 })
    provider.faults.add({ ...onCreate, cut: 'before' })
    expect((await deliver(handle, created())).status).toBe(504)
    const record = JSON.stringify(await store.read('idp-server/deployment/dep_1'))
    expect(record.length).toBeLessThan(8_000)
    return { others, again: () => deliver(handle, created()) }
  }

  it('adopts no older application that a person renamed meanwhile', async () => {
    const ages = Array.from({ length: 500 }, (_, index) => 10_000_000 + 1_000 * index).values()
    const newId = () => `app_3${ages.next().value}${'x'.repeat(18)}`
    const { others, again } = await interrupted(newId)
    for (const at of [0, 1, 300, 499]) Object.assign(others[at] ?? {}, { name: 'Shop' })
    expect((await again()).body).toMatchObject({ status: 'running' })
    expect(provider.applications.size).toBe(501)
  })

  it('leaves a renamed application to a person if ids do not tell its age', async () => {
    const { others, again } = await interrupted(() => `app_${crypto.randomUUID()}`)
    const [renamed] = others.toSorted((one, two) => (one.applicationId < two.applicationId ? -1 : 1))
    Object.assign(renamed ?? {}, { name: 'Shop' })
    expect(await again()).toMatchObject({
      body: { code: 'outcome_unknown', detail: expect.stringContaining(renamed?.applicationId ?? '') },
    })
    expect(provider.applications.size).toBe(500)
  })
})
