// Kept from the start: a test may replace the timers.
const { MessageChannel: Channel, setTimeout: later } = globalThis

/**
 * Lets the event loop do other work, such as reading requests, before the caller goes on. No fake timers hold it up.
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
