import { describe, expect, it } from 'vitest'
import { type EventRecord, IntegrationError, type Observer } from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { calling, created, createHost, type ExampleSettings } from './example.ts'

/** A host that is watched, and what its observer saw, in order. */
function createWatched(provider?: ExampleSettings['provider']) {
  const seen: (EventRecord | string)[] = []
  const observer: Observer = {
    answered: (record) => void seen.push(record),
    async step(name, work) {
      seen.push(`${name} begins`)
      try {
        return await work()
      } finally {
        seen.push(`${name} ends`)
      }
    },
  }
  return { seen, host: createHost({ observer, ...(provider && { provider }) }) }
}

const steps = ['handler begins', 'handler ends', 'report begins', 'report ends']

describe('an observer', () => {
  it('sees the steps of an event, and is told at its end what the log is told', async () => {
    const { seen, host } = createWatched()
    await deliver(host.handle, created, { id: 'evt_1' })
    const line = host.lines.find(({ message }) => message === 'DEPLOYMENT_CREATED 200')
    expect(line).toBeDefined()
    expect(seen).toEqual([...steps, line?.facts])
  })

  it('sees a failure pass, and leaves it as it is', async () => {
    const { seen, host } = createWatched(async () => {
      throw new IntegrationError('provider_rejected', 'No.')
    })
    expect(await deliver(host.handle, created)).toMatchObject({ body: { code: 'provider_rejected' } })
    expect(seen).toEqual([
      ...steps,
      expect.objectContaining({ outcome: 'refused', code: 'provider_rejected' }),
    ])
  })

  it('is told of what is replayed or refused, for which no step is taken', async () => {
    const { seen, host } = createWatched()
    const greet = calling('greet', { to: 'Ada' })
    await deliver(host.handle, greet, { id: 'evt_1' })
    seen.length = 0
    await deliver(host.handle, greet, { id: 'evt_1' })
    await deliver(host.handle, { name: 'NOTHING' })
    expect(seen).toMatchObject([
      { event: 'FUNCTION_CALL', outcome: 'replayed' },
      { event: undefined, outcome: 'refused', code: 'invalid_event' },
    ])
  })

  it('that watches nothing changes nothing', async () => {
    const host = createHost({ observer: {} })
    expect((await deliver(host.handle, created)).status).toBe(200)
    expect(host.told()).toHaveLength(4)
  })
})
