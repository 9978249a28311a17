import { describe, expect, it } from 'vitest'
import type { OpenExchange } from '../src/world/exchange.ts'
import { createTimeline } from '../src/world/timeline.ts'

describe('the timeline', () => {
  const exchange = (number: number, text = '{"name":"HEALTH_CHECK"}'): OpenExchange => ({
    ...{ number, at: 0, route: 'mailer', signed: false, calls: [], log: [] },
    ...{ source: undefined, ticket: undefined, deliveryId: undefined },
    request: { headers: [], text, body: undefined },
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
