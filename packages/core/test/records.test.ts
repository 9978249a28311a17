/** What the store keeps of an event: encrypted responses and steps under the keys of the host, and reservations. */
import { type DeliveryStore, type HandlerContext, IntegrationError, memoryStore } from '@org/core'
import { readResourceOwner } from '@org/core/authoring'
import type { Json, RecordedResponse } from '@org/core/hosting'
import { createDeliveryStore, type RecordStorage } from '@org/core/stores'
import { type DeliveryResponse, deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import {
  calling,
  clock,
  created,
  createHost,
  failing,
  issuedKey,
  type ProviderCall,
  session,
  token,
} from './fixtures.ts'
import format4 from './format-4.json' with { type: 'json' }

const greeting = (to: string) => calling('greet', { to })
const greet = greeting('ada@example.com')
const id = 'evt_1'
const note = { sent: ['ada@example.com'] }
const DAY_MS = 24 * 60 * 60 * 1000
const isReplay = ({ headers }: DeliveryResponse) => headers.get('idempotency-replayed') === 'true'

type Found = Awaited<ReturnType<DeliveryStore['claim']>>

/** A host whose store shows everything that is written, and may find something else. */
function createObserved({
  tamper = (found) => found,
  ...options
}: Parameters<typeof createHost>[0] & { tamper?: (found: Found) => Found } = {}) {
  const memory = memoryStore()
  const recorded: RecordedResponse[] = []
  const written: string[] = []
  const store: DeliveryStore = {
    ...memory,
    async claim(request) {
      written.push(JSON.stringify(request))
      return tamper(await memory.claim(request))
    },
    advance(lease, steps) {
      written.push(JSON.stringify(steps))
      return memory.advance(lease, steps)
    },
    complete(lease, completion) {
      recorded.push(completion.response)
      written.push(JSON.stringify(completion))
      return memory.complete(lease, completion)
    },
  }
  return { ...createHost({ store, ...options }), recorded, written }
}

describe('a recorded response', () => {
  it('is encrypted in the store, compressed if it is long, never twice alike, and replayed in clear', async () => {
    const host = createObserved()
    const long = greeting(`ada@${'😀'.repeat(500_000)}`)
    for (const [at, event] of [greet, greet, long].entries()) {
      const first = await deliver(host.handle, event, { id: `evt_${at}` })
      const again = await deliver(host.handle, event, { id: `evt_${at}` })
      expect([isReplay(again), again.body]).toEqual([true, first.body])
    }
    const bodies = host.recorded.map(({ body }) => body)
    expect(bodies.map((body) => body + atob(body)).join()).not.toMatch(/ada@|greeting-|"result"/)
    expect(new Set(bodies.map((body) => body.slice(0, 30))).size).toBe(3)
    expect(bodies[2]?.length).toBeLessThan(100_000)
  })

  it.each<[string, { id?: string; route?: string; event?: object }, (own: RecordedResponse) => object]>([
    ['is cut off', {}, ({ body }) => ({ body: body.slice(0, -8) })],
    ['has another status', {}, () => ({ status: 201 })],
    ['is of another delivery', { id: 'evt_2' }, () => ({})],
    ['is of another route', { route: 'greeter-server' }, () => ({})],
    ['is of another body', { event: { ...created, more: 1 } }, () => ({})],
  ])('that %s is outcome_unknown, and the event is not handled again', async (_, source, change) => {
    const { handle, recorded } = createObserved(source.route ? { route: source.route } : {})
    await deliver(handle, source.event ?? created, { id: source.id ?? id })
    const tamper = (found: Found): Found => {
      const [own = { status: 0, body: '' }] = recorded
      return found.state === 'done' ? { ...found, response: { ...own, ...change(own) } } : found
    }
    const host = createObserved({ tamper })
    await deliver(host.handle, created, { id })
    const body = { code: 'outcome_unknown', retryable: false }
    expect(await deliver(host.handle, created, { id })).toMatchObject({ status: 409, body })
    expect(host.providerCalls).toHaveLength(1)
  })

  it('has the outputs of a deployment that hold no secret at any depth, nor has the log one', async () => {
    const { handle, record, lines } = createHost()
    const inUs = { ...created, deployment: { id: 'dep_1', inputs: { token, region: 'us' } } }
    for (const outputs of [{ token, region: 'us', session }, { region: 'us' }])
      expect((await deliver(handle, inUs, { id })).body).toEqual({ status: 'running', outputs })
    const [entry] = record()?.logs.slice(-1) ?? []
    const data = { keys: ['[redacted]'] }
    expect(entry).toMatchObject({ message: 'Opened a session with [redacted].', data })
    expect(JSON.stringify(lines)).not.toContain(session.keys[0])
  })

  it('and its log hold no secret of an argument or a result', async () => {
    const provider = failing(new IntegrationError('provider_rejected', 'Refused the word pass-word-1.'))
    const host = createObserved({ provider })
    const people = [{ password: 'pass-word-2' }]
    const issue = { ...calling('issueKeys', { people }), deployment: { id: 'dep_1' } }
    for (const key of [issuedKey, '[redacted]'])
      expect((await deliver(host.handle, issue, { id })).body).toEqual({ result: [{ key }] })
    expect(host.record()?.logs).toMatchObject([{ message: 'Made [redacted] for [redacted].' }])
    await deliver(host.handle, calling('greet', { to: 'Ada', password: 'pass-word-1' }), { id: 'evt_2' })
    expect(host.recorded).toHaveLength(2)
    expect(JSON.stringify([host.written, host.lines])).not.toMatch(/key-of-the-vault|pass-word/)
  })
})

describe('the keys of the records', () => {
  const [old, next] = ['the old key of the records', 'the next key of the records']

  /** A storage whose texts the test sees, and can write. */
  function createStorage(texts = new Map<string, string>(), time = Date.UTC(2026, 10, 24)): RecordStorage {
    return {
      now: () => time,
      read: async (key) => ({ text: texts.get(key), time }),
      async swap(key, mark, text) {
        if ((texts.get(key)?.slice(0, 24) ?? '') !== mark) return false
        texts.set(key, text)
        return true
      },
      probe: async () => {},
    }
  }

  it('are in every digest, so that nobody without them can test a guess of a body', async () => {
    const digests = await Promise.all(
      [[], [old], [next]].map(async (recordKeys) => {
        const host = createObserved({ recordKeys })
        await deliver(host.handle, greet, { id })
        return host.written.flatMap((text) => /"digest":"([^"]+)"/.exec(text)?.[1] ?? [])[0]
      }),
    )
    const guess = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(greet)))
    expect(new Set([...digests, Buffer.from(guess).toString('base64').slice(0, 16)]).size).toBe(4)
  })

  it.each<[string, string[], string[], boolean]>([
    ['the next key is added', [old], [next, old], true],
    ['two hosts have the keys in another order', [next, old], [old, next], true],
    ['the host had no key before', [], [next], false],
    ['the key of the record was removed', [old], [next], false],
  ])('may change: if %s, a redelivery gets the response, or is refused', async (...row) => {
    const [, before, after, isKnown] = row
    const store = memoryStore()
    const { status, body } = await deliver(createHost({ store, recordKeys: before }).handle, greet, { id })
    const host = createHost({ store, recordKeys: after })
    const refusal = { status: 422, body: { code: 'invalid_event' } }
    expect(await deliver(host.handle, greet, { id })).toMatchObject(isKnown ? { status, body } : refusal)
    expect(await deliver(host.handle, greeting('Bob'), { id })).toMatchObject(refusal)
    expect(host.providerCalls).toEqual([])
  })

  it('sign each record: a host with a key reads no record that none of its keys signed', async () => {
    const storage = createStorage()
    const by = (keys: string[]) => createDeliveryStore(storage, keys)
    await by([next, old]).reserve({ subject: 's', owner: 'its owner' })
    for (const keys of [[next], [old, next]]) expect(await by(keys).read('s')).toMatchObject({ fence: 1 })
    await by([]).reserve({ subject: 'unsigned', owner: 'its owner' })
    for (const [subject, key] of [
      ['s', old],
      ['unsigned', next],
    ] as const) {
      const message = expect.stringContaining(`The record of ${subject} in the delivery store is not signed`)
      await expect(by([key]).read(subject)).rejects.toMatchObject({ code: 'internal_error', message })
    }
  })

  it('run no function of a deployment whose record none of them signed: it may be deleted', async () => {
    const storage = createStorage()
    const store = createDeliveryStore(storage, [old])
    await deliver(createHost({ store, recordKeys: [old] }).handle, created)
    const host = createHost({ store: createDeliveryStore(storage, [next]), recordKeys: [next] })
    const count = { ...calling('count'), deployment: { id: 'dep_1' } }
    expect((await deliver(host.handle, count)).body).toMatchObject({ code: 'internal_error' })
    expect(host.providerCalls).toEqual([])
  })

  it.each(['keyed', 'unkeyed'] as const)('read %s records of format 4', async (name) => {
    const { recordKeys, records }: { recordKeys: string[]; records: Record<string, string> } = format4[name]
    // A minute after the records were written.
    const time = Date.parse(format4.at) + 60_000
    const read: unknown[] = []
    const { handle } = createHost({
      recordKeys,
      now: () => time,
      provider: async (_, { progress }) => void read.push(progress?.read('note')),
      store: createDeliveryStore(createStorage(new Map(Object.entries(records)), time), recordKeys),
    })
    const long = `Ada ${'ü'.repeat(20_000)}`
    for (const [id, event, body] of [
      ['evt_short', greeting('Ada'), { result: { id: 'greeting-to-Ada' } }],
      ['evt_long', greeting(long), { result: { id: `greeting-to-${long}` } }],
      ['evt_created', created, { status: 'running', outputs: { region: 'eu' } }],
    ] as const) {
      const again = await deliver(handle, event, { id })
      expect([isReplay(again), again.body]).toEqual([true, body])
    }
    expect(read).toEqual([])
    await deliver(handle, greeting('Ada'), { id: 'evt_step' })
    expect(read).toEqual([note])
  })
})

describe('the progress of a delivery', () => {
  /** A host whose provider reads its notes, writes them, and fails once with a retryable error. */
  function interrupted(options: Parameters<typeof createObserved>[0] = {}) {
    const read: (Json | undefined)[] = []
    const host = createObserved({
      async provider(_, { progress }) {
        read.push(progress?.read('step'), progress?.read('note'))
        await progress?.write('step', 'begun')
        await progress?.write('note', note)
        if (read.length === 2) throw new IntegrationError('provider_error', 'It is away.')
      },
      ...options,
    })
    return { ...host, read }
  }

  it('is read by the next try of a call, encrypted in the store, and dropped with the response', async () => {
    const { handle, read, written } = interrupted()
    for (const status of [502, 200]) expect((await deliver(handle, greet, { id })).status).toBe(status)
    expect(read).toEqual([undefined, undefined, 'begun', note])
    expect(written.join()).toContain('"step":"begun"')
    expect(written.join()).not.toMatch(/ada@|"sent"/)
    expect(written.at(-1)).toContain('"progress":{}')
  })

  it('of one step can’t be read as another one', async () => {
    const tamper = (found: Found): Found =>
      found.state === 'claimed' ? { ...found, progress: { step: found.progress.note ?? null } } : found
    const { handle, read } = interrupted({ tamper })
    for (const _ of [1, 2]) await deliver(handle, greet, { id })
    expect(read).toEqual([null, undefined, expect.stringMatching(/^[^{]+$/), undefined])
  })

  it('is not written for a function that only reads', async () => {
    const { handle, read, written } = interrupted()
    for (const _ of [1, 2]) await deliver(handle, calling('count'), { id })
    expect([read, written]).toEqual([Array(4).fill(undefined), []])
  })

  it.each<[string, Json[], boolean]>([
    ['left something', ['an application'], true],
    ['took back what it left', ['an application', null], false],
  ])('is kept for long if a creation that failed for good %s: %j', async (_, values, isKept) => {
    const { now, pass } = clock()
    const store = memoryStore({ now })
    const provider = async (_: ProviderCall, { progress }: HandlerContext) => {
      for (const value of values) await progress?.write('made', value)
      throw new IntegrationError('provider_rejected', 'No.')
    }
    await deliver(createHost({ now, store, provider }).handle, created)
    pass(60 * DAY_MS)
    expect((await store.read('greeter/deployment/dep_1')) !== undefined).toBe(isKept)
  })
})

it('a resource belongs to the first deployment that reserves it, and only on its route', async () => {
  const store = memoryStore()
  const reserved: unknown[] = []
  const provider = async (_: ProviderCall, { progress }: HandlerContext) =>
    void reserved.push(await progress?.isReserved('thing/1'), await progress?.reserve('thing/1'))
  const host = createHost({ store, provider })
  host.platform.addDeployment({ id: 'dep_2' })
  for (const dep of ['dep_1', 'dep_2', 'dep_1'])
    await deliver(host.handle, { ...created, deployment: { ...created.deployment, id: dep } })
  expect(reserved).toEqual([false, true, true, false, false, true])
  await store.reserve({ subject: 'greeter/thing/2', owner: 'other/deployment/dep_1' })
  const owners = [1, 2, 3].map((thing) => readResourceOwner(store, 'greeter', `thing/${thing}`))
  expect(await Promise.all(owners)).toEqual(['dep_1', undefined, undefined])
})
