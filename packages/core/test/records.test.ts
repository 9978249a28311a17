import { type DeliveryStore, type HandlerContext, IntegrationError, memoryStore } from '@org/core'
import type { Json, RecordedResponse } from '@org/core/internal'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import {
  calling,
  clock,
  created,
  createHost,
  deleted,
  failing,
  inFakeTime,
  issuedKey,
  type ProviderCall,
  unreachableStore,
} from './fixtures.ts'

const greet = calling('greet', { to: 'ada@example.com' })
const id = 'evt_1'

/** A host whose store shows everything that is written, and can return another response than the recorded one. */
function createObserved(
  tamper: (response: RecordedResponse) => RecordedResponse = (response) => response,
  provider?: Parameters<typeof createHost>[0],
) {
  const memory = memoryStore()
  const recorded: RecordedResponse[] = []
  const written: string[] = []
  const store: DeliveryStore = {
    ...memory,
    async claim(request) {
      written.push(JSON.stringify(request))
      const result = await memory.claim(request)
      return result.state === 'done' ? { ...result, response: tamper(result.response) } : result
    },
    advance(lease, progress) {
      written.push(JSON.stringify(progress))
      return memory.advance(lease, progress)
    },
    complete(lease, completion) {
      written.push(JSON.stringify(completion))
      recorded.push(completion.response)
      return memory.complete(lease, completion)
    },
  }
  return { ...createHost({ store, ...provider }), recorded, written }
}

describe('a recorded response', () => {
  it('is encrypted in the store, never twice alike, and replayed in clear', async () => {
    const host = createObserved()
    const first = await deliver(host.handle, greet, { id })
    await deliver(host.handle, greet, { id: 'evt_2' })
    expect(first.body).toEqual({ result: { id: 'greeting-to-ada@example.com' } })
    for (const { status, body } of host.recorded) {
      expect(status).toBe(200)
      for (const text of [body, atob(body.replace(/^\w+:/, ''))])
        expect(text).not.toMatch(/ada@|greeting-|"result"/)
    }
    expect(new Set(host.recorded.map(({ body }) => body.slice(0, 30))).size).toBe(2)
    expect((await deliver(host.handle, greet, { id })).body).toEqual(first.body)
  })

  it.each([
    ['is cut off', (body: string) => body.slice(0, -8)],
    [
      'has one letter changed',
      (body: string) => body.replace(/(?<=^.{60})./, (letter) => (letter === 'A' ? 'B' : 'A')),
    ],
    ['is missing', () => ''],
    ['was written in clear by an older version', () => '{"result":{"id":"greeting-to-ada"}}'],
  ])('that %s is answered as outcome_unknown, without a second effect', async (_, damage) => {
    const host = createObserved(({ status, body }) => ({ status, body: damage(body) }))
    await deliver(host.handle, greet, { id })
    const response = await deliver(host.handle, greet, { id })
    expect(response).toMatchObject({ status: 409, body: { code: 'outcome_unknown', retryable: false } })
    expect(host.providerCalls).toHaveLength(1)
  })

  it('of another status can’t be decrypted', async () => {
    const host = createObserved((recorded) => ({ ...recorded, status: 201 }))
    await deliver(host.handle, greet, { id })
    expect((await deliver(host.handle, greet, { id })).body).toMatchObject({ code: 'outcome_unknown' })
  })

  it.each([
    ['delivery of a call', greet, 'greeter', 'evt_2'],
    ['delivery of a deployment', created, 'greeter', 'evt_2'],
    ['route', greet, 'greeter-server', id],
  ])('of another %s can’t be decrypted, not even with the same body', async (_, event, route, other) => {
    const foreign = createObserved(undefined, { route })
    await deliver(foreign.handle, event, { id: other })
    const host = createObserved(() => foreign.recorded[0] ?? { status: 200, body: '' })
    await deliver(host.handle, event, { id })
    expect((await deliver(host.handle, event, { id })).body).toMatchObject({ code: 'outcome_unknown' })
  })

  it('of another request can’t be decrypted for this one', async () => {
    const foreign = createObserved()
    await deliver(foreign.handle, calling('greet', { to: 'bob@example.com' }), { id })
    const host = createObserved(() => foreign.recorded[0] ?? { status: 200, body: '' })
    await deliver(host.handle, greet, { id })
    expect((await deliver(host.handle, greet, { id })).body).toMatchObject({ code: 'outcome_unknown' })
  })

  it('may be megabytes long, and is compressed then', async () => {
    const host = createObserved()
    const long = calling('greet', { to: `a${'😀'.repeat(500_000)}` })
    const first = await deliver(host.handle, long, { id })
    expect(host.recorded[0]?.body.length).toBeLessThan(100_000)
    expect((await deliver(host.handle, long, { id })).body).toEqual(first.body)
  })
})

describe('the keys of a host', () => {
  const [old, next] = ['the old key of the host', 'the next key of the host']
  const digestsOf = (written: readonly string[]) =>
    written.flatMap((text) => /"digest":"([^"]+)"/.exec(text)?.[1] ?? [])

  it('are in every digest, so that nobody without them can test a guess of a body', async () => {
    const digests = await Promise.all(
      [[], [old], [next]].map(async (recordKeys) => {
        const host = createObserved(undefined, { recordKeys })
        await deliver(host.handle, greet, { id })
        return digestsOf(host.written)[0]
      }),
    )
    const guess = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(greet)))
    expect(new Set([...digests, Buffer.from(guess).toString('hex')]).size).toBe(4)
  })

  it.each<[string, string[], string[]]>([
    ['the next key is added', [old], [next, old]],
    ['two hosts have the keys in another order', [next, old], [old, next]],
    ['the host had no key before', [], [next]],
  ])('may change: a redelivery gets the recorded response if %s', async (_, before, after) => {
    const store = memoryStore()
    const first = await deliver(createHost({ store, recordKeys: before }).handle, greet, { id })
    const host = createHost({ store, recordKeys: after })
    const again = await deliver(host.handle, greet, { id })
    expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', first.body])
    const other = await deliver(host.handle, calling('greet', { to: 'Bob' }), { id })
    expect(other).toMatchObject({ status: 422, body: { code: 'invalid_event' } })
  })

  it('are needed to read a record: without its key, the call is refused and not repeated', async () => {
    const store = memoryStore()
    await deliver(createHost({ store, recordKeys: [old] }).handle, greet, { id })
    const host = createHost({ store, recordKeys: [next] })
    expect(await deliver(host.handle, greet, { id })).toMatchObject({ status: 422 })
    expect(host.providerCalls).toEqual([])
  })
})

it('the record, its replay and the log hold no secret of an argument or a result', async () => {
  const provider = failing(new IntegrationError('provider_rejected', 'Refused the word pass-word-1.'))
  const host = createObserved(undefined, { provider })
  const { body } = await deliver(host.handle, calling('issueKey'), { id: 'evt_1' })
  expect(body).toEqual({ result: { key: issuedKey } })
  const again = await deliver(host.handle, calling('issueKey'), { id: 'evt_1' })
  expect(again.body).toEqual({ result: { key: '[redacted]' } })
  await deliver(host.handle, calling('greet', { to: 'Ada', password: 'pass-word-1' }), {
    id: 'evt_2',
  })
  expect(host.recorded).toHaveLength(2)
  expect(JSON.stringify([host.written, host.lines])).not.toMatch(/key-of-the-vault|pass-word-1/)
})

describe('the progress of a delivery', () => {
  const note = { sent: ['ada@example.com'] }

  /** A host whose provider reads its notes, writes them, and fails once with a retryable error. */
  function interrupted(dependencies: Parameters<typeof createHost>[0] = {}) {
    const read: (Json | undefined)[] = []
    const host = createObserved(undefined, {
      async provider(_, { progress }) {
        read.push(progress?.read('step'), progress?.read('note'))
        await progress?.write('step', 'begun')
        await progress?.write('note', note)
        if (read.length === 2) throw new IntegrationError('provider_error', 'It is away.')
      },
      ...dependencies,
    })
    host.platform.addDeployment({ id: 'dep_2' })
    return { host, read }
  }

  it('is read by the next try of a call; its objects are encrypted in the store', async () => {
    const { host, read } = interrupted()
    expect((await deliver(host.handle, greet, { id })).status).toBe(502)
    expect((await deliver(host.handle, greet, { id })).status).toBe(200)
    expect(read).toEqual([undefined, undefined, 'begun', note])
    expect(host.written.join()).toContain('"step":"begun"')
    expect(host.written.join()).not.toMatch(/ada@|"sent"/)
  })

  it('of one step can’t be read as another one', async () => {
    const memory = memoryStore()
    const store: DeliveryStore = {
      ...memory,
      async claim(request) {
        const result = await memory.claim(request)
        if (result.state !== 'claimed') return result
        const { note = null, ...progress } = result.progress
        return { ...result, progress: { ...progress, other: note } }
      },
    }
    const read: unknown[] = []
    const provider = async (_: ProviderCall, { progress }: HandlerContext) => {
      read.push(progress?.read('other'))
      await progress?.write('note', note)
      throw new IntegrationError('provider_error', 'It is away.')
    }
    const host = createHost({ store, provider })
    for (const _ of [1, 2]) await deliver(host.handle, greet, { id })
    expect(read).toEqual([null, expect.stringMatching(/^[^{]+$/)])
  })

  it('is read by the next event of a deployment, whatever its id, and by no other deployment', async () => {
    const { host, read } = interrupted()
    expect((await deliver(host.handle, created, { id: 'evt_1' })).status).toBe(502)
    await deliver(host.handle, { ...created, deployment: { ...created.deployment, id: 'dep_2' } })
    expect((await deliver(host.handle, created, { id: 'evt_2' })).status).toBe(200)
    for (const other of ['evt_3', 'evt_4']) await deliver(host.handle, deleted, { id: other })
    expect(read.filter((_, at) => at % 2 === 1)).toEqual([undefined, undefined, note, note, undefined])
  })

  it.each<[string, Json[], boolean]>([
    ['left something', ['an application'], true],
    ['took back what it left', ['an application', null], false],
    ['left nothing', [], false],
  ])(
    'is kept for long after a creation that failed for good only if that left something; it %s',
    async (_, values, isKept) => {
      const { now, pass } = clock()
      const store = memoryStore({ now })
      const provider = async (_: ProviderCall, { progress }: HandlerContext) => {
        for (const value of values) await progress?.write('made', value)
        throw new IntegrationError('provider_rejected', 'No.')
      }
      await deliver(createHost({ now, store, provider }).handle, created)
      pass(60 * 24 * 60 * 60 * 1000)
      expect((await store.read('greeter/deployment/dep_1')) !== undefined).toBe(isKept)
    },
  )

  it('is dropped with the response of a call, which nobody continues', async () => {
    const store = memoryStore()
    const { host } = interrupted({ store })
    for (const _ of [1, 2]) await deliver(host.handle, greet, { id })
    expect((await store.read(`greeter/delivery/${id}`))?.progress).toEqual({})
  })

  it('is not written for a function that only reads', async () => {
    const { host, read } = interrupted()
    for (const _ of [1, 2]) await deliver(host.handle, calling('count'), { id })
    expect([read, host.written]).toEqual([Array(4).fill(undefined), []])
  })

  it.each<[string, string, DeliveryStore['advance']]>([
    ['overloaded', 'the store can’t be reached', unreachableStore.advance],
    ['delivery_in_progress', 'another holder has taken over', async () => false],
  ])('ends the event as %s if %s', async (code, _, advance) => {
    const { host } = interrupted({ store: { ...memoryStore(), advance } })
    const { body, headers } = await inFakeTime(() => deliver(host.handle, created, { id }))
    expect(body).toMatchObject({ code, retryable: true })
    expect(headers.has('retry-after')).toBe(true)
    expect(host.writes()).not.toContain('PUT /deployments/dep_1/outputs')
  })
})

describe('a reservation', () => {
  /** A host whose deployments all reserve the same resource. */
  function contended(store: DeliveryStore = memoryStore()) {
    const reserved: unknown[] = []
    const { handle, platform } = createHost({
      store,
      provider: async (_, { progress }) => void reserved.push(await progress?.reserve('thing/1')),
    })
    platform.addDeployment({ id: 'dep_2' })
    const create = (deploymentId: string) =>
      deliver(handle, { ...created, deployment: { ...created.deployment, id: deploymentId } })
    return { create, reserved }
  }

  it('belongs to the first deployment that asks, from then on', async () => {
    const { create, reserved } = contended()
    for (const deploymentId of ['dep_1', 'dep_1', 'dep_2', 'dep_1']) await create(deploymentId)
    expect(reserved).toEqual([true, true, false, true])
  })

  it('ends the event in its time if the store can’t be reached', async () => {
    const { create, reserved } = contended({ ...memoryStore(), reserve: unreachableStore.reserve })
    const { body, milliseconds } = await inFakeTime(async () => {
      const began = Date.now()
      const { body } = await create('dep_1')
      return { body, milliseconds: Date.now() - began }
    })
    expect(body).toMatchObject({ code: 'overloaded', retryable: true })
    expect(milliseconds).toBeLessThan(25_000)
    expect(reserved).toEqual([])
  })

  it('belongs to the deployment that asks again because an answer was lost', async () => {
    const store = memoryStore()
    let lost = 0
    const { create, reserved } = contended({
      ...store,
      async reserve(reservation) {
        const owner = await store.reserve(reservation)
        lost += 1
        if (lost === 1) throw new Error('The connection broke.')
        return owner
      },
    })
    expect((await create('dep_1')).status).toBe(200)
    expect([reserved, lost]).toEqual([[true], 2])
  })
})
