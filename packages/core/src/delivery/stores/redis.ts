/**
 * A delivery store in Redis or Valkey, for several instances and for serverless functions.
 *
 * Each subject is one hash, and each operation one script. The lease is a field of the hash and not the key's
 * expiry: the steps of the work must outlive the lease.
 *
 * @module
 */
import * as z from 'zod'
import type { DeliveryStore, Lease } from '../store.ts'
import { readSteps, recordedResponse, responseFacts, UNFINISHED_MS, writeSteps } from './records.ts'
import { scripts } from './redis-scripts.ts'

/** The part of a Redis client that the store uses: node-redis (`redis`) or `ioredis`. */
export type RedisClient =
  /** node-redis. */
  | { sendCommand(command: string[]): Promise<unknown> }
  /** ioredis. */
  | { call(command: string, ...values: string[]): Promise<unknown> }

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /** The caller connects and closes it. It should not queue commands while it is offline. */
  client: RedisClient
  /** The prefix of every key; `deliveries:` by default. */
  prefix?: string
  /** Timeout of one command; 500 by default. */
  timeoutMs?: number
  /** @default the time of Redis itself, so that the hosts' clocks do not matter */
  now?: () => number
}

type Word = string | number

/** Numbers the writes of this process, also those of one claim over several connections. */
let writes = 0

/** The timeout of a write grows by a millisecond for each 10,000 characters. */
const CHARACTERS_PER_MS = 10_000
/** How long Redis keeps what a probe writes, in milliseconds. */
const PROBE_MS = '60000'

const number = z.coerce.number()
const claimReply = z.union([
  z.tuple([z.literal('claimed'), number], z.string()),
  z.tuple([z.literal('busy'), number]),
  z.tuple([z.literal('answered'), z.string()]),
  z.tuple([z.literal('mismatch')]),
])
/** The time, and the fields of the record, names and values in turn. */
const readReply = z.tuple([number, z.array(z.string())])
/** A record of an earlier version lacks `claimed`. */
const recordFields = z.object({
  fence: number,
  owner: z.string(),
  until: number,
  expires: number,
  delivery: z.string(),
  claimed: number.default(0),
})

/**
 * Makes a store on a connected client.
 *
 * @example
 * ```ts
 * const client = createClient({ url, disableOfflineQueue: true })
 * await client.connect()
 * const store = redisStore({ client })
 * ```
 */
export function redisStore(options: RedisStoreOptions): DeliveryStore {
  const { client, prefix = 'deliveries:', timeoutMs = 500, now = () => 0 } = options

  // ioredis has a `sendCommand` too, with another signature.
  const send = (...words: [string, ...string[]]): Promise<unknown> =>
    'call' in client ? client.call(...words) : client.sendCommand(words)

  const run = (name: keyof typeof scripts, subject: string, ...values: Word[]) =>
    send('EVAL', scripts[name], '1', `${prefix}${subject}`, String(now()), ...values.map(String))

  async function write(name: keyof typeof scripts, { subject, owner, fence }: Lease, ...values: Word[]) {
    const characters = values.reduce<number>((sum, value) => sum + String(value).length, 0)
    const reply = run(name, subject, owner, fence, ...values)
    return (await withTimeout(reply, timeoutMs + characters / CHARACTERS_PER_MS)) === 1
  }

  return {
    async claim({ subject, delivery, leaseMs, owner = crypto.randomUUID() }) {
      const { id = '', digest = '' } = delivery ?? {}
      const pending = run('claim', subject, owner, leaseMs, id, digest, UNFINISHED_MS)
      const reply = await withTimeout(pending, timeoutMs)
      const [state, value, ...steps] = claimReply.parse(reply)
      switch (state) {
        case 'claimed':
          return { state, lease: { subject, owner, fence: value }, progress: readSteps(toPairs(steps)) }
        case 'busy':
          return { state, retryAfterMs: value }
        case 'answered': {
          const { digest: recorded, json } = splitResponse(value)
          if (recorded !== digest) return { state: 'mismatch' }
          return { state: 'done', response: recordedResponse.parse(JSON.parse(json)) }
        }
        case 'mismatch':
          return { state }
      }
    },

    renew: (lease, leaseMs) => write('renew', lease, leaseMs),
    advance(lease, steps) {
      writes += 1
      return write('advance', lease, writes, ...writeSteps(steps).flat())
    },
    complete: (lease, { response, progress, keepMs, keepResponseMs }) =>
      write(
        'complete',
        lease,
        JSON.stringify(response),
        keepMs,
        keepResponseMs,
        ...writeSteps(progress).flat(),
      ),
    release: (lease) => write('release', lease),

    async read(subject) {
      const [now, words] = readReply.parse(await withTimeout(run('read', subject), timeoutMs))
      const fields = toPairs(words)
      if (fields.length === 0) return undefined
      const { owner, until, claimed, delivery, ...record } = recordFields.parse(Object.fromEntries(fields))
      const leaseMs = owner === '' ? undefined : Math.max(0, until - now)
      if (!leaseMs && record.expires <= now) return undefined
      const named = (start: string) =>
        fields
          .filter(([name]) => name.startsWith(start))
          .map(([name, value]) => [name.slice(start.length), value] as const)
      const responses = named('answer:').flatMap(([delivery, text]) => {
        const { expires, json } = splitResponse(text)
        return expires > now ? [{ delivery, ...responseFacts.parse(JSON.parse(json)) }] : []
      })
      const progress = readSteps(named('step:'))
      return { ...record, claimedAt: claimed, delivery: delivery || undefined, leaseMs, progress, responses }
    },

    async probe() {
      await withTimeout(send('SET', `${prefix}probe`, String(now()), 'PX', PROBE_MS), timeoutMs)
    },
  }
}

/** A response is stored as `<digest> <expiry> <JSON>`. */
function splitResponse(text: string): { digest: string; expires: number; json: string } {
  const [digest = '', expires = ''] = text.split(' ', 2)
  return { digest, expires: Number(expires), json: text.slice(digest.length + expires.length + 2) }
}

/** Pairs names and values that follow each other. */
function toPairs(words: readonly string[]): [name: string, value: string][] {
  return words.flatMap((name, at) => (at % 2 === 0 ? [[name, words[at + 1] ?? '']] : []))
}

function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis did not answer within ${timeoutMs} ms.`)), timeoutMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
