import type { Logger } from '@org/core'

const MINUTE_MS = 60_000
/** Addresses that are remembered. */
const MOST_PEERS = 1_000

/**
 * Keeps strangers from filling the log: of the lines that name a peer, each address gets one in a minute. The next one
 * says how many requests it stands for.
 */
export function onePerPeer(logger: Logger, now = Date.now): Logger {
  const peers = new Map<string, { at: number; left: number }>()
  return (level, message, facts = {}) => {
    const { peer } = facts
    if (typeof peer !== 'string') return logger(level, message, facts)
    const { at, left } = peers.get(peer) ?? { at: Number.NEGATIVE_INFINITY, left: 0 }
    if (now() - at < MINUTE_MS) return void peers.set(peer, { at, left: left + 1 })
    const [oldest = ''] = peers.keys()
    if (peers.size === MOST_PEERS && !peers.has(peer)) peers.delete(oldest)
    // The last one in the order is the newest.
    peers.delete(peer)
    peers.set(peer, { at: now(), left: 0 })
    logger(level, message, { ...facts, ...(left > 0 && { requests: left + 1 }) })
  }
}
