/**
 * Connections to Redis.
 *
 * @module
 */
import type { Logger } from '@org/core'
import { createClient } from '@redis/client'

/** Longest time to connect, in milliseconds. */
const CONNECT_MS = 2_000
/** The pause before the host connects again, in milliseconds; it doubles each time. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000
/** The host gives a connection up that owes a reply for so long, and brought none meanwhile. */
const SILENT_MS = 750
/** Redis takes no writes here: another server may be the primary now. A script quotes the error in its own. */
const REFUSAL = /(?:^|-)(READONLY|LOADING|MASTERDOWN|MOVED|CLUSTERDOWN)\b/
/** A connection that refuses is kept for so long, so that a failover causes no storm of connections. */
const LEAST_AGE_MS = 500

type Client = Awaited<ReturnType<typeof connectRedis>>

/**
 * Opens one connection, which fails for good when it breaks.
 *
 * @param timeoutMs longest time until Redis has answered, in milliseconds
 * @throws if Redis was not reached
 */
export async function connectRedis(url: string, timeoutMs = CONNECT_MS) {
  const client = createClient({
    url,
    // A command that can't be sent fails now. Later nobody would wait for its result.
    disableOfflineQueue: true,
    // Saves a command.
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // The client's own time limit covers no handshake, and warns on Workers for each connection; ours is below.
    socket: { connectTimeout: 0, reconnectStrategy: false },
  })
  // Commands under way fail with the same error.
  client.on('error', () => {})
  const connecting = client.connect()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis was not reached within ${timeoutMs} ms.`)), timeoutMs)
  })
  try {
    await Promise.race([connecting, late])
  } catch (error) {
    client.destroy()
    // Closes a connection that opens too late.
    connecting.then(
      () => client.destroy(),
      () => {},
    )
    throw error
  } finally {
    clearTimeout(timer)
  }
  return client
}

/**
 * Keeps one connection, and replaces it when it breaks, falls silent, or leads to a server that takes no writes. Each
 * connection resolves the name anew.
 */
export function keepConnected(url: string, logger: Logger) {
  let current: { client: Client; since: number; repliedAt: number } | undefined
  let isClosed = false

  async function connect(): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; !isClosed; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        const client = await connectRedis(url)
        if (isClosed) return client.destroy()
        client.on('error', ({ name }: Error) => replace(client, name))
        const since = performance.now()
        current = { client, since, repliedAt: since }
        logger('info', 'The host reached Redis.')
        return
      } catch (error) {
        warn(error instanceof Error ? error.name : 'unknown')
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  // Only the name of an error: its message may contain the URL with the password.
  const warn = (error: string) => logger('warn', 'The host can’t reach Redis.', { error })

  function replace(client: Client, error: string): void {
    if (current?.client !== client) return
    current = undefined
    client.destroy()
    warn(error)
    void connect()
  }

  void connect()
  return {
    async sendCommand(command: string[]): Promise<unknown> {
      if (!current) throw new Error('The host is not connected to Redis.')
      const connection = current
      const sentAt = performance.now()
      const timer = setTimeout(() => {
        if (connection.repliedAt < sentAt) replace(connection.client, 'SilentConnection')
      }, SILENT_MS)
      try {
        return await connection.client.sendCommand(command)
      } catch (error) {
        const refusal = error instanceof Error && REFUSAL.exec(error.message)?.[1]
        if (refusal && performance.now() - connection.since > LEAST_AGE_MS)
          replace(connection.client, refusal)
        throw error
      } finally {
        clearTimeout(timer)
        connection.repliedAt = performance.now()
      }
    },
    close(): void {
      isClosed = true
      current?.client.destroy()
      current = undefined
    },
  }
}
