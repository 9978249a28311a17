/**
 * A delivery store in Redis or Valkey, for several instances and for serverless functions.
 *
 * Each subject is one hash, each answer a key beside it that expires by itself, and each operation one script. The
 * lease is a field of the hash and not the key's expiry: the steps of the work must outlive the lease. A call that is
 * answered has no hash any more.
 *
 * @module
 */
import * as z from 'zod'
import { sha256 } from '../../cryptography.ts'
import { PREFIX as ENCRYPTED } from '../keys.ts'
import type { DeliveryStore, Lease, RecordedResponse, SubjectRecord } from '../store.ts'
import { readSteps, UNFINISHED_MS, writeSteps } from './records.ts'
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
/** Longer than the longest ordinary write, so that a probe fails before an event does when memory runs out. */
const PROBE_FILLER = 'x'.repeat(65_536)

/** A shorter hash saves space, and nobody can make another text with the same one. */
const HASH_BYTES = 12
/** The start of the field of a step. */
const STEP = 'step:'

const number = z.coerce.number()
const claimReply = z.union([
  z.tuple([z.literal('claimed'), number], z.string()),
  z.tuple([z.literal('busy'), number]),
  z.tuple([z.literal('answered'), z.string()]),
  z.tuple([z.literal('mismatch')]),
])
const storedOwner = z.string().transform((json) => z.string().parse(JSON.parse(json)))
/** The time, the fields of the record, names and values in turn, and the answer. */
const readReply = z.tuple([number, z.array(z.string()), z.string()])
const recordFields = z.object({
  fence: number,
  owner: z.string(),
  until: number,
  expires: number,
  delivery: z.string(),
  claimed: number,
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

  async function run(name: keyof typeof scripts, subject: string, delivery: string, ...values: Word[]) {
    // In a cluster, keys with the same text in braces are on one server.
    const record = `${prefix}{${await hashOf(subject)}}`
    const answer = record + (endsWith(subject, delivery) ? '=' : `:${delivery}`)
    return send('EVAL', scripts[name], '2', record, answer, String(now()), ...values.map(String))
  }

  async function write(name: keyof typeof scripts, lease: Lease, ...values: Word[]) {
    const { subject, delivery = '', owner, fence } = lease
    const characters = values.reduce<number>((sum, value) => sum + String(value).length, 0)
    const reply = run(name, subject, delivery, owner, fence, ...values)
    return (await withTimeout(reply, timeoutMs + characters / CHARACTERS_PER_MS)) === 1
  }

  return {
    async claim({ subject, delivery, leaseMs, owner = crypto.randomUUID() }) {
      const { id = '', digest = '' } = delivery ?? {}
      const short = await hashOf(digest)
      const pending = run('claim', subject, id, owner, leaseMs, id, short, UNFINISHED_MS)
      const reply = await withTimeout(pending, timeoutMs)
      const [state, value, ...steps] = claimReply.parse(reply)
      switch (state) {
        case 'claimed': {
          const lease = { subject, owner, fence: value, delivery: delivery?.id }
          return { state, lease, progress: readSteps(toPairs(steps)) }
        }
        case 'busy':
          return { state, retryAfterMs: value }
        case 'answered': {
          const { digest: recorded, fence, response } = readAnswer(value)
          return recorded === short ? { state: 'done', response, fence } : { state: 'mismatch' }
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
    complete(lease, { response, progress, keepMs, keepResponseMs }) {
      const steps = writeSteps(progress).flat()
      // Only one delivery claims the subject of a call: its answer tells all.
      const endsWithAnswer =
        endsWith(lease.subject, lease.delivery) && steps.length === 0 && keepMs <= keepResponseMs
      const flag = endsWithAnswer ? 1 : 0
      const { status, code, at = '', body } = response
      const words = [code === undefined ? status : `${status}:${code}`, at, shorten(body)]
      return write('complete', lease, ...words, keepMs, keepResponseMs, flag, ...steps)
    },
    release: (lease) => write('release', lease),

    async reserve({ subject, owner, keepMs }) {
      const reply = run('reserve', subject, '', JSON.stringify(owner), keepMs)
      return storedOwner.parse(await withTimeout(reply, timeoutMs))
    },

    async read(subject, delivery = '') {
      const [now, words, text] = readReply.parse(await withTimeout(run('read', subject, delivery), timeoutMs))
      const recorded = text === '' ? undefined : readAnswer(text)
      const answer = recorded && recorded.expires > now ? recorded : undefined
      const fields = toPairs(words)
      if (fields.length === 0) return answer && toRecord(delivery, answer)
      const { owner, until, claimed, ...record } = recordFields.parse(Object.fromEntries(fields))
      const leaseMs = owner === '' ? undefined : Math.max(0, until - now)
      if (!leaseMs && record.expires <= now) return undefined
      const steps = fields.flatMap(([name, value]) =>
        name.startsWith(STEP) ? [[name.slice(STEP.length), value] as const] : [],
      )
      const holder = record.delivery === '' ? undefined : record.delivery
      const rest = { leaseMs, progress: readSteps(steps), response: answer && factsOf(answer.response) }
      return { ...record, ...rest, claimedAt: claimed, delivery: holder }
    },

    async probe() {
      // In the place of a hash. A connection to a cluster may replace it, to write to every primary.
      const key = `${prefix}{probe}`
      const words = ['EVAL', scripts.probe, '2', key, `${key}=`, String(now()), PROBE_FILLER] as const
      await withTimeout(send(...words), timeoutMs)
    },
  }
}

/** Whether a subject is the call of a delivery, and ends with its id. */
function endsWith(subject: string, delivery: string | undefined): boolean {
  return delivery !== undefined && delivery !== '' && subject.endsWith(`/${delivery}`)
}

type Answer = ReturnType<typeof readAnswer>

/** Parses an answer, `<digest> <expiry> <fence> <claimed> <status>[:<code>] <milliseconds after the claim> <body>`. */
function readAnswer(text: string) {
  const words = text.split(' ', 6)
  const [digest = '', expires, fence, claimed, outcome = '', after = ''] = words
  const [status, code] = outcome.split(':')
  const response: RecordedResponse = {
    status: Number(status),
    code,
    at: after === '' ? undefined : Number(claimed) + Number(after),
    body: lengthen(text.slice(words.join(' ').length + 1)),
  }
  return { digest, expires: Number(expires), fence: Number(fence), claimed: Number(claimed), response }
}

/** An encrypted text without its prefix; any other text with a mark. */
const shorten = (body: string) => (body.startsWith(ENCRYPTED) ? body.slice(ENCRYPTED.length) : `=${body}`)
const lengthen = (body: string) => (body.startsWith('=') ? body.slice(1) : ENCRYPTED + body)

/** The start of the SHA-256 of a text, in base64. */
async function hashOf(text: string): Promise<string> {
  const bytes = await sha256(new TextEncoder().encode(text))
  return btoa(String.fromCharCode(...bytes.subarray(0, HASH_BYTES)))
}

/** The record of a call that was answered. */
function toRecord(delivery: string, { fence, claimed, expires, response }: Answer): SubjectRecord {
  const call = { delivery, leaseMs: undefined, progress: {} }
  return { ...call, fence, claimedAt: claimed, expires, response: factsOf(response) }
}

function factsOf({ status, code, at }: RecordedResponse): SubjectRecord['response'] {
  return { status, code, at }
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
