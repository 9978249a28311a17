/**
 * The connection of a host to Redis.
 *
 * @module
 */
import type { Logger } from '@org/core'
import { connectRedis, type RedisConnection } from './redis-connection.ts'
import { explainRedis } from './redis-errors.ts'
import { findRisks } from './redis-risks.ts'

/** The pause before the host connects again, in milliseconds; it doubles each time. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000
/** The host gives a connection up that owes a reply for so long, and brought none meanwhile. */
const SILENT_MS = 750
/** Redis takes no writes here: another server may be the primary now. A script quotes the error in its own. */
const REFUSAL = /(?:^|-)(READONLY|LOADING|MASTERDOWN|MOVED|CLUSTERDOWN)\b/
/** No connection is replaced earlier: a failover causes no storm of them. */
const LEAST_AGE_MS = 500

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Keeps one connection, and replaces it when it breaks, falls silent, or leads to a server that takes no writes. Each
 * connection resolves the name anew, and asks the cluster or the sentinels anew.
 */
export function keepConnected(location: string, logger: Logger) {
  let current: { connection: RedisConnection; end: (reason: string) => void; repliedAt: number } | undefined
  let isClosed = false
  let warned: string | undefined

  const warn = (reason: string) => logger('warn', 'The host can’t reach Redis.', { reason })

  async function keep(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS
    while (!isClosed) {
      const connection = await connectRedis(location).catch((error: Error) => void warn(error.message))
      if (!connection) {
        await sleep(pauseMs)
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
      } else if (isClosed) {
        connection.destroy()
      } else {
        pauseMs = FIRST_PAUSE_MS
        await use(connection)
      }
    }
  }

  /** Resolves when the host needs another connection. */
  async function use(connection: RedisConnection): Promise<void> {
    const former = current?.connection
    // The replies that are on their way still arrive.
    if (former) setTimeout(() => former.destroy(), SILENT_MS).unref()
    const since = performance.now()
    const { promise: ended, resolve: end } = Promise.withResolvers<string>()
    connection.onFault((error) => end(explainRedis(error).message))
    current = { connection, end, repliedAt: since }
    logger('info', 'The host reached Redis.')
    void warnOfRisks(connection)
    warn(await ended)
    // Until there is another, the rest of a shared one still works.
    if (!connection.isShared) {
      current = undefined
      connection.destroy()
    }
    await sleep(Math.max(0, since + LEAST_AGE_MS - performance.now()))
  }

  /** A new primary may have another configuration. */
  async function warnOfRisks(connection: RedisConnection): Promise<void> {
    const risk = await findRisks(connection).catch(() => undefined)
    if (risk !== undefined && risk !== warned) logger('warn', risk)
    warned = risk ?? warned
  }

  void keep()
  return {
    async sendCommand(command: string[]): Promise<unknown> {
      if (!current) throw new Error('The host is not connected to Redis.')
      const used = current
      const { connection } = used
      const sentAt = performance.now()
      const timer = setTimeout(() => {
        if (connection.isShared || used.repliedAt < sentAt) used.end('The connection is silent.')
      }, SILENT_MS)
      try {
        return await connection.sendCommand(command)
      } catch (error) {
        const refusal = error instanceof Error && REFUSAL.exec(error.message)?.[1]
        if (refusal) used.end(refusal)
        throw explainRedis(error)
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
