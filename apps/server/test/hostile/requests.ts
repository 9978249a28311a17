/** Requests of one to four megabytes, and what a sender may put into them: many small things, or one long one. */
import { sign } from '@org/core'
import * as fc from 'fast-check'
import { calling, mail } from '../hosted.ts'
import { secret } from '../shipped.ts'
import { events, placesOf } from './rules.ts'

/** A large request. */
interface HostileRequest {
  name: string
  /** @default 'mailer' */
  route?: string
  /** Made when it is sent: all together would not fit into memory. */
  body: () => string
  headers?: Record<string, string>
  /** @default true */
  signed?: boolean
}

/** Longest time for a response. */
const PATIENCE_MS = 60_000

/** A little less than a request may have. In bytes. */
const MOST = 4_000_000
const fill = (text: string, bytes = MOST) => text.repeat(Math.floor(bytes / text.length))
const listOf = <Item>(length: number, item: (at: number) => Item) =>
  Array.from({ length }, (_, at) => item(at))
const keys = (count: number, length = 8) =>
  Object.fromEntries(listOf(count, (at) => [`k${at}`.padEnd(length, 'x'), 'v']))
const addresses = (count: number) => listOf(count, (at) => `a${at}@b.co`)
const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
const mails = (count: number, more: object = {}) =>
  listOf(count, (at) => ({ ...mail, to: `a${at}@b.co`, ...more }))

/** Hostile values, for any place of an event. */
const values: Record<string, () => unknown> = {
  '190,000 zeros': () => Array(190_000).fill(0),
  '190,000 empty objects': () => Array(190_000).fill({}),
  '4,900 keys of 800 bytes': () => keys(4_900, 800),
  '4,900 keys in each of 38 objects': () => Array(38).fill(keys(4_900)),
  '19,000 different keys': () =>
    listOf(1_900, (at) => Object.fromEntries(listOf(10, (key) => [`${at}-${key}`, 0]))),
  '90,000 keys with escapes': () => Array(9_000).fill(Object.fromEntries(listOf(10, (at) => [`"${at}`, 0]))),
  '190,000 addresses': () => addresses(190_000),
  '20 levels, 9,000 times': () => Array(9_000).fill(nested(20)),
  '4 MB of one letter': () => fill('a'),
  '4 MB of spaces': () => fill(' '),
  '4 MB of addresses': () => fill('a@b.co,'),
  '4 MB of opened quotes and angles': () => fill('"<@', (MOST * 3) / 4),
  '4 MB of opened references': () => fill('{{env.A'),
  '4 MB of dots': () => fill('a.'),
  '4 MB of line breaks': () => fill('\r\n', MOST / 2),
  '4 MB of letters of two bytes': () => fill('ü\u2028', (MOST * 2) / 5),
  'a URL with 80 kB of slashes': () => `https://mail.example.com${fill('/', 80_000)}x`,
  'a URL of 4 MB': () => `https://mail.example.com/${fill('a')}`,
  'a host name of 4 MB': () => `https://${fill('a.')}com`,
}

const eventOf = (name: string, more: object = {}) => JSON.stringify({ name, ...more })
/** Whole requests that were dangerous once, and requests that no event holds. */
const whole: HostileRequest[] = [
  { name: '4 MB of opened lists', body: () => fill('[') },
  { name: '4 MB of opened objects', body: () => fill('{"a":') },
  { name: '4 MB of spaces before the event', body: () => `${fill(' ')}{}` },
  { name: 'a number of 4 MB', body: () => fill('1') },
  { name: 'a string that does not end', body: () => `"${fill('\\"')}` },
  { name: '4 MB of zeros', body: () => `[${fill('0,')}0]` },
  { name: 'an event name of 4 MB', body: () => eventOf(fill('A')) },
  { name: '4,900 keys beside the name', body: () => eventOf('HEALTH_CHECK', keys(4_900)) },
  { name: 'a challenge of 4 MB', body: () => eventOf('WEBHOOK_CHALLENGE', { challenge: fill('c') }) },
  { name: 'a function name of 4 MB', body: () => JSON.stringify(calling(fill('sendEmail'))) },
  { name: '4 MB without a signature', body: () => fill('x'), signed: false },
  { name: 'headers of 15 kB', body: () => eventOf('HEALTH_CHECK'), headers: { 'x-long': fill('x', 15_000) } },
  { name: '4 MB that are compressed', body: () => fill('x'), headers: { 'content-encoding': 'gzip' } },
  {
    name: 'thousands of signatures',
    body: () => eventOf('HEALTH_CHECK'),
    headers: { 'webhook-id': 'evt', 'webhook-signature': fill('v1,aa ', 14_000), 'webhook-timestamp': '1' },
    signed: false,
  },
]

const calls: [route: string, name: string, given: () => object][] = [
  ['mailer', 'sendEmails', () => ({ messages: Array(40_000).fill({}) })],
  ['mailer', 'sendEmails', () => ({ messages: mails(10_000) })],
  ['mailer', 'sendEmails', () => ({ messages: mails(1_900, keys(100)) })],
  ['mailer', 'sendEmails', () => ({ ...mail, to: addresses(200), textBody: fill('x', MOST - 10_000) })],
  ['mailer', 'sendEmails', () => ({ ...mail, to: addresses(10_000), textBody: fill('x', 100_000) })],
  ['mailer', 'sendEmail', () => ({ ...mail, ...keys(4_900) })],
  ['mailer', 'sendEmail', () => ({ ...mail, htmlBody: fill('ü\u0000', MOST / 4) })],
  [
    'mailer',
    'sendEmail',
    () => ({ ...mail, attachments: listOf(60_000, () => ({ name: 'a', content: 'aGk=' })) }),
  ],
  ['mailer', 'sendEmail', () => ({ ...mail, headers: keys(4_900), metadata: keys(4_900) })],
  ['idp', 'createUser', () => ({ emailAddress: 'a@b.co', ...keys(4_900) })],
]

/** Each request above. */
const named: readonly HostileRequest[] = [
  ...whole,
  ...calls.map(([route, name, given], at) => ({
    name: `${name}, request ${at + 1}`,
    route,
    body: () => JSON.stringify(calling(name, given())),
  })),
]

/** A call for one of many deployments, which all use the shared mail server. */
const callFor = (at: number, name: string, given: object) =>
  JSON.stringify({
    ...calling(name, given),
    deployment: { id: `dep_${at}`, inputs: { serverType: 'shared' } },
  })
const fullBatch = () => ({ messages: mails(10_000, { textBody: fill('x', 320) }) })
const attached = () => [{ name: 'a.bin', contentType: 'image/png', content: fill('AAAA', MOST - 1_000) }]
const news = (recipients: number, bytes: number) => ({
  ...mail,
  to: addresses(recipients),
  textBody: fill('x', bytes),
})

/** Requests that several senders send at the same moment. */
const crowds: [count: number, name: string, body: (at: number) => string, signed?: boolean][] = [
  [8, 'a full batch for each of 8 deployments', (at) => callFor(at, 'sendEmails', fullBatch())],
  [8, '8 full batches for one deployment', () => callFor(1, 'sendEmails', fullBatch())],
  [
    8,
    '10,000 wrong messages for each of 8 deployments',
    (at) => callFor(at, 'sendEmails', { messages: Array(10_000).fill({ to: 'nobody', subject: 1 }) }),
  ],
  [4, '3 MB for 10,000 recipients', (at) => callFor(at, 'sendEmails', news(10_000, 3_000_000))],
  [40, '29 kB for 1,000 recipients', (at) => callFor(at, 'sendEmails', news(1_000, 29_000))],
  [100, 'a mail with 3,000 unknown keys', (at) => callFor(at, 'sendEmail', { ...mail, ...keys(3_000) })],
  [250, 'a health check of 60 kB', () => eventOf('HEALTH_CHECK', { more: fill('x', 60_000) })],
  [16, 'a mail with a file of 4 MB', (at) => callFor(at, 'sendEmail', { ...mail, attachments: attached() })],
  [
    16,
    '38 objects of 4,900 keys',
    (at) => callFor(at, 'sendEmail', { ...mail, metadata: Array(38).fill(keys(4_900)) }),
  ],
  [64, 'an event of 1 MB', (at) => callFor(at, 'sendEmails', { messages: mails(10_000) })],
  [32, 'an upload of 4 MB without a valid signature', () => fill('x'), false],
]

const place = fc.record({
  event: fc.constantFrom(...events),
  at: fc.nat(),
  value: fc.constantFrom(...Object.entries(values)),
})

/** Valid events with one value too large, at random. */
function sample(seed: number, count: number): HostileRequest[] {
  return fc
    .sample(place, { seed, numRuns: count })
    .map(({ event: { route, event }, at, value: [size, make] }) => {
      const whole = structuredClone(event)
      const places = placesOf(whole)
      const { container, key } = places[at % places.length] ?? { container: whole, key: 'name' }
      const body = () => {
        Reflect.set(container, key, make())
        return JSON.stringify(whole)
      }
      return { name: `${event.functionCall?.name ?? event.name}: ${key} is ${size}`, route, body }
    })
}

/** Requests that are sent at a time: each of the named ones alone, each crowd, and then three at random, without end. */
export function* hostileSteps(seed: number): Generator<readonly HostileRequest[]> {
  for (const request of named) yield [request]
  for (const [count, name, body, signed = true] of crowds)
    yield listOf(count, (at) => ({ name: `${count} × ${name}`, signed, body: () => body(at) }))
  for (let next = seed; ; next += 1) yield sample(next, 3)
}

/**
 * Prepares requests. Whoever sends on the host's machine would take its processors.
 *
 * @returns sends them at the same time
 */
export async function prepare(
  url: string,
  requests: readonly HostileRequest[],
): Promise<() => Promise<void>> {
  const whole = requests.map(async ({ name, route = 'mailer', headers, signed = true, body: make }) => {
    const body = new TextEncoder().encode(make())
    const own = signed ? await sign({ secret, id: crypto.randomUUID(), body }) : {}
    const all = { 'content-type': 'application/json', ...own, ...headers }
    return { name, url: `${url}/${route}/webhook`, init: { method: 'POST', headers: all, body } }
  })
  const prepared = await Promise.all(whole)
  const send = async ({ name, url, init }: (typeof prepared)[number]) => {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    try {
      await (await fetch(url, { ...init, signal })).arrayBuffer()
    } catch (cause) {
      // The host may refuse a body before it has read it.
      if (signal.aborted) throw new Error(`There is no response to ${name}.`, { cause })
    }
  }
  return async () => void (await Promise.all(prepared.map(send)))
}
