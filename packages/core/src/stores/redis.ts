/**
 * A delivery store in Redis or Valkey, for several instances and for serverless functions.
 *
 * Each subject is one hash, and each operation one script. The lease is a field of the hash and not the key's
 * expiry: when a lease runs out, what is known of the work must not vanish with it.
 *
 * @module
 */
import * as z from 'zod'
import type { ClaimResult, DeliveryStore, Json, Lease } from '../delivery.ts'

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

const NOW = `
  local now = tonumber(ARGV[1])
  if now == 0 then local time = redis.call('TIME'); now = time[1] * 1000 + math.floor(time[2] / 1000) end
`

const HELD = `${NOW}
  local held = redis.call('HMGET', KEYS[1], 'owner', 'fence', 'until')
  if held[1] ~= ARGV[2] or held[2] ~= ARGV[3] or tonumber(held[3] or 0) <= now then return 0 end
`

const scripts = {
  // ARGV: now, owner, lease, delivery, digest, retention. The expiry is a field too, for a clock that is given.
  claim: `${NOW}
    local record = redis.call('HMGET', KEYS[1], 'owner', 'until', 'delivery', 'digest', 'expires', 'answer:' .. ARGV[4])
    local live = record[1] and record[1] ~= '' and tonumber(record[2]) > now
    if not live and record[5] and tonumber(record[5]) <= now then redis.call('DEL', KEYS[1]); record = {} end
    if ARGV[4] ~= '' and record[6] then return {'answered', record[6]} end
    if live then
      if ARGV[4] ~= '' and record[3] == ARGV[4] and record[4] ~= ARGV[5] then return {'mismatch'} end
      return {'busy', tostring(tonumber(record[2]) - now)}
    end
    local fence = redis.call('HINCRBY', KEYS[1], 'fence', 1)
    redis.call('HSET', KEYS[1], 'owner', ARGV[2], 'until', now + tonumber(ARGV[3]), 'delivery', ARGV[4], 'digest', ARGV[5])
    local expires = math.max(tonumber(record[5] or 0), now + tonumber(ARGV[6]))
    redis.call('HSET', KEYS[1], 'expires', expires)
    redis.call('PEXPIRE', KEYS[1], expires - now)
    local taken = record[1] and record[1] ~= ''
    local answer = {'claimed', tostring(fence), taken and '1' or '0'}
    local fields = redis.call('HGETALL', KEYS[1])
    for at = 1, #fields, 2 do
      if string.sub(fields[at], 1, 5) == 'step:' then
        answer[#answer + 1] = string.sub(fields[at], 6)
        answer[#answer + 1] = fields[at + 1]
      end
    end
    return answer
  `,
  // ARGV: now, owner, fence, lease
  renew: `${HELD} redis.call('HSET', KEYS[1], 'until', now + tonumber(ARGV[4])); return 1`,
  // ARGV: now, owner, fence, and each step's name and value
  advance: `${HELD}
    for at = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], 'step:' .. ARGV[at], ARGV[at + 1]) end
    return 1
  `,
  // ARGV: now, owner, fence, answer, retention, and each step's name and value
  complete: `${HELD}
    local delivery = redis.call('HGET', KEYS[1], 'delivery')
    for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
      if string.sub(field, 1, 5) == 'step:' then redis.call('HDEL', KEYS[1], field) end
    end
    for at = 6, #ARGV, 2 do redis.call('HSET', KEYS[1], 'step:' .. ARGV[at], ARGV[at + 1]) end
    redis.call('HSET', KEYS[1], 'owner', '', 'until', 0, 'expires', now + tonumber(ARGV[5]))
    if delivery ~= '' then
      redis.call('HSET', KEYS[1], 'answer:' .. delivery, redis.call('HGET', KEYS[1], 'digest') .. ' ' .. ARGV[4])
    end
    redis.call('HDEL', KEYS[1], 'delivery', 'digest')
    redis.call('PEXPIRE', KEYS[1], ARGV[5])
    return 1
  `,
  // ARGV: now, owner, fence
  release: `${HELD}
    redis.call('HSET', KEYS[1], 'owner', '', 'until', 0)
    redis.call('HDEL', KEYS[1], 'delivery', 'digest')
    return 1
  `,
}

const claimAnswer = z.union([
  z.tuple([z.literal('claimed'), z.coerce.number(), z.enum(['0', '1'])], z.string()),
  z.tuple([z.literal('busy'), z.coerce.number()]),
  z.tuple([z.literal('answered'), z.string()]),
  z.tuple([z.literal('mismatch')]),
])
const storedAnswer = z.object({ status: z.int(), body: z.string() })

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
          return { state: 'done', answer: storedAnswer.parse(JSON.parse(json)) }
        }
      }
    },

    renew: (lease, leaseMs) => runHeld('renew', lease, leaseMs),
    advance: (lease, steps) => runHeld('advance', lease, ...writeSteps(steps)),
    complete: (lease, { answer, progress, keepMs }) =>
      runHeld('complete', lease, JSON.stringify(answer), keepMs, ...writeSteps(progress)),
    release: (lease) => runHeld('release', lease),

    async ping() {
      await withinTime(command('PING'), timeoutMs)
    },
  }
}

function writeSteps(steps: Record<string, Json>): string[] {
  return Object.entries(steps).flatMap(([name, value]) => [name, JSON.stringify(value)])
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
