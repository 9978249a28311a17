import { expect, it } from 'vitest'
import { createTimeline } from '../src/world/timeline.ts'

it.each([
  ['the newest, and a late response does not bring back a dropped one', [1, 2, 3, 4, 5, 1], [5, 4, 3]],
  ['as many as the memory has room for', [1, 2, 2, 2, '3 600'], [3, 2]],
  ['the newest, even if it needs too much memory', [1, 2, '3 5000'], [3]],
  ['no body that is too long to be sent again', ['1 2000000'], []],
])('the timeline keeps %s', (_, arriving, kept) => {
  const timeline = createTimeline({ maxEntries: 3, maxCharacters: 1_000 })
  for (const one of arriving) {
    const [number = 0, length = 300] = String(one).split(' ').map(Number)
    timeline.record({
      ...{ number, at: 0, route: 'mailer', signed: false, calls: [], log: [] },
      ...{ source: undefined, ticket: undefined, deliveryId: undefined },
      request: { headers: [], text: 'x'.repeat(length), body: undefined },
    })
  }
  const entries = timeline.list().filter(({ body }) => body !== undefined)
  expect(entries.map(({ number }) => number)).toEqual(kept)
})
