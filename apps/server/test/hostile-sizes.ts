/**
 * Requests of one to four megabytes, and what a sender may put into them: many small things, or one long one.
 */
import * as fc from 'fast-check'
import { routes } from './corpus.ts'
import { containersOf, events } from './fuzzing.ts'
import { calling, mailDeployment } from './hosted.ts'

/** A large request. */
export interface HostileRequest {
  name: string
  route: string
  /** Made when it is sent: all together would not fit into memory. */
  body: () => string
  headers?: Record<string, string>
  /** @default true */
  signed?: boolean
}

/** A little less than a request may have. In bytes. */
const MOST = 4_000_000
const fill = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length))
const listOf = <Item>(length: number, item: (at: number) => Item) =>
  Array.from({ length }, (_, at) => item(at))
const keys = (count: number, length = 8) =>
  Object.fromEntries(listOf(count, (at) => [`k${at}`.padEnd(length, 'x'), 'v']))
const addresses = (count: number) => listOf(count, (at) => `a${at}@b.co`)
const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
const slashes = () => `https://mail.example.com${fill('/', 80_000)}x`
const message = { to: 'ada@example.com', subject: 'Hi', textBody: 'x' }

/** Hostile values, for any place of an event. */
const values: Record<string, () => unknown> = {
  '190,000 zeros': () => Array(190_000).fill(0),
  '190,000 empty objects': () => Array(190_000).fill({}),
  '4,900 keys': () => keys(4_900),
  '4,900 keys of 800 bytes': () => keys(4_900, 800),
  '4,900 keys in each of 38 objects': () => Array(38).fill(keys(4_900)),
  '19,000 different keys': () =>
    listOf(1_900, (at) => Object.fromEntries(listOf(10, (key) => [`${at}-${key}`, 0]))),
  '90,000 keys with escapes': () => Array(9_000).fill(Object.fromEntries(listOf(10, (at) => [`"${at}`, 0]))),
  '190,000 addresses': () => addresses(190_000),
  '20 levels, 9,000 times': () => Array(9_000).fill(nested(20)),
  '4 MB of one letter': () => fill('a', MOST),
  '4 MB of spaces': () => fill(' ', MOST),
  '4 MB of addresses': () => fill('a@b.co,', MOST),
  '4 MB of opened quotes and angles': () => fill('"<@', (MOST * 3) / 4),
  '4 MB of opened references': () => fill('{{env.A', MOST),
  '4 MB of dots': () => fill('a.', MOST),
  '4 MB of line breaks': () => fill('\r\n', MOST / 2),
  '4 MB of letters of two bytes': () => fill('ü\u2028', (MOST * 2) / 5),
  'a URL with 80 kB of slashes': slashes,
  'a URL of 4 MB': () => `https://mail.example.com/${fill('a', MOST)}`,
  'a host name of 4 MB': () => `https://${fill('a.', MOST)}com`,
}

const callOf = (name: string, given: () => object) => () => JSON.stringify(calling(name, given()))
const mails = (count: number) => listOf(count, (at) => ({ ...message, to: `a${at}@b.co` }))

/** Whole requests that were dangerous once, and requests that no event holds. */
const requests: Omit<HostileRequest, 'route'>[] = [
  { name: '4 MB of opened lists', body: () => fill('[', MOST) },
  { name: '4 MB of opened objects', body: () => fill('{"a":', MOST) },
  { name: '4 MB of spaces before the event', body: () => `${fill(' ', MOST)}{}` },
  { name: 'a number of 4 MB', body: () => fill('1', MOST) },
  { name: 'a string that does not end', body: () => `"${fill('\\"', MOST)}` },
  { name: '4 MB of zeros', body: () => `[${fill('0,', MOST)}0]` },
  { name: 'an event name of 4 MB', body: () => JSON.stringify({ name: fill('A', MOST) }) },
  {
    name: '4,900 keys beside the name',
    body: () => JSON.stringify({ name: 'HEALTH_CHECK', ...keys(4_900) }),
  },
  {
    name: 'a challenge of 4 MB',
    body: () => JSON.stringify({ name: 'WEBHOOK_CHALLENGE', challenge: fill('c', MOST) }),
  },
  { name: 'a function name of 4 MB', body: callOf(fill('sendEmail', MOST), () => ({})) },
  { name: '4 MB without a signature', body: () => fill('x', MOST), signed: false },
  {
    name: 'headers of 15 kB',
    body: () => '{"name":"HEALTH_CHECK"}',
    headers: { 'x-long': fill('x', 15_000) },
  },
  {
    name: 'thousands of signatures',
    body: () => '{"name":"HEALTH_CHECK"}',
    headers: { 'webhook-id': 'evt', 'webhook-signature': fill('v1,aa ', 14_000), 'webhook-timestamp': '1' },
    signed: false,
  },
]

const functions: Record<string, [name: string, given: () => object][]> = {
  mailer: [
    ['sendEmails', () => ({ messages: Array(190_000).fill(0) })],
    ['sendEmails', () => ({ messages: Array(190_000).fill({}) })],
    ['sendEmails', () => ({ messages: mails(10_000) })],
    ['sendEmails', () => ({ messages: listOf(1_900, () => ({ ...message, ...keys(100) })) })],
    ['sendEmails', () => ({ to: addresses(190_000), subject: 'Hi', textBody: 'x' })],
    ['sendEmails', () => ({ to: addresses(200), subject: 'Hi', textBody: fill('x', MOST - 10_000) })],
    ['sendEmails', () => ({ to: addresses(10_000), subject: 'Hi', textBody: fill('x', 100_000) })],
    ['sendEmail', () => ({ ...message, cc: addresses(190_000) })],
    ['sendEmail', () => ({ ...message, ...keys(4_900) })],
    ['sendEmail', () => ({ ...message, textBody: fill('x', MOST) })],
    ['sendEmail', () => ({ ...message, htmlBody: fill('ü\u0000', MOST / 4) })],
    [
      'sendEmail',
      () => ({ ...message, attachments: listOf(60_000, () => ({ name: 'a', content: 'aGk=' })) }),
    ],
    ['sendEmail', () => ({ ...message, headers: keys(4_900), metadata: keys(4_900) })],
  ],
  idp: [
    ['createUser', () => ({ emailAddress: addresses(190_000) })],
    ['createUser', () => ({ emailAddress: ['a@b.co'], privateMetadata: { list: Array(190_000).fill(0) } })],
    ['createUser', () => ({ emailAddress: ['a@b.co'], ...keys(4_900) })],
    ['listUsers', () => ({ emailAddress: addresses(190_000) })],
  ],
}

/** Calls for a deployment whose own server has a long URL. */
const longUrls: Omit<HostileRequest, 'route'>[] = [
  {
    name: 'an input with 80 kB of slashes',
    body: () => JSON.stringify({ name: 'HEALTH_CHECK', deployment: mailDeployment('dep_1', slashes()) }),
  },
  {
    name: 'an output with 80 kB of slashes',
    body() {
      const outputs = { apiToken: 'token', apiUrl: slashes(), messageStream: 'outbound' }
      return JSON.stringify({ ...calling('getDeliveryStats'), deployment: { id: 'dep_1', outputs } })
    },
  },
]

/** Each request above on each of its routes. */
export const namedRequests: readonly HostileRequest[] = [
  ...routes.flatMap((route) => requests.map((request) => ({ ...request, route }))),
  ...longUrls.map((request) => ({ ...request, route: 'mailer' })),
  ...Object.entries(functions).flatMap(([route, calls]) =>
    calls.map(([name, given], at) => ({
      name: `${name} ${at + 1}: ${Object.keys(given()).slice(0, 4).join(', ')}`,
      route,
      body: callOf(name, given),
    })),
  ),
]

/** A call for one of many deployments, which all use the shared mail server. */
const callFor = (at: number, name: string, given: object) =>
  JSON.stringify({
    ...calling(name, given),
    deployment: { id: `dep_${at}`, inputs: { serverType: 'shared' } },
  })
const fullBatch = () => listOf(10_000, (at) => ({ ...message, to: `a${at}@b.co`, textBody: fill('x', 320) }))

/** Requests that several senders send at the same moment. */
const crowds: { name: string; count: number; body: (at: number) => string; signed?: boolean }[] = [
  {
    name: 'a valid batch of 10,000 messages and 4 MB for each of eight deployments',
    count: 8,
    body: (at) => callFor(at, 'sendEmails', { messages: fullBatch() }),
  },
  {
    name: 'eight valid batches of 10,000 messages for one deployment',
    count: 8,
    body: () => callFor(1, 'sendEmails', { messages: fullBatch() }),
  },
  {
    name: 'a batch of 10,000 wrong messages for each of eight deployments',
    count: 8,
    body: (at) => callFor(at, 'sendEmails', { messages: Array(10_000).fill({ to: 'nobody', subject: 1 }) }),
  },
  {
    name: 'a body of 3 MB for 10,000 recipients, from four deployments',
    count: 4,
    body: (at) =>
      callFor(at, 'sendEmails', { to: addresses(10_000), subject: 'Hi', textBody: fill('x', 3_000_000) }),
  },
  {
    name: 'a body of 29 kB for 1,000 recipients, from forty deployments',
    count: 40,
    body: (at) =>
      callFor(at, 'sendEmails', { to: addresses(1_000), subject: 'Hi', textBody: fill('x', 29_000) }),
  },
  {
    name: 'a hundred mails with 3,000 unknown keys, from a hundred deployments',
    count: 100,
    body: (at) => callFor(at, 'sendEmail', { ...message, ...keys(3_000) }),
  },
  {
    name: 'two hundred and fifty health checks of 60 kB',
    count: 250,
    body: (at) =>
      JSON.stringify({ name: 'HEALTH_CHECK', deployment: { id: `dep_${at}` }, more: fill('x', 60_000) }),
  },
  {
    name: 'sixteen mails with a file of 4 MB',
    count: 16,
    body(at) {
      const attachments = [{ name: 'a.bin', contentType: 'image/png', content: fill('AAAA', MOST - 1_000) }]
      return callFor(at, 'sendEmail', { ...message, attachments })
    },
  },
  {
    name: 'sixteen events with 38 objects of 4,900 keys',
    count: 16,
    body: (at) => callFor(at, 'sendEmail', { ...message, metadata: Array(38).fill(keys(4_900)) }),
  },
  {
    name: 'sixty-four events of 1 MB',
    count: 64,
    body: (at) => callFor(at, 'sendEmails', { messages: mails(10_000) }),
  },
  {
    name: 'thirty-two uploads of 4 MB without a valid signature',
    count: 32,
    body: () => fill('x', MOST),
    signed: false,
  },
]

/** Requests that are sent at a time. */
export const hostileCrowds: readonly HostileRequest[][] = crowds.map(({ count, body, ...crowd }) =>
  listOf(count, (at) => ({ ...crowd, route: 'mailer', body: () => body(at) })),
)

const place = fc.record({
  event: fc.constantFrom(...events),
  at: fc.nat(),
  value: fc.constantFrom(...Object.entries(values)),
})

/** Valid events with one value too large, at random. */
export function sampleRequests(seed: number, count: number): HostileRequest[] {
  return fc
    .sample(place, { seed, numRuns: count })
    .map(({ event: { route, event }, at, value: [size, make] }) => {
      const whole = structuredClone(event)
      const places = containersOf(whole).flatMap((container) =>
        Object.keys(container).map((key) => ({ container, key })),
      )
      const { container, key } = places[at % places.length] ?? { container: whole, key: 'name' }
      return {
        name: `${event.functionCall?.name ?? event.name}: ${key} is ${size}`,
        route,
        body() {
          Reflect.set(container, key, make())
          return JSON.stringify(whole)
        },
      }
    })
}
