import { createOutbound } from '../../../apps/server/src/outbound.ts'
import { createNodeRuntime } from '../../../apps/server/src/runtimes/node-runtime.ts'

/**
 * Makes a contender's client for a provider. The call that it resolves with throws if the response is wrong.
 *
 * It imports its library when it is called, so that no process holds the library of another contender.
 */
export type Connect = (url: string) => Promise<() => Promise<void>>

/** The `fetch` that the host on Node gives its integrations. */
export const hostTransport = (integration: string): typeof fetch => {
  const { connections } = createNodeRuntime({ production: false, egressAllow: [] })
  return createOutbound({ connections, logger: () => {} }).provider(integration).fetch
}

/** @throws if a field of a response has another value */
export function expectField(response: unknown, name: string, expected: string): void {
  const value = typeof response === 'object' && response !== null ? Reflect.get(response, name) : undefined
  if (value !== expected) throw new Error(`${name} is ${JSON.stringify(value)} and not “${expected}”.`)
}
