/**
 * A host outside this process: another process, a function, another runtime. The sandbox can’t look inside, so
 * it puts a relay before the host, and one before each server that the host calls.
 */
import { ConnectionCut, type Served, serve } from '@org/core/testing'
import { proxy } from 'hono/proxy'
import type { Environment } from './listen.ts'
import { createSamples } from './samples.ts'

/** Starts a host with these variables. */
export type StartHost = (variables: Environment) => Promise<Pick<Served, 'url' | 'close'>>

/** The variables with the URLs that the host calls. */
const BASES = [
  ...['PLATFORM_API_URL', 'MAILER_API_BASE', 'IDP_API_BASE', 'IDP_PLATFORM_API_BASE'],
  ...createSamples()
    .flatMap(({ variables }) => Object.entries(variables('http://provider.test')))
    .flatMap(([name, value]) => (URL.canParse(value) ? name : [])),
]

/**
 * Starts a host with a relay before each server that it calls.
 * @param send makes the calls of the host
 * @param servers collects the started servers
 * @returns forwards a request to the host
 * @throws {Error} if a provider is not emulated
 */
export async function startElsewhere(
  start: StartHost,
  variables: Environment,
  send: typeof fetch,
  servers: Pick<Served, 'close'>[],
): Promise<(request: Request) => Promise<Response>> {
  const relayed = { ...variables }
  for (const name of BASES) {
    const base = variables[name]
    if (base === undefined)
      throw new Error(`The sandbox can’t observe the calls to ${name}: it is not emulated.`)
    const { origin } = new URL(base)
    const relay = await serve((request) =>
      forward(request, origin, send).catch(() => {
        throw new ConnectionCut()
      }),
    )
    servers.push(relay)
    relayed[name] = base.replace(origin, relay.url)
  }
  const host = await start(relayed)
  servers.push(host)
  return (request) => forward(request, host.url, fetch)
}

function forward(request: Request, origin: string, send: typeof fetch): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const headers = new Headers(request.headers)
  // The relay has another name than the server behind it.
  headers.delete('host')
  return proxy(origin + pathname + search, { raw: new Request(request, { headers }), customFetch: send })
}
