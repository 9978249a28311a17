/**
 * A delivery store in Redis or Valkey, for several instances and for serverless functions. Each record is one key,
 * which expires by itself. A change reads it, and writes it if nobody else has written it since.
 *
 * @module
 */
import * as z from 'zod'
import type { DeliveryStore } from '../store.ts'
import { within } from '../within.ts'
import { createDeliveryStore } from './delivery-store.ts'
import { FORMAT, FormatError, MARK_LENGTH } from './format.ts'

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
  /** Sign the records: the keys of `HandlerDependencies`. Without any, who can write to Redis can change records. */
  recordKeys?: readonly string[]
  /** Timeout of one command; 500 by default. */
  timeoutMs?: number
  /** @default the time of Redis itself, so that the hosts' clocks do not matter */
  now?: () => number
}

const READ = `
  local time = redis.call('TIME')
  return {tostring(time[1] * 1000 + math.floor(time[2] / 1000)), redis.call('GET', KEYS[1])}`
// ARGV: the mark of the text that was read, the text to write, how long to keep it.
const SWAP = `
  if redis.call('GETRANGE', KEYS[1], 0, ${MARK_LENGTH - 1}) ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  return 1`

/** The timeout of a write grows by a millisecond for each 10,000 characters. */
const CHARACTERS_PER_MS = 10_000
/** Longer than the longest ordinary write, so that a probe fails before an event does when memory runs out. */
const PROBE_FILLER = 'x'.repeat(65_536)
/** The marker of the format lasts for a century. */
const FOREVER_MS = 100 * 365 * 24 * 60 * 60 * 1000

const readReply = z.tuple([z.coerce.number(), z.string().nullable()])

/**
 * Makes a store on a connected client.
 *
 * @example
 * ```ts
 * const client = createClient({ url, disableOfflineQueue: true })
 * await client.connect()
 * const store = redisStore({ client, recordKeys })
 * ```
 */
export function redisStore(options: RedisStoreOptions): DeliveryStore {
  const { client, prefix = 'deliveries:', recordKeys, timeoutMs = 500, now } = options

  async function send(...words: [string, ...string[]]): Promise<unknown> {
    const limitMs = timeoutMs + words.reduce((sum, { length }) => sum + length, 0) / CHARACTERS_PER_MS
    // ioredis has a `sendCommand` too, with another signature.
    const reply = 'call' in client ? client.call(...words) : client.sendCommand(words)
    return within(limitMs, reply, `Redis did not answer within ${timeoutMs} ms.`)
  }

  const run = (script: string, key: string, ...values: string[]) =>
    send('EVAL', script, '1', prefix + key, ...values)

  async function read(key: string) {
    const [time, text] = readReply.parse(await run(READ, key))
    return { text: text ?? undefined, time: now?.() ?? time }
  }

  /** Refuses a store of another format. */
  async function checkFormat(): Promise<void> {
    const { text: found } = await read('format')
    if (found === undefined) await run(SWAP, 'format', '', String(FORMAT), String(FOREVER_MS))
    else if (found !== String(FORMAT)) throw new FormatError(found)
  }

  const keyOf = (key: string) => `${FORMAT}:${key}`
  let checked: Promise<void> | undefined
  /** The time of the last reply. */
  let last = { time: Date.now(), at: performance.now() }

  return createDeliveryStore(
    {
      now: () => now?.() ?? Math.floor(last.time + performance.now() - last.at),
      async read(key) {
        checked ??= checkFormat().catch((error: unknown) => {
          checked = undefined
          throw error
        })
        // At the same time: a connection of a function is used for a single claim.
        const [found] = await Promise.all([read(keyOf(key)), checked])
        last = { time: found.time, at: performance.now() }
        return found
      },
      swap: async (key, mark, text, keepMs) =>
        (await run(SWAP, keyOf(key), mark, text, String(Math.ceil(keepMs)))) === 1,
      async probe() {
        await checkFormat()
        // Redis counts the filler, which is not written, when it decides whether there is room.
        await run(SWAP, keyOf('probe'), '', '', '1', PROBE_FILLER)
      },
    },
    recordKeys,
  )
}
