import { describe, expect, it } from 'vitest'
import { type DeliveryStore, IntegrationError, memoryStore } from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { calling, created, createHost, deleted, issuedKey, token } from './example.ts'
import { gate } from './gate.ts'

const greet = calling('greet', { to: 'Ada' })
const id = 'evt_1'

const actions = (host: ReturnType<typeof createHost>) => host.asked.map(({ action }) => action)
const isReplay = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed')

/** A provider that works until it is told to finish. */
function slowProvider() {
  const begun = gate()
  const finished = gate()
  const provider = () => {
    begun.open()
    return finished.passed
  }
  return { provider, begun: begun.passed, finish: finished.open }
}

/** A provider that fails at its first call, and works from then on. */
function failingOnce(error: unknown) {
  let failed = false
  return async () => {
    if (failed) return
    failed = true
    throw error
  }
}

describe('the same delivery again', () => {
  it('gets the recorded answer of a function, and nothing happens twice', async () => {
    const host = createHost()
    const first = await deliver(host.handle, greet, { id })
    const second = await deliver(host.handle, greet, { id })
    expect(isReplay(first)).toBeNull()
    expect(isReplay(second)).toBe('true')
    expect(second).toMatchObject({ status: 200, body: { result: { id: 'greeting-to-Ada' } } })
    expect(actions(host)).toEqual(['greet'])
  })

  it('gets the answer of DEPLOYMENT_CREATED without its sensitive outputs, and makes no callback', async () => {
    const host = createHost()
    await deliver(host.handle, created, { id })
    const before = host.platform.calls.length
    const second = await deliver(host.handle, created, { id })
    expect(second).toMatchObject({ status: 200, body: { status: 'running', outputs: { region: 'eu' } } })
    expect(JSON.stringify(second.body)).not.toContain('token')
    expect(isReplay(second)).toBe('true')
    expect(host.platform.calls).toHaveLength(before)
  })

  it('gets the answer of DEPLOYMENT_DELETED', async () => {
    const host = createHost()
    await deliver(host.handle, deleted, { id })
    const second = await deliver(host.handle, deleted, { id })
    expect([second.body, isReplay(second)]).toEqual([{ status: 'stopped' }, 'true'])
    expect(actions(host)).toEqual(['disconnect'])
  })

  it('is known by the id in the body, too', async () => {
    const host = createHost()
    await deliver(host.handle, { ...greet, id })
    expect(isReplay(await deliver(host.handle, { ...greet, id }))).toBe('true')
  })

  it('gets a final failure again, as the problem that it was', async () => {
    const provider = async () => {
      throw new IntegrationError('provider_rejected', 'No such person.')
    }
    for (const event of [greet, created]) {
      const host = createHost({ provider })
      const first = await deliver(host.handle, event, { id })
      const second = await deliver(host.handle, event, { id })
      expect(second.body).toEqual(first.body)
      expect(second.status).toBe(422)
      expect(second.headers.get('content-type')).toBe('application/problem+json')
      expect([isReplay(first), isReplay(second)]).toEqual([null, 'true'])
      expect(actions(host)).toHaveLength(1)
    }
  })

  it('runs again after a failure that may pass', async () => {
    for (const event of [greet, created, deleted]) {
      const host = createHost({
        provider: failingOnce(new IntegrationError('provider_error', 'It is away.')),
      })
      expect((await deliver(host.handle, event, { id })).status).toBe(502)
      const second = await deliver(host.handle, event, { id })
      expect([second.status, isReplay(second)]).toEqual([200, null])
      expect(actions(host)).toHaveLength(2)
    }
  })

  it('does not run again where the effect may have happened', async () => {
    for (const error of [
      new TypeError('a fault of the host'),
      new IntegrationError('provider_timeout', 'Too slow.', { sent: 'unknown' }),
    ]) {
      const host = createHost({ provider: failingOnce(error) })
      for (const expected of [null, 'true']) {
        const answer = await deliver(host.handle, greet, { id })
        expect(answer).toMatchObject({ status: 409, body: { code: 'outcome_unknown', retryable: false } })
        expect(isReplay(answer)).toBe(expected)
      }
      expect(actions(host)).toEqual(['greet'])
    }
  })

  it('with another body is refused as 422 invalid_event, while it is under way and after', async () => {
    const { provider, begun, finish } = slowProvider()
    const host = createHost({ provider })
    const other = calling('greet', { to: 'Bob' })
    const first = deliver(host.handle, greet, { id })
    await begun
    const refusal = { status: 422, body: { code: 'invalid_event', retryable: false } }
    expect(await deliver(host.handle, other, { id })).toMatchObject(refusal)
    finish()
    await first
    expect(await deliver(host.handle, other, { id })).toMatchObject(refusal)
    expect(actions(host)).toEqual(['greet'])
  })

  it('on another route is another delivery', async () => {
    const store = memoryStore()
    for (const route of ['greeter', 'greeter-server']) {
      expect(isReplay(await deliver(createHost({ store, route }).handle, greet, { id }))).toBeNull()
    }
  })
})

describe('while an effect is under way', () => {
  it('the same delivery is answered delivery_in_progress, and after it with the record', async () => {
    const { provider, begun, finish } = slowProvider()
    const host = createHost({ provider })
    const first = deliver(host.handle, greet, { id })
    await begun
    const second = await deliver(host.handle, greet, { id })
    expect(second).toMatchObject({ status: 409, body: { code: 'delivery_in_progress', retryable: true } })
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
    finish()
    expect((await first).status).toBe(200)
    expect(isReplay(await deliver(host.handle, greet, { id }))).toBe('true')
  })

  it('no other event works on the same deployment, whatever its id; others do', async () => {
    const { provider, begun, finish } = slowProvider()
    const host = createHost({ provider })
    const first = deliver(host.handle, created, { id })
    await begun
    for (const event of [created, deleted]) {
      const answer = await deliver(host.handle, event, { id: 'evt_2' })
      expect(answer).toMatchObject({ status: 409, body: { code: 'delivery_in_progress' } })
      expect((await deliver(host.handle, event)).status).toBe(409)
    }
    expect(
      (await deliver(host.handle, { name: 'DOWNLOAD_STARTED', deployment: { id: 'dep_1' } })).status,
    ).toBe(200)
    const other = deliver(host.handle, { ...created, deployment: { id: 'dep_2', inputs: { token } } })
    finish()
    expect([(await first).status, (await other).status]).toEqual([200, 200])
  })

  it('fifty deliveries at once run it once', async () => {
    for (const event of [greet, created]) {
      const host = createHost()
      const answers = await Promise.all(Array.from({ length: 50 }, () => deliver(host.handle, event, { id })))
      const fresh = answers.filter((answer) => answer.status === 200 && isReplay(answer) === null)
      expect(fresh).toHaveLength(1)
      expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
      expect(actions(host)).toHaveLength(1)
    }
  })
})

describe('what is not the same delivery', () => {
  it('runs: a function under another id, or under none', async () => {
    const host = createHost()
    for (const other of ['evt_1', 'evt_2', undefined, undefined]) {
      expect(isReplay(await deliver(host.handle, greet, { id: other }))).toBeNull()
    }
    expect(actions(host)).toHaveLength(4)
  })

  it('runs: a function that only reads, also under the same id', async () => {
    const host = createHost()
    for (let times = 0; times < 2; times += 1) {
      expect(isReplay(await deliver(host.handle, calling('count'), { id }))).toBeNull()
    }
    expect(actions(host)).toEqual(['count', 'count'])
  })

  it('runs: a repaired DEPLOYMENT_CREATED, after a failure and after a success', async () => {
    const host = createHost()
    const repaired = { ...created, deployment: { id: 'dep_1', inputs: { token, region: 'us' } } }
    const faulty = { ...created, deployment: { id: 'dep_1', inputs: { token, region: 'mars' } } }
    expect((await deliver(host.handle, faulty, { id: 'evt_1' })).status).toBe(422)
    for (const other of ['evt_2', 'evt_3']) {
      const answer = await deliver(host.handle, repaired, { id: other })
      expect(answer.body).toMatchObject({ status: 'running', outputs: { token, region: 'us' } })
    }
    expect(isReplay(await deliver(host.handle, faulty, { id: 'evt_1' }))).toBe('true')
  })
})

describe('a deployment that was deleted', () => {
  it.each([{ later: 'evt_2' }, { later: undefined }])(
    'stays deleted, whatever arrives late (under the id $later)',
    async ({ later }) => {
      const host = createHost()
      await deliver(host.handle, deleted, { id })
      for (let times = 0; times < 2; times += 1) {
        const answer = await deliver(host.handle, created, { id: later })
        expect(answer).toMatchObject({ status: 200, body: { status: 'ignored' } })
      }
      expect(actions(host)).toEqual(['disconnect'])
      expect(host.told()).toEqual(['PUT /deployments/dep_1/status stopped'])
    },
  )

  it('can be deleted again', async () => {
    const host = createHost()
    await deliver(host.handle, deleted, { id })
    expect((await deliver(host.handle, deleted, { id: 'evt_2' })).body).toEqual({ status: 'stopped' })
  })

  it('counts as deleted for seven days', async () => {
    let time = 0
    const host = createHost({ store: memoryStore({ now: () => time }) })
    await deliver(host.handle, deleted, { id })
    time += 7 * 24 * 60 * 60 * 1000
    expect((await deliver(host.handle, created, { id: 'evt_2' })).body).toMatchObject({ status: 'running' })
  })

  it('does not count as deleted where deleting failed', async () => {
    for (const code of ['provider_rejected', 'provider_error'] as const) {
      const host = createHost({ provider: failingOnce(new IntegrationError(code, 'No.')) })
      await deliver(host.handle, deleted, { id })
      expect((await deliver(host.handle, created, { id: 'evt_2' })).body).toMatchObject({ status: 'running' })
    }
  })
})

describe('what the store gets', () => {
  it('holds no secret: not of an input, an output, an argument or a result', async () => {
    const memory = memoryStore()
    const written: unknown[] = []
    const spy: DeliveryStore = {
      ...memory,
      claim(request) {
        written.push(request)
        return memory.claim(request)
      },
      complete(lease, completion) {
        written.push(completion)
        return memory.complete(lease, completion)
      },
    }
    const provider = async ({ to }: { to?: string | undefined }) => {
      if (to === 'nobody') throw new IntegrationError('provider_rejected', 'Refused the word pass-word-1.')
    }
    const host = createHost({ store: spy, provider })
    await deliver(host.handle, created, { id: 'evt_1' })
    expect((await deliver(host.handle, calling('issueKey'), { id: 'evt_2' })).body).toEqual({
      result: { key: issuedKey },
    })
    await deliver(host.handle, calling('greet', { to: 'nobody', password: 'pass-word-1' }), { id: 'evt_3' })
    expect(written).toHaveLength(6)
    const text = JSON.stringify([written, host.lines])
    for (const value of [token, issuedKey, 'pass-word-1']) expect(text).not.toContain(value)
  })
})
