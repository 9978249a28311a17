/** Requests of up to four megabytes, and what a sender may put into them: many small things, or one long one. */
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
  /** Makes it when it is sent: all together would not fit into memory. */
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
/** A call for one of many deployments, which all use the shared mail server. */
const callFor = (at: number, name: string, given: object) =>
  JSON.stringify({
    ...calling(name, given),
    deployment: { id: `dep_${at}`, inputs: { serverType: 'shared' } },
  })
const sendFor = (at: number, given: object) => callFor(at, 'sendEmail', { ...mail, ...given })
const batchFor = (at: number, messages: object[]) => callFor(at, 'sendEmails', { messages })
const newsFor = (at: number, recipients: number, bytes: number) =>
  callFor(at, 'sendEmails', { ...mail, to: addresses(recipients), textBody: fill('x', bytes) })
const fullBatch = () => mails(10_000, { textBody: fill('x', 320) })
const files = (count: number, content: string) => ({ attachments: Array(count).fill({ name: 'a', content }) })
const signatures = { 'webhook-id': 'evt', 'webhook-timestamp': '1' }

type Crowd = [senders: number, body: (at: number) => string, more?: Omit<HostileRequest, 'name' | 'body'>]

/** Requests that were dangerous once, or that no event holds. */
const crowds: Record<string, Crowd> = {
  '4 MB of opened lists': [1, () => fill('[')],
  '4 MB of opened objects': [1, () => fill('{"a":')],
  '4 MB of spaces before the event': [1, () => `${fill(' ')}{}`],
  'a number of 4 MB': [1, () => fill('1')],
  'a string that does not end': [1, () => `"${fill('\\"')}`],
  '4 MB of zeros': [1, () => `[${fill('0,')}0]`],
  'an event name of 4 MB': [1, () => eventOf(fill('A'))],
  '4,900 keys beside the name': [1, () => eventOf('HEALTH_CHECK', keys(4_900))],
  'a challenge of 4 MB': [1, () => eventOf('WEBHOOK_CHALLENGE', { challenge: fill('c') })],
  'a function name of 4 MB': [1, (at) => callFor(at, fill('sendEmail'), {})],
  'headers of 15 kB': [1, () => eventOf('HEALTH_CHECK'), { headers: { 'x-long': fill('x', 15_000) } }],
  '4 MB that are compressed': [1, () => fill('x'), { headers: { 'content-encoding': 'gzip' } }],
  'thousands of signatures': [
    1,
    () => eventOf('HEALTH_CHECK'),
    { headers: { ...signatures, 'webhook-signature': fill('v1,aa ', 14_000) }, signed: false },
  ],
  '40,000 empty messages': [1, (at) => batchFor(at, Array(40_000).fill({}))],
  '1,900 messages with 100 unknown keys': [1, (at) => batchFor(at, mails(1_900, keys(100)))],
  '4 MB for 200 recipients': [1, (at) => newsFor(at, 200, MOST - 10_000)],
  '100 kB for 10,000 recipients': [1, (at) => newsFor(at, 10_000, 100_000)],
  'a mail with 4,900 unknown keys': [1, (at) => sendFor(at, keys(4_900))],
  'a mail of control characters': [1, (at) => sendFor(at, { htmlBody: fill('ü\u0000', MOST / 4) })],
  '60,000 files': [1, (at) => sendFor(at, files(60_000, 'aGk='))],
  'a user with 4,900 unknown keys': [1, (at) => callFor(at, 'createUser', keys(4_900)), { route: 'idp' }],
  '4,900 headers': [1, (at) => sendFor(at, { headers: keys(4_900), metadata: keys(4_900) })],
  'a full batch for each deployment': [8, (at) => batchFor(at, fullBatch())],
  'a full batch for one deployment': [8, () => batchFor(1, fullBatch())],
  '10,000 wrong messages': [8, (at) => batchFor(at, Array(10_000).fill({ to: 'nobody', subject: 1 }))],
  '3 MB for 10,000 recipients': [4, (at) => newsFor(at, 10_000, 3_000_000)],
  '29 kB for 1,000 recipients': [40, (at) => newsFor(at, 1_000, 29_000)],
  '10,000 messages of 100 bytes': [64, (at) => batchFor(at, mails(10_000))],
  'a mail with 3,000 unknown keys': [100, (at) => sendFor(at, keys(3_000))],
  'a health check of 60 kB': [250, () => eventOf('HEALTH_CHECK', { more: fill('x', 60_000) })],
  'a file of 4 MB': [16, (at) => sendFor(at, files(1, fill('AAAA', MOST - 1_000)))],
  '38 objects of 4,900 keys': [16, (at) => sendFor(at, { metadata: Array(38).fill(keys(4_900)) })],
  '4 MB without a signature': [32, () => fill('x'), { signed: false }],
}

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

/** Requests that are sent at the same moment: those of each crowd, and then three at random, without end. */
export function* hostileSteps(seed: number): Generator<readonly HostileRequest[]> {
  for (const [name, [senders, body, more]] of Object.entries(crowds))
    yield listOf(senders, (at) => ({ name: `${senders} × ${name}`, body: () => body(at), ...more }))
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
