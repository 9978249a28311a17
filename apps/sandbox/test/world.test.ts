import { serve } from '@org/core/testing'
import { createHost, readConfig } from '@org/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createPrinter } from '../src/walk/print.ts'
import { runWalks } from '../src/walk/run-walks.ts'
import { walksOf } from '../src/walk/walks.ts'
import type { OpenExchange } from '../src/world/exchange.ts'
import { createTimeline } from '../src/world/timeline.ts'
import { type StartHost, startWorld } from '../src/world/world.ts'

/** The sandbox knows only the URL of this host. */
const startHost: StartHost = (variables) => {
  const host = createHost(readConfig(variables), { environment: variables, logger: () => {} })
  return serve(async (request) => host.fetch(request))
}

it('a host elsewhere passes every walk', async () => {
  const world = await startWorld({ PORT: '0', NODE_ENV: 'production' }, startHost)
  onTestFinished(world.close)
  let output = ''
  const write = (text: string) => (output += text)
  const printer = createPrinter({ write, colours: false }, world)
  const { passed, failed } = await runWalks(walksOf(world), world, printer, new AbortController().signal)
  expect(failed, output).toBe(0)
  expect(passed).toBeGreaterThan(40)
})

describe('the timeline', () => {
  const exchange = (number: number, text = '{"name":"HEALTH_CHECK"}'): OpenExchange => ({
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
  })

  it.each([
    ['the newest, and a late response does not bring back a dropped one', [1, 2, 3, 4, 5, 1], [5, 4, 3]],
    ['as many as the memory has room for', [1, 2, 2, 2, '3 600'], ['3', 2]],
    ['the newest, even if it needs too much memory', [1, 2, '3 5000'], ['3']],
  ])('keeps events: %s', (_, arriving, kept) => {
    const timeline = createTimeline({ maxEntries: 3, maxCharacters: 1_000 })
    for (const one of arriving) {
      const [number, length = 300] = String(one).split(' ').map(Number)
      timeline.record(exchange(number ?? 0, 'x'.repeat(length)))
    }
    expect(timeline.list().map(({ number }) => number)).toEqual(kept.map(Number))
  })

  it('drops a body that is too long to be sent again', () => {
    const timeline = createTimeline()
    expect(timeline.record(exchange(1, 'x'.repeat(2 * 1024 * 1024))).body).toBeUndefined()
    expect(timeline.record(exchange(2, 'x')).body).toBe('x')
  })
})
