// Kept from the start: a test may replace the timers.
const { MessageChannel: Channel, setTimeout: later } = globalThis

/** Workers end the turns of a request with the request, so no other request may wait for them there. */
declare const FixedLengthStream: unknown

let turns = Promise.resolve()

/**
 * Lets the event loop do other work, such as reading requests, before the caller goes on. Callers go on one in a turn,
 * and no fake timers hold them up.
 *
 * @example
 * ```ts
 * for (const [at, message] of messages.entries()) {
 *   if (at % 200 === 199) await breathe()
 *   check(message)
 * }
 * ```
 */
export function breathe(): Promise<void> {
  if (typeof FixedLengthStream !== 'undefined') return nextTurn()
  turns = turns.then(nextTurn)
  return turns
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    // Workers have had channels since 2025 only.
    if (!Channel) {
      later(resolve)
      return
    }
    const { port1, port2 } = new Channel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}
