import { type HandlerContext, memoryStore } from '@org/core'
import { readRecordedDeployment, readResourceOwner } from '@org/core/authoring'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { clock, created, createHost, deleted, slowProvider } from './fixtures.ts'

describe('the owner of a resource', () => {
  it('is the deployment that reserved it, on the route that asks', async () => {
    const store = memoryStore()
    const owner = (resource: string) => readResourceOwner(store, 'greeter', resource)
    const provider = async (_: unknown, { progress }: HandlerContext) =>
      void (await progress?.reserve('application/1'))
    await deliver(createHost({ store, provider }).handle, created)
    const foreign = { subject: 'greeter/application/2', owner: 'other/deployment/dep_1', keepMs: 60_000 }
    await store.reserve(foreign)
    expect(await Promise.all(['1', '2', '3'].map((name) => owner(`application/${name}`)))).toEqual([
      'dep_1',
      undefined,
      undefined,
    ])
  })
})

describe('a recorded deployment', () => {
  it('is held while a host works on it, and deleted after its deletion, with its steps until then', async () => {
    const { now, pass } = clock()
    const store = memoryStore({ now })
    const read = () => readRecordedDeployment(store, 'greeter', 'dep_1')
    const { provider, begun, finish } = slowProvider()
    const slow = createHost({ now, store, provider })
    expect(await read()).toBeUndefined()
    const creation = deliver(slow.handle, created)
    await begun
    expect(await read()).toMatchObject({ isClaimed: true, isDeleted: false })
    finish()
    await creation
    expect(await read()).toMatchObject({ isClaimed: false, isDeleted: false })
    // A host that died.
    await store.claim({ subject: 'greeter/deployment/dep_1', leaseMs: 1_000 })
    pass(1_000)
    expect(await read()).toMatchObject({ isClaimed: false, isDeleted: false })
    await deliver(slow.handle, deleted)
    expect(await read()).toMatchObject({ isClaimed: false, isDeleted: true })
  })
})
