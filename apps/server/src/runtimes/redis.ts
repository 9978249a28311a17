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
/** A connection that refuses, or of which a part fails, is kept for so long: a failover causes no storm of them. */
const LEAST_AGE_MS = 500

/**
 * Keeps one connection, and replaces it when it breaks, falls silent, or leads to a server that takes no writes. Each
 * connection resolves the name anew, and asks the cluster or the sentinels anew.
 */
export function keepConnected(location: string, logger: Logger) {
  let current: { connection: RedisConnection; since: number; repliedAt: number } | undefined
  let isConnecting = false
  let isClosed = false
  const warned = new Set<string>()

  async function connect(): Promise<void> {
    isConnecting = true
    for (let pauseMs = FIRST_PAUSE_MS; !isClosed; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        const connection = await connectRedis(location)
        if (isClosed) return connection.destroy()
        connection.onFault((error) => replace(connection, explainRedis(error).message))
        const since = performance.now()
        retire(current?.connection)
        current = { connection, since, repliedAt: since }
        isConnecting = false
        logger('info', 'The host reached Redis.')
        return void warnOfRisks(connection)
      } catch (error) {
        warn(explainRedis(error).message)
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  const warn = (reason: string) => logger('warn', 'The host can’t reach Redis.', { reason })

  /** Each risk once: a new primary may have another configuration. */
  async function warnOfRisks(connection: RedisConnection): Promise<void> {
    for (const risk of await findRisks(connection).catch(() => [])) {
      if (!warned.has(risk)) logger('warn', risk)
      warned.add(risk)
    }
  }

  /** The replies that are on their way still arrive. */
  function retire(connection: RedisConnection | undefined): void {
    if (connection) setTimeout(() => connection.destroy(), SILENT_MS).unref()
  }

  function replace(connection: RedisConnection, reason: string): void {
    if (current?.connection !== connection || isConnecting) return
    const waitMs = current.since + LEAST_AGE_MS - performance.now()
    if (!connection.isShared) {
      current = undefined
      connection.destroy()
    } else if (waitMs > 0) {
      setTimeout(() => replace(connection, reason), waitMs).unref()
      return
    }
    warn(reason)
    void connect()
  }

  void connect()
  return {
    async sendCommand(command: string[]): Promise<unknown> {
      if (!current) throw new Error('The host is not connected to Redis.')
      const used = current
      const { connection } = used
      const sentAt = performance.now()
      const timer = setTimeout(() => {
        if (connection.isShared || used.repliedAt < sentAt) replace(connection, 'The connection is silent.')
      }, SILENT_MS)
      try {
        return await connection.sendCommand(command)
      } catch (error) {
        const refusal = error instanceof Error && REFUSAL.exec(error.message)?.[1]
        if (refusal && performance.now() - used.since > LEAST_AGE_MS) replace(connection, refusal)
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
