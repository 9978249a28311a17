/** One application for each creation, whatever is lost, in workspaces of any size. */
import { memoryStore } from '@org/core'
import type { Fault } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { blindList, onCreate, production, root, running, runWorld, stopped } from './support.ts'

const { provider, asked, host, create, creates, published, application, logged, loseCreation } = runWorld()

const lists = () => asked().filter((request) => /^GET \/v1\/platform\/applications(\?|$)/.test(request))
const seed = (count: number) =>
  Array.from({ length: count }, (_, index) => provider.addApplication({ name: `Other ${index}` }))

it('a create that the provider refused is repeated at once by the next delivery', async () => {
  for (const status of [422, 429]) {
    provider.faults.add({ ...onCreate, status, headers: { 'retry-after': '600' } })
    expect((await create()).status).toBe(status)
  }
  expect(await create()).toMatchObject(running)
  expect(creates()).toBe(3)
})

it('a list that fails for one creation does not fail another one that waits for it', async () => {
  provider.faults.add({ method: 'GET', path: root, status: 403 })
  const answers = await Promise.all(['dep_1', 'dep_2'].map((id) => create({}, { id })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
})

describe('a create with an unknown outcome', () => {
  it.each<[string, Fault, exists: boolean]>([
    ['cut in its response', { cut: 'during' }, true],
    ['unanswered with an effect', { hang: 'after' }, true],
    ['answered with 500 without an effect', { status: 500 }, false],
  ])('leads to one application after it was %s', async (_, fault, exists) => {
    const { create } = host({ settleMs: 0, timeoutMs: 'hang' in fault ? 2_000 : undefined })
    provider.faults.add({ ...onCreate, ...fault })
    const first = await create({}, { eventId: 'evt_1' })
    if (first.status !== 200) {
      expect(first).toMatchObject({ status: 504, body: { code: 'provider_timeout', retryable: true } })
      expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await create({}, { eventId: 'evt_1' })).toMatchObject(running)
    }
    expect([creates(), published()]).toEqual([exists ? 1 : 2, application().applicationId])
  })

  it.each<[string, Fault, number[]]>([
    ['its answer was lost', { cut: 'before' }, [55_000, 10_000]],
    ['its host died', { hang: true }, [30_000, 55_000, 10_000]],
  ])('is repeated a minute after nothing of it could leave any more, if %s', async (_, fault, waits) => {
    let time = Date.now()
    const now = () => time
    const store = memoryStore({ now })
    const successor = () => host({ now, store })
    provider.faults.add({ ...onCreate, ...fault })
    const first = successor().create()
    await expect.poll(creates).toBe(1)
    if ('cut' in fault) expect((await first).status).toBe(504)
    for (const wait of waits.slice(0, -1)) {
      time += wait
      expect((await successor().remove()).status).toBe(504)
      const { status, headers } = await successor().create()
      const retryAfter = Number(headers.get('retry-after'))
      expect([status, retryAfter > 0 && retryAfter <= 61]).toEqual([504, true])
    }
    time += waits.at(-1) ?? 0
    expect(await successor().create()).toMatchObject(running)
    expect(creates()).toBe(2)
  })

  it('is looked up by a teardown, which names the application and does not delete a guess', async () => {
    const { create, remove } = host({ settleMs: 0 })
    loseCreation()
    expect((await create()).status).toBe(504)
    const { applicationId } = application()
    const body = { code: 'outcome_unknown', detail: expect.stringContaining(applicationId) }
    expect(await remove()).toMatchObject({ status: 409, body })
    provider.removeApplication(applicationId)
    expect(await remove()).toMatchObject(stopped)
  })

  it('adopts no application that is older, or has another name, another environment or a further one', async () => {
    const { create } = host({ settleMs: 0 })
    await create({ applicationName: 'Market' }, { id: 'dep_2' })
    provider.addApplication({ name: 'Shop' })
    provider.faults.add({ ...onCreate, cut: 'before' })
    expect((await create()).status).toBe(504)
    provider.addApplication({ name: 'Blog' })
    provider.addApplication({ ...production, name: 'Shop', environment_types: ['production'] })
    provider.addApplication({ ...production, name: 'Shop', environment_types: ['development', 'production'] })
    const strangers = [...provider.applications.keys()]
    expect((await create()).status).toBe(200)
    expect(creates()).toBe(3)
    expect(strangers).not.toContain(published())
  })

  it('leads to one application in a workspace of 100, whatever their ids tell, and although a list is refused', async () => {
    for (const [index, one] of seed(100).entries()) one.applicationId = `app_z${index}`
    const { create } = host({ settleMs: 0 })
    provider.faults.add({ ...onCreate, cut: 'after' }, { ...blindList, times: 1, status: 403 })
    expect((await create()).status).toBe(422)
    expect(await create()).toMatchObject(running)
    expect([creates(), provider.applications.size]).toEqual([1, 101])
  })

  it('leaves several candidates to a person, and names their ids', async () => {
    const { create } = host({ settleMs: 0 })
    provider.faults.add({ ...onCreate, cut: 'before' })
    await create({}, { eventId: 'evt_1' })
    const strangers = ['Shop', 'Shop'].map((name) => provider.addApplication({ name }))
    const body = { code: 'outcome_unknown', retryable: false }
    expect(await create({}, { eventId: 'evt_1' })).toMatchObject({ status: 409, body })
    for (const { applicationId } of strangers) expect(logged('error').at(-1)).toContain(applicationId)
    expect(provider.applications.size).toBe(2)
  })
})

it('an application that another deployment of the same name has adopted is left to it, and another one is created', async () => {
  const store = memoryStore()
  const { create } = host({
    store,
    async fetch(input, init) {
      const response = await fetch(input, init)
      const [made] = provider.applications.keys()
      const reservation = { subject: `idp-server/application/${made}`, owner: 'idp-server/deployment/dep_2' }
      if (made && provider.applications.size === 1) await store.reserve(reservation)
      return response
    },
  })
  const body = { code: 'delivery_in_progress', retryable: true }
  expect(await create({}, { eventId: 'evt_1' })).toMatchObject({ status: 409, body })
  expect(published()).toBeUndefined()
  const [taken] = provider.applications.keys()
  expect(await host({ store, settleMs: 0 }).create({}, { eventId: 'evt_1' })).toMatchObject(running)
  expect([creates(), published() === taken]).toEqual([2, false])
})

it('30 creations at once, in a workspace whose list is longer than 1 MiB, have one application and a small record each', async () => {
  seed(4_000)
  const store = memoryStore()
  const { create } = host({ store })
  const ids = Array.from({ length: 30 }, (_, index) => `dep_${index}`)
  const answers = await Promise.all(ids.map((id) => create({}, { id })))
  expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200))
  expect([new Set(ids.map(published)).size, provider.applications.size]).toEqual([30, 4_030])
  expect(lists().filter((request) => request.includes('secret'))).toEqual([])
  expect(lists().length).toBeLessThan(5)
  const record = await store.read('idp-server/deployment/dep_1')
  expect(JSON.stringify(record).length).toBeLessThan(1_000)
  provider.faults.add({ ...onCreate, cut: 'after' })
  expect(await create({}, { id: 'dep_lost' })).toMatchObject(running)
  expect(provider.applications.size).toBe(4_031)
})

describe('an interrupted creation in a workspace of 500 applications', () => {
  async function interrupt(newId: (number: number) => string) {
    const others = seed(500)
    for (const [index, one] of others.entries()) one.applicationId = newId(index)
    const store = memoryStore()
    const { create } = host({ store, settleMs: 0 })
    provider.faults.add({ ...onCreate, cut: 'before' })
    expect((await create()).status).toBe(504)
    const record = JSON.stringify(await store.read('idp-server/deployment/dep_1'))
    expect(record.length).toBeLessThan(8_000)
    return { others, create }
  }

  it.each([
    ['oldest', 10_000_000, 1_000],
    ['newest', 20_000_000, -1_000],
  ])(
    'adopts no older application that a person renamed meanwhile, if the list has the %s first',
    async (_, first, step) => {
      const newId = (number: number) => `app_3${first + step * number}${'x'.repeat(18)}`
      const { others, create } = await interrupt(newId)
      for (const at of [0, 1, 300, 499]) Object.assign(others[at] ?? {}, { name: 'Shop' })
      expect(await create()).toMatchObject(running)
      expect(provider.applications.size).toBe(501)
    },
  )

  it('leaves a renamed application to a person if ids do not tell its age', async () => {
    const { others, create } = await interrupt(() => `app_${crypto.randomUUID()}`)
    const lowest = others.map(({ applicationId }) => applicationId).toSorted()[0]
    Object.assign(others.find(({ applicationId }) => applicationId === lowest) ?? {}, { name: 'Shop' })
    expect((await create()).body).toMatchObject({
      code: 'outcome_unknown',
      detail: expect.stringContaining(lowest ?? expect.fail()),
    })
    expect(provider.applications.size).toBe(500)
  })
})
