import { describe, expect, it } from 'vitest'
import { memoryStore } from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { createHost, token } from './example.ts'

const LEASE_MS = 60_000
const created = (id: string) => ({ name: 'DEPLOYMENT_CREATED', deployment: { id, inputs: { token } } })

/** A host whose deployments all want the same thing at the provider. */
function contended() {
  let time = Date.now()
  const store = memoryStore({ now: () => time })
  const got: unknown[] = []
  const host = createHost({
    store,
    async provider(_, { progress }) {
      got.push(await progress?.reserve('thing/1'))
    },
  })
  for (const id of ['dep_1', 'dep_2']) host.platform.addDeployment({ id, inputs: { token } })
  return {
    host,
    store,
    got,
    pass(milliseconds: number) {
      time += milliseconds
    },
  }
}

describe('what a deployment reserves at the provider', () => {
  it('is its own from then on, and nobody else’s', async () => {
    const { host, got } = contended()
    for (const [id, event] of [
      ['dep_1', 'a'],
      ['dep_1', 'b'],
      ['dep_2', 'c'],
      ['dep_1', 'd'],
    ] as const)
      await deliver(host.handle, created(id), { id: event })
    expect(got).toEqual([true, true, false, true])
  })

  it('is not taken for somebody else’s while another asks, or after one died asking: that is told later', async () => {
    const { host, store, got, pass } = contended()
    await store.claim({ subject: 'greeter/thing/1', leaseMs: LEASE_MS })
    const answer = await deliver(host.handle, created('dep_1'), { id: 'a' })
    expect(answer).toMatchObject({ status: 409, body: { code: 'delivery_in_progress', retryable: true } })
    expect(got).toEqual([])
    pass(LEASE_MS)
    expect((await deliver(host.handle, created('dep_1'), { id: 'a' })).status).toBe(200)
    expect(got).toEqual([true])
  })
})
