import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import type { Hmac } from '@org/core'

/**
 * HMAC-SHA256 by `node:crypto`: faster than Web Crypto for the short bodies of webhooks, because nothing
 * is copied and nothing waits for another thread.
 */
export const nodeHmac: Hmac = (secret) => {
  const key = createSecretKey(secret)
  return {
    sign(parts) {
      const hmac = createHmac('sha256', key)
      for (const part of parts) hmac.update(part)
      return hmac.digest()
    },
    equals: (one, other) => one.length === other.length && timingSafeEqual(one, other),
  }
}
