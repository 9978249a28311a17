import type { Logger } from '@org/core'

const MINUTE_MS = 60_000
/** Kinds of lines of all addresses that are remembered. */
const MOST_ENTRIES = 1_000

/**
 * Keeps strangers from filling the log: of the lines that name a peer, each address gets one in a minute of each kind. The
 * next one says how many requests it stands for.
 */
export function onePerPeer(logger: Logger) {
  /** The last line of an address and a kind, and how many further ones were left out. */
  const entries = new Map<string, { at: number; left: number; line: Parameters<Logger> }>()

  /** Tells of the requests that no line stands for yet. */
  function flush(): void {
    for (const { left, line } of entries.values()) {
      const [level, message, facts] = line
      if (left > 0) logger(level, message, { ...facts, requests: left })
    }
    entries.clear()
  }

  return {
    logger: ((level, message, facts = {}) => {
      const { peer, code = message } = facts
      if (typeof peer !== 'string') return logger(level, message, facts)
      const line: Parameters<Logger> = [level, message, facts]
      const now = Date.now()
      const key = `${peer} ${code}`
      if (entries.size === MOST_ENTRIES && !entries.has(key)) flush()
      const { at, left } = entries.get(key) ?? { at: Number.NEGATIVE_INFINITY, left: 0 }
      if (now - at < MINUTE_MS) return void entries.set(key, { at, left: left + 1, line })
      entries.set(key, { at: now, left: 0, line })
      logger(level, message, { ...facts, ...(left > 0 && { requests: left + 1 }) })
    }) satisfies Logger,
    flush,
  }
}
