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

interface FloorRequest {
  path: string
  headers: Record<string, string>
  /** The body of a POST; without one, the request is a GET. */
  json?: object
  check: (response: unknown) => void
}

/** The HTTP clients without retries, typed failures and limits, by id. */
export function createFloors({ path, headers, json, check }: FloorRequest): Record<string, Connect> {
  const createInit = () => (json ? { method: 'POST', headers, body: JSON.stringify(json) } : { headers })
  const undiciRequest =
    (pipelining: number): Connect =>
    async (url) => {
      const { Agent, request } = await import('undici')
      const dispatcher = new Agent({ pipelining })
      return async () => {
        const { body } = await request(url + path, { ...createInit(), dispatcher })
        check(await body.json())
      }
    }
  return {
    'undici-request': undiciRequest(1),
    'undici-fresh': undiciRequest(0),
    fetch: async (url) => async () => check(await (await fetch(url + path, createInit())).json()),
    async ky(url) {
      const { default: ky } = await import('ky')
      const init = json ? { method: 'POST', headers, json } : { headers }
      return async () => check(await ky(url + path, init).json())
    },
  }
}
