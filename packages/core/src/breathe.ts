// Kept from the start, because a test may replace it. Where a runtime or a test has no channels, there are no turns.
const { MessageChannel: Channel } = globalThis

/** Workers end the turns of a request with the request, so no other request may wait for them there. */
declare const FixedLengthStream: unknown

let turns = Promise.resolve()

/**
 * Lets the event loop do other work, such as reading requests, before the caller goes on. Callers go on one in a turn,
 * and no fake timers hold them up.
 */
export function breathe(): Promise<void> {
  if (typeof FixedLengthStream !== 'undefined') return nextTurn()
  turns = turns.then(nextTurn)
  return turns
}

/** Lets the event loop do other work like {@link breathe}, and waits for no other caller. */
export async function nextTurn(): Promise<void> {
  if (!Channel) return
  const { port1, port2 } = new Channel()
  await new Promise((resolve) => {
    port1.onmessage = resolve
    port2.postMessage(undefined)
  })
  port1.close()
}
