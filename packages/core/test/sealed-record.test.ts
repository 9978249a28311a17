import { describe, expect, it } from 'vitest'
import { type DeliveryStore, IntegrationError, memoryStore, type RecordedAnswer } from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { calling, created, createHost } from './example.ts'

const greet = calling('greet', { to: 'ada@example.com' })
const id = 'evt_1'

/** A host whose store shows each answer that is recorded, and can be made to give another one back. */
function createObservedHost(tamper: (answer: RecordedAnswer) => RecordedAnswer = (answer) => answer) {
  const memory = memoryStore()
  const recorded: RecordedAnswer[] = []
  const store: DeliveryStore = {
    ...memory,
    async claim(request) {
      const result = await memory.claim(request)
      return result.state === 'done' ? { ...result, answer: tamper(result.answer) } : result
    },
    complete(lease, completion) {
      recorded.push(completion.answer)
      return memory.complete(lease, completion)
    },
  }
  return { ...createHost({ store }), recorded }
}

describe('a recorded answer', () => {
  it('names nobody in the store, and is given to the same request again as it was', async () => {
    const host = createObservedHost()
    const first = await deliver(host.handle, greet, { id })
    expect(first.body).toEqual({ result: { id: 'greeting-to-ada@example.com' } })
    const [answer] = host.recorded
    expect(answer?.status).toBe(200)
    for (const text of [answer?.body ?? '', atob(answer?.body.replace('sealed:', '') ?? '')])
      expect(text).not.toMatch(/ada|greeting|result/)
    const second = await deliver(host.handle, greet, { id })
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
  })

  it('is never sealed twice alike, so that equal answers do not show', async () => {
    const host = createObservedHost()
    for (const other of ['evt_1', 'evt_2']) await deliver(host.handle, greet, { id: other })
    const bodies = host.recorded.map(({ body }) => body)
    expect(new Set(bodies).size).toBe(2)
    expect(new Set(bodies.map((body) => body.slice(0, 30))).size).toBe(2)
  })

  it.each([
    ['is damaged', (body: string) => body.slice(0, -8)],
    [
      'has one letter changed',
      (body: string) => `${body.slice(0, 60)}${body[60] === 'A' ? 'B' : 'A'}${body.slice(61)}`,
    ],
    ['is missing', () => ''],
    ['is no base64', () => 'half a record…'],
    ['was written before answers were sealed', () => '{"result":{"id":"greeting-to-ada"}}'],
  ])('that %s is never taken for an answer, and nothing is done again', async (_, damage) => {
    const host = createObservedHost(({ status, body }) => ({ status, body: damage(body) }))
    await deliver(host.handle, greet, { id })
    expect(await deliver(host.handle, greet, { id })).toMatchObject({
      status: 409,
      body: { code: 'outcome_unknown', retryable: false },
    })
    expect(host.asked).toHaveLength(1)
  })

  it('of another request does not open for this one', async () => {
    const foreign = createObservedHost()
    await deliver(foreign.handle, calling('greet', { to: 'bob@example.com' }), { id })
    const host = createObservedHost(() => foreign.recorded[0] ?? { status: 200, body: '' })
    await deliver(host.handle, greet, { id })
    expect((await deliver(host.handle, greet, { id })).body).toMatchObject({ code: 'outcome_unknown' })
  })

  it('of DEPLOYMENT_CREATED holds no sensitive output even under its seal', async () => {
    const host = createObservedHost()
    await deliver(host.handle, created, { id })
    const second = await deliver(host.handle, created, { id })
    expect(second.body).toEqual({ status: 'running', outputs: { region: 'eu' } })
  })

  it('may be megabytes long', async () => {
    const host = createObservedHost()
    const long = calling('greet', { to: 'é'.repeat(1_000_000) })
    const first = await deliver(host.handle, long, { id })
    expect((await deliver(host.handle, long, { id })).body).toEqual(first.body)
  })
})

describe('what a function wrote down', () => {
  const note = { sent: ['ada@example.com'] }
  const written: string[] = []
  const memory = memoryStore()
  const store: DeliveryStore = {
    ...memory,
    advance(lease, progress) {
      written.push(JSON.stringify(progress))
      return memory.advance(lease, progress)
    },
  }

  it('names nobody in the store, and is read by the next try of the same delivery', async () => {
    const read: unknown[] = []
    const host = createHost({
      store,
      async provider(_, { progress }) {
        read.push(progress?.read('step'), progress?.read('note'))
        await progress?.write('step', 'begun')
        await progress?.write('note', note)
        read.push(progress?.read('note'))
        if (read.length === 3) throw new IntegrationError('provider_error', 'Down.')
      },
    })
    expect((await deliver(host.handle, greet, { id })).status).toBe(502)
    expect((await deliver(host.handle, greet, { id })).status).toBe(200)
    expect(read).toEqual([undefined, undefined, note, 'begun', note, note])
    expect(written).toHaveLength(4)
    expect(written.join()).toContain('"step":"begun"')
    expect(written.join()).not.toMatch(/ada|sent/)
  })

  it('of a deployment is read by whichever event comes next', async () => {
    const read: unknown[] = []
    const host = createHost({
      async provider(_, { progress }) {
        read.push(progress?.read('note'))
        await progress?.write('note', note)
      },
    })
    await deliver(host.handle, created, { id: 'evt_1' })
    await deliver(host.handle, created, { id: 'evt_2' })
    expect(read).toEqual([undefined, note])
  })
})
