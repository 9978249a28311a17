/**
 * What may leave under a claim, and what is written down before.
 *
 * @module
 */
import type { Claim } from '../delivery/claim.ts'

/**
 * A `fetch` that writes down that a change is under way before the first call that can make one leaves. So a
 * later holder knows whether there is anything to be unsure of.
 */
export function recordIntent(send: typeof fetch, claim: Claim): typeof fetch {
  let written: Promise<void> | undefined
  return async (input, init) => {
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET')
    if (method !== 'GET') {
      written ??= claim.advance('intent', true)
      await written
    }
    return send(input, init)
  }
}

/** What a `fetch` that is passed in is told beside what every `fetch` is. */
export interface CallInit extends RequestInit {
  /**
   * Throws where the call must not leave any more, because its claim ran out while it waited for a connection.
   * A `fetch` that can should call it right before the first byte; others need not know of it.
   */
  ensureHeld?: (() => void) | undefined
}

/** A `fetch` that lets nothing leave once the claim is lost. */
export function onlyWhileHeld(send: typeof fetch, { ensureHeld }: Claim): typeof fetch {
  return async (input, init) => {
    ensureHeld()
    const call: CallInit = { ...init, ensureHeld }
    return send(input, call)
  }
}
