import type { HandlerContext } from '@org/core'
import { createDeliveryStore } from '@org/core/stores'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { calling, created, createHost, greet, type ProviderCall } from './fixtures.ts'
import written from './format-4.json' with { type: 'json' }

/** A minute after the records were written. */
const time = Date.parse(written.at) + 60_000
const long = calling('greet', { to: `Ada ${'ü'.repeat(20_000)}` })

/** A host on the records that an earlier version wrote. */
function createSuccessor(name: 'keyed' | 'unkeyed') {
  const { recordKeys, records }: { recordKeys: string[]; records: Record<string, string> } = written[name]
  const texts = new Map(Object.entries(records))
  const read: unknown[] = []
  const host = createHost({
    recordKeys,
    now: () => time,
    provider: async (_: ProviderCall, { progress }: HandlerContext) => {
      read.push(progress?.read('note'))
    },
    store: createDeliveryStore(
      {
        now: () => time,
        read: async (key) => ({ text: texts.get(key), time }),
        swap: async (key, _, { text }) => texts.set(key, text).has(key),
        probe: async () => {},
      },
      recordKeys,
    ),
  })
  return { ...host, read }
}

describe.each(['keyed', 'unkeyed'] as const)('a record of format 4 of a host that is %s', (name) => {
  it.each([
    ['a call', greet, 'evt_short', { result: { id: 'greeting-to-Ada' } }],
    [
      'a call with a long response',
      long,
      'evt_long',
      { result: { id: `greeting-to-${long.functionCall.arguments?.to}` } },
    ],
    ['a creation', created, 'evt_created', { status: 'running', outputs: { region: 'eu' } }],
  ])('answers the redelivery of %s', async (_, event, id, body) => {
    const host = createSuccessor(name)
    const again = await deliver(host.handle, event, { id })
    expect([again.status, again.headers.get('idempotency-replayed'), again.body]).toEqual([200, 'true', body])
    expect(host.providerCalls).toEqual([])
  })

  it('lets a call go on from its encrypted step', async () => {
    const host = createSuccessor(name)
    expect((await deliver(host.handle, greet, { id: 'evt_step' })).status).toBe(200)
    expect(host.read).toEqual([{ sent: ['ada@example.com'] }])
  })

  it('refuses another body under the same id', async () => {
    const host = createSuccessor(name)
    expect(await deliver(host.handle, calling('greet', { to: 'Bob' }), { id: 'evt_short' })).toMatchObject({
      status: 422,
      body: { code: 'invalid_event' },
    })
  })
})
