import { serve } from '@org/core/testing'
import { createHost, readConfig } from '@org/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { walks } from '../src/walk/index.ts'
import { createPrinter } from '../src/walk/print.ts'
import { runWalks } from '../src/walk/run-walks.ts'
import type { StartHost } from '../src/world/elsewhere.ts'
import type { OpenExchange } from '../src/world/exchange.ts'
import type { Environment } from '../src/world/listen.ts'
import { createMask } from '../src/world/mask.ts'
import { bodyOf, toSession } from '../src/world/session.ts'
import { createTimeline } from '../src/world/timeline.ts'
import { startWorld } from '../src/world/world.ts'
import { webhookSecret } from './fixtures.ts'

/** The sandbox knows only the URL of this host. */
const startHost: StartHost = (variables) => {
  const host = createHost(readConfig(variables), { environment: variables, logger: () => {} })
  return serve(async (request) => host.fetch(request))
}

async function startForTest(environment: Environment = {}) {
  const world = await startWorld({ PORT: '0', ...environment }, { startHost })
  onTestFinished(world.close)
  return world
}

describe('a host elsewhere', () => {
  it('passes every walk with signed events, because the sandbox observes its calls at the emulators', async () => {
    const world = await startForTest({ PLATFORM_WEBHOOK_SECRET: webhookSecret, NODE_ENV: 'production' })
    let output = ''
    const write = (text: string) => (output += text)
    const printer = createPrinter({ write, writeError: write, width: 100, colours: false }, world, true)
    const { passed, failed } = await runWalks(walks, world, printer, new AbortController().signal)
    expect(failed, output).toBe(0)
    expect(output).toMatch(/delivery evt_order_1 · signed/)
    expect(passed).toBe(walks.flatMap(({ steps }) => steps).length)
  })

  it('sees a cut connection as such', async () => {
    const world = await startForTest()
    world.mail.emulator?.faults.add({ path: '/server', cut: 'before', times: 9 })
    const body = JSON.stringify({ name: 'HEALTH_CHECK' })
    const { response, calls } = await world.deliver({ route: 'mailer', body, id: 'evt_1' }, 'walk')
    expect(response.body).toMatchObject({ status: 'unhealthy' })
    expect(calls).not.toEqual([])
    for (const call of calls)
      expect(call).toMatchObject({ path: '/server', status: undefined, failure: 'connection cut' })
  })

  it('needs emulated providers', async () => {
    const keys = { IDP_SHARED_PUBLISHABLE_KEY: 'pk_test_x', IDP_SHARED_SECRET_KEY: 'sk_test_x' }
    await expect(startForTest(keys)).rejects.toThrow('IDP_API_BASE: it is not emulated')
  })
})

function exchange(number: number, text = '{"name":"HEALTH_CHECK"}'): OpenExchange {
  return {
    number,
    at: 0,
    source: undefined,
    ticket: undefined,
    route: 'mailer',
    deliveryId: undefined,
    signed: false,
    request: { headers: [], text, body: undefined },
    calls: [],
    log: [],
    response: undefined,
    durationMs: undefined,
  }
}

const numbers = (timeline: ReturnType<typeof createTimeline>) => timeline.list().map(({ number }) => number)

describe('the timeline', () => {
  it('keeps the newest events, and a late response does not bring back a dropped one', () => {
    const timeline = createTimeline({ maxEntries: 3 })
    for (const number of [1, 2, 3, 4, 5, 1]) timeline.record(exchange(number))
    expect(numbers(timeline)).toEqual([5, 4, 3])
  })

  it('drops old events when their bodies need too much memory, but never the newest event', () => {
    const timeline = createTimeline({ maxCharacters: 1_000 })
    for (const number of [1, 2, 2, 2, 3]) timeline.record(exchange(number, 'x'.repeat(400)))
    expect(numbers(timeline)).toEqual([3, 2])
    timeline.record(exchange(4, 'x'.repeat(5_000)))
    expect(numbers(timeline)).toEqual([4])
  })

  it('drops a body that is too long to be sent again', () => {
    const timeline = createTimeline()
    expect(timeline.record(exchange(1, 'x'.repeat(2 * 1024 * 1024))).body).toBeUndefined()
    expect(timeline.record(exchange(2, 'x')).body).toBe('x')
  })
})

describe('a session', () => {
  const record = (text: string, index: number) => createTimeline().record(exchange(index + 1, text))

  it('keeps every byte of a body, whether it is JSON or not', () => {
    const bodies = ['{"name":"x"}', '{ "name": "x" }\n', '{"a":1,"a":2}', '{"name": ', '']
    const session = JSON.parse(JSON.stringify(toSession(bodies.map(record))))
    expect(session.events.map(bodyOf)).toEqual(bodies)
  })

  it('contains no secret if it is to be clean, however its JSON is written', () => {
    const texts = ['{"password":"hunter-two"}', '{ "password": "hunter-two" }', 'password known-secret']
    const session = JSON.stringify(toSession(texts.map(record), createMask(['known-secret'])))
    expect(session).not.toMatch(/hunter-two|known-secret/)
    expect(session.match(/\[redacted\]/g)).toHaveLength(3)
  })
})
