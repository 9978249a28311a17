/**
 * A delivery store in Redis or Valkey, for several instances and for serverless functions.
 *
 * Each subject is one hash, and each operation one script. The lease is a field of the hash and not the key's
 * expiry: when a lease runs out, what is known of the work must not vanish with it.
 *
 * @module
 */
import * as z from 'zod'
import type { Json } from '../../contract/handler-context.ts'
import type { ClaimResult, DeliveryStore, Lease, SubjectRecord } from '../store.ts'
import { scripts } from './redis-scripts.ts'

/** The Redis client, as far as it is used: `redis` (node-redis) and `ioredis` both fit. */
export type RedisClient =
  /** node-redis. */
  | { sendCommand(command: string[]): Promise<unknown> }
  /** ioredis. */
  | { call(command: string, ...values: string[]): Promise<unknown> }

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /** Connected by the caller, who also closes it. It should not queue commands while it is offline. */
  client: RedisClient
  /**
   * In front of every key.
   * @default 'deliveries:'
   */
  prefix?: string
  /**
   * Longest time for one command, in milliseconds.
   * @default 500
   */
  timeoutMs?: number
  /**
   * The time in milliseconds since 1970.
   * @default the time of Redis itself, so that the hosts' clocks do not matter
   */
  now?: () => number
}

/** How long an unfinished record is kept after its last claim. */
const UNFINISHED_MS = 7 * 24 * 60 * 60 * 1000
/** A command may take a millisecond longer for each so many characters that it carries. */
const CHARACTERS_PER_MS = 10_000

const claimAnswer = z.union([
  z.tuple([z.literal('claimed'), z.coerce.number(), z.enum(['0', '1'])], z.string()),
  z.tuple([z.literal('busy'), z.coerce.number()]),
  z.tuple([z.literal('answered'), z.string()]),
  z.tuple([z.literal('mismatch')]),
])
const storedAnswer = z.object({
  status: z.int(),
  code: z.string().optional(),
  at: z.int().optional(),
  body: z.string(),
})
const storedFacts = storedAnswer.omit({ body: true })
const number = z.coerce.number()
/** Fence, time left, expiry, delivery and time of the last claim; then names and values in turn. */
const readFields = z.tuple([number, number, number, z.string(), number], z.string())
const readAnswer = z.union([z.tuple([]).transform(() => undefined), readFields])

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
export function redisStore({
  client,
  prefix = 'deliveries:',
  timeoutMs = 500,
  now = () => 0,
}: RedisStoreOptions): DeliveryStore {
  // ioredis has a `sendCommand` too, which takes something else.
  const command = (...words: [string, ...string[]]): Promise<unknown> =>
    'call' in client ? client.call(...words) : client.sendCommand(words)

  const run = (
    name: keyof typeof scripts,
    subject: string,
    ...values: (string | number)[]
  ): Promise<unknown> =>
    command('EVAL', scripts[name], '1', `${prefix}${subject}`, String(now()), ...values.map(String))

  const runHeld = async (
    name: keyof typeof scripts,
    { subject, owner, fence }: Lease,
    ...values: (string | number)[]
  ) => {
    const characters = values.reduce<number>((sum, value) => sum + String(value).length, 0)
    const longest = timeoutMs + characters / CHARACTERS_PER_MS
    return (await withinTime(run(name, subject, owner, fence, ...values), longest)) === 1
  }

  /** A claim that Redis gave after nobody waited for it any more would be in the way until its lease is over. */
  async function giveBack(subject: string, owner: string, late: Promise<unknown>): Promise<void> {
    const { data } = claimAnswer.safeParse(await late)
    if (data?.[0] === 'claimed') await runHeld('release', { subject, owner, fence: data[1] })
  }

  return {
    async claim({ subject, delivery, leaseMs }): Promise<ClaimResult> {
      const owner = crypto.randomUUID()
      const { id = '', digest = '' } = delivery ?? {}
      const asked = run('claim', subject, owner, leaseMs, id, digest, UNFINISHED_MS)
      const answer = claimAnswer.parse(
        await withinTime(asked, timeoutMs).catch((error: unknown) => {
          void giveBack(subject, owner, asked).catch(() => {})
          throw error
        }),
      )
      switch (answer[0]) {
        case 'claimed':
          return {
            state: 'claimed',
            lease: { subject, owner, fence: answer[1] },
            takenOver: answer[2] === '1',
            progress: readSteps(answer.slice(3)),
          }
        case 'busy':
          return { state: 'busy', retryAfterMs: answer[1] }
        case 'mismatch':
          return { state: 'mismatch' }
        case 'answered': {
          const [recorded, json] = splitOnce(answer[1])
          if (recorded !== digest) return { state: 'mismatch' }
          return { state: 'done', response: storedAnswer.parse(JSON.parse(json)) }
        }
      }
    },

    renew: (lease, leaseMs) => runHeld('renew', lease, leaseMs),
    advance: (lease, steps) => runHeld('advance', lease, ...writeSteps(steps)),
    complete: (lease, { response: answer, progress, keepMs }) =>
      runHeld('complete', lease, JSON.stringify(answer), keepMs, ...writeSteps(progress)),
    release: (lease) => runHeld('release', lease),

    async read(subject) {
      const found = readAnswer.parse(await withinTime(run('read', subject), timeoutMs))
      return found && toRecord(found)
    },

    async ping() {
      await withinTime(command('PING'), timeoutMs)
    },
  }
}

function writeSteps(steps: Record<string, Json>): string[] {
  return Object.entries(steps).flatMap(([name, value]) => [name, JSON.stringify(value)])
}

function toRecord([fence, left, expires, delivery, claimedAt, ...fields]: z.infer<
  typeof readFields
>): SubjectRecord {
  const steps: string[] = []
  const answers: SubjectRecord['responses'] = []
  for (let at = 0; at < fields.length; at += 2) {
    const [name = '', value = ''] = fields.slice(at, at + 2)
    if (name.startsWith('step:')) steps.push(name.slice('step:'.length), value)
    else answers.push({ delivery: name.slice('answer:'.length), ...storedFacts.parse(JSON.parse(value)) })
  }
  return {
    fence,
    claimedAt,
    delivery: delivery === '' ? undefined : delivery,
    leaseMs: left < 0 ? undefined : left,
    progress: readSteps(steps),
    responses: answers,
    expires,
  }
}

/** Names and values in turn. */
function readSteps(words: readonly (string | number)[]): Record<string, Json> {
  const steps: Record<string, Json> = {}
  for (let at = 0; at < words.length; at += 2) {
    steps[String(words[at])] = z.json().parse(JSON.parse(String(words[at + 1])))
  }
  return steps
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf(' ')
  return [text.slice(0, at), text.slice(at + 1)]
}

function withinTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis did not answer within ${timeoutMs} ms.`)), timeoutMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
