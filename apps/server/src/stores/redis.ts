/** Connections to one Redis server. A new connection resolves the name anew. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@org/core'
import { causeOf } from '@org/core/errors'
import { within } from '@org/core/internal/host'
import { createClient, DisconnectsClientError } from '@redis/client'
import { addDates } from '../outbound/certificates.ts'

/** Longest time to connect, until Redis has answered, in milliseconds. */
const CONNECT_MS = 2_000
/** The pause before the host connects again, in milliseconds; it doubles each time. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000
/** The host gives a connection up that owes a reply for so long, and brought none meanwhile. */
const SILENT_MS = 750
/** Redis takes no writes here: another server may be the primary now. A script quotes the error in its own. */
const REFUSAL = /(?:^|-)(?:READONLY|LOADING|MASTERDOWN)\b/
/** No connection is replaced earlier: a failover causes no storm of them. */
const LEAST_AGE_MS = 500
/** As `INFO` says them: with other settings, Redis may lose records. */
const SAFE_SETTINGS = ['maxmemory_policy:noeviction', 'aof_enabled:1']

/**
 * Opens a connection that fails for good when it breaks.
 *
 * @throws {Error} with the cause if Redis was not reached
 */
export async function connectRedis(url: string) {
  const client = createClient({
    url,
    // A command that can't be sent fails now. Later nobody would wait for its result.
    disableOfflineQueue: true,
    // Saves a command.
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // The client's own time limit covers no handshake, and warns on Workers for each connection.
    socket: { connectTimeout: 0, reconnectStrategy: false },
  })
  // Commands under way fail with the same error.
  client.on('error', () => {})
  const connecting = client.connect()
  try {
    await within(CONNECT_MS, connecting, `Redis was not reached within ${CONNECT_MS} ms.`)
    return client
  } catch (error) {
    client.destroy()
    // Closes a connection that opens too late.
    connecting.then(
      () => client.destroy(),
      () => {},
    )
    throw error
  }
}

type RedisConnection = Awaited<ReturnType<typeof connectRedis>>

/** Keeps one connection, and replaces it when it breaks, falls silent, or leads to a server that takes no writes. */
export function keepConnected(url: string, logger: Logger) {
  let current: { connection: RedisConnection; end: (reason: Error) => void; repliedAt: number } | undefined
  let isClosed = false
  let risks = ''
  let lastReason = ''

  async function keep(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS
    while (!isClosed) {
      try {
        const connection = await connectRedis(url)
        pauseMs = FIRST_PAUSE_MS
        await use(connection)
      } catch (error) {
        await addDates(error, url)
        warn(error)
        await sleep(pauseMs)
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
      }
    }
  }

  function warn(error: unknown): void {
    const reason = causeOf(error, url)
    if (reason !== lastReason) logger('warn', 'The host can’t reach Redis.', { reason })
    lastReason = reason
  }

  /** Resolves when the host needs another connection. */
  async function use(connection: RedisConnection): Promise<void> {
    if (isClosed) return connection.destroy()
    const since = performance.now()
    const { promise: ended, resolve: end } = Promise.withResolvers<Error>()
    connection.on('error', end)
    current = { connection, end, repliedAt: since }
    logger('info', 'The host reached Redis.')
    lastReason = ''
    void warnOfRisks(connection)
    warn(await ended)
    current = undefined
    connection.destroy()
    await sleep(Math.max(0, since + LEAST_AGE_MS - performance.now()))
  }

  /** A new primary may have other settings. */
  async function warnOfRisks(connection: RedisConnection): Promise<void> {
    const info = await connection.sendCommand(['INFO']).catch(() => undefined)
    const missing = SAFE_SETTINGS.filter((setting) => !String(info).includes(setting)).join(', ')
    if (info !== undefined && missing !== '' && missing !== risks)
      logger('warn', `Redis may lose records, and effects may be repeated: its INFO has no ${missing}.`)
    risks = missing
  }

  const notConnected = () => new Error(`The host is not connected to Redis: ${lastReason || 'not yet'}`)

  void keep()
  return {
    async sendCommand(command: string[]): Promise<unknown> {
      if (!current) throw notConnected()
      const used = current
      const sentAt = performance.now()
      const timer = setTimeout(() => {
        if (used.repliedAt < sentAt) used.end(new Error('The connection is silent.'))
      }, SILENT_MS)
      try {
        return await used.connection.sendCommand(command)
      } catch (error) {
        if (error instanceof Error && REFUSAL.test(error.message)) used.end(error)
        // Its words name neither the server nor why the host ended the connection.
        throw error instanceof DisconnectsClientError ? notConnected() : error
      } finally {
        clearTimeout(timer)
        used.repliedAt = performance.now()
      }
    },
    close(): void {
      isClosed = true
      current?.connection.destroy()
      current = undefined
    },
  }
}
