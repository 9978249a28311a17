import { describe, expect, it } from 'vitest'
import type { OpenExchange } from '../src/exchange.ts'
import { createMask } from '../src/mask.ts'
import { bodyOf, toSession } from '../src/session.ts'
import { createTimeline } from '../src/timeline.ts'

function exchange(number: number, details: Partial<OpenExchange> = {}): OpenExchange {
  const event = { name: 'HEALTH_CHECK' }
  return {
    number,
    at: 0,
    source: undefined,
    route: 'mailer',
    deliveryId: undefined,
    signed: false,
    headers: [],
    text: JSON.stringify(event),
    event,
    calls: [],
    log: [],
    answer: undefined,
    durationMs: undefined,
    ...details,
  }
}

const numbers = (timeline: ReturnType<typeof createTimeline>) => timeline.list().map(({ number }) => number)

describe('the timeline', () => {
  it('keeps the newest events, and lists them first', () => {
    const timeline = createTimeline({ maxEntries: 3 })
    for (const number of [1, 2, 3, 4, 5]) timeline.record(exchange(number))
    expect(numbers(timeline)).toEqual([5, 4, 3])
  })

  it('gives up old events for the room that bodies take, but never the newest', () => {
    const timeline = createTimeline({ maxCharacters: 1_000 })
    for (const number of [1, 2, 3]) timeline.record(exchange(number, { text: 'x'.repeat(400) }))
    expect(numbers(timeline)).toEqual([3, 2])
    timeline.record(exchange(4, { text: 'x'.repeat(5_000) }))
    expect(numbers(timeline)).toEqual([4])
  })

  it('counts an event once, however often it changes', () => {
    const timeline = createTimeline({ maxCharacters: 1_000 })
    for (let change = 0; change < 50; change += 1) timeline.record(exchange(1, { text: 'x'.repeat(400) }))
    timeline.record(exchange(2, { text: 'x'.repeat(400) }))
    expect(numbers(timeline)).toEqual([2, 1])
  })

  it('does not bring an event back whose answer comes after it was given up', () => {
    const timeline = createTimeline({ maxEntries: 1 })
    timeline.record(exchange(1))
    timeline.record(exchange(2))
    timeline.record(exchange(1, { durationMs: 5 }))
    expect(numbers(timeline)).toEqual([2])
  })

  it('forgets the body of an event that is too long to be sent again', () => {
    const timeline = createTimeline()
    expect(timeline.record(exchange(1, { text: 'x'.repeat(2 * 1024 * 1024) })).body).toBeUndefined()
    expect(timeline.record(exchange(2, { text: 'x' })).body).toBe('x')
  })
})

describe('a session', () => {
  it('holds each body byte by byte, whether it is JSON or not', () => {
    const bodies = [
      '{"name":"HEALTH_CHECK"}',
      '{ "name": "HEALTH_CHECK" }\n',
      '{"a":1,"a":2}',
      '{"name": ',
      '',
    ]
    const entries = bodies.map((text, index) => createTimeline().record(exchange(index + 1, { text })))
    const session = JSON.parse(JSON.stringify(toSession(entries)))
    expect(session.events.map(bodyOf)).toEqual(bodies)
  })

  it('holds no secret where it is to be clean, however its JSON is written', () => {
    const texts = ['{"password":"hunter-two"}', '{ "password": "hunter-two" }', 'password known-secret']
    const entries = texts.map((text, index) => createTimeline().record(exchange(index + 1, { text })))
    const session = JSON.stringify(toSession(entries, createMask(['known-secret'])))
    expect(session).not.toMatch(/hunter-two|known-secret/)
    expect(session.match(/\[redacted\]/g)).toHaveLength(3)
  })
})
