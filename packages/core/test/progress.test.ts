import { describe, expect, it } from 'vitest'
import { IntegrationError, type Json, memoryStore } from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { calling, created, createHost, deleted } from './example.ts'

/** A host whose provider writes a step down, then fails once with what may pass. */
function interrupted(dependencies: Parameters<typeof createHost>[0] = {}) {
  const read: (Json | undefined)[] = []
  let failed = false
  const host = createHost({
    async provider(_, { progress }) {
      read.push(progress?.read('step'))
      await progress?.write('step', { applicationId: 'app_1' })
      if (failed) return
      failed = true
      throw new IntegrationError('provider_error', 'It is away.')
    },
    ...dependencies,
  })
  return { host, read }
}

describe('a step that was written down', () => {
  it('is read by the next delivery for the deployment, whatever its id', async () => {
    const { host, read } = interrupted()
    expect((await deliver(host.handle, created, { id: 'evt_1' })).status).toBe(502)
    expect((await deliver(host.handle, created, { id: 'evt_2' })).status).toBe(200)
    await deliver(host.handle, deleted, { id: 'evt_3' })
    expect(read).toEqual([undefined, { applicationId: 'app_1' }, { applicationId: 'app_1' }])
  })

  it('is not read by another deployment', async () => {
    const { host, read } = interrupted()
    await deliver(host.handle, created, { id: 'evt_1' })
    await deliver(host.handle, { ...created, deployment: { ...created.deployment, id: 'dep_2' } })
    expect(read).toEqual([undefined, undefined])
  })

  it('goes nowhere for an event that is not claimed', async () => {
    const { host, read } = interrupted()
    for (let times = 0; times < 2; times += 1) await deliver(host.handle, calling('count'), { id: 'evt_1' })
    expect(read).toEqual([undefined, undefined])
  })
})

describe('a step that can’t be written down', () => {
  it.each([
    {
      why: 'the store can’t be reached',
      advance: () => Promise.reject(new Error('gone')),
      code: 'overloaded',
    },
    { why: 'another has taken over', advance: async () => false, code: 'delivery_in_progress' },
  ])('ends the event as $code where $why, to be delivered again', async ({ advance, code }) => {
    const { host } = interrupted({ store: { ...memoryStore(), advance } })
    const { body, headers } = await deliver(host.handle, created, { id: 'evt_1' })
    expect(body).toMatchObject({ code, retryable: true })
    expect(headers.has('retry-after')).toBe(true)
    expect(host.told()).not.toContain('PUT /deployments/dep_1/outputs')
  })
})
