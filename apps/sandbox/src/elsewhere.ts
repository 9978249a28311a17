/**
 * A host that runs elsewhere: as a process, as a function, on another runtime. Nothing inside it can be seen, so
 * the sandbox stands before it, and before everybody whom it calls.
 *
 * @module
 */
import { ConnectionCut, type Served, serve } from '@org/core/testing'
import type { Environment } from './environment.ts'

/** A host that runs. */
type RunningHost = Pick<Served, 'url' | 'close'>

/** Starts a host with these variables. */
export type StartHost = (variables: Environment) => Promise<RunningHost>

/** The variables that say whom the host calls. */
const BASES = ['PLATFORM_API_URL', 'MAILER_API_BASE', 'IDP_API_BASE', 'IDP_PLATFORM_API_BASE']
/** They belong to one connection, and not to the message. */
const OF_THE_CONNECTION = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length']

/**
 * Starts a host with a relay before each of those whom it calls.
 *
 * @param send makes its calls
 * @param servers gets what was started
 * @returns what hands a request on to the host
 */
export async function startElsewhere(
  start: StartHost,
  variables: Environment,
  send: typeof fetch,
  servers: Pick<Served, 'close'>[],
): Promise<(request: Request) => Promise<Response>> {
  const relays = new Map<string, string>()
  const relayed = { ...variables }
  for (const name of BASES) {
    const base = variables[name]
    if (base === undefined)
      throw new Error(`Nobody can watch who is called by ${name}, which is not emulated.`)
    const { origin } = new URL(base)
    if (!relays.has(origin)) {
      const relay = await serve(relayTo(origin, send))
      servers.push(relay)
      relays.set(origin, relay.url)
    }
    relayed[name] = base.replace(origin, relays.get(origin) ?? origin)
  }
  const host = await start(relayed)
  servers.push(host)
  return (request) => handOn(request, host.url, fetch)
}

function relayTo(origin: string, send: typeof fetch): (request: Request) => Promise<Response> {
  return (request) =>
    handOn(request, origin, send).catch(() => {
      throw new ConnectionCut()
    })
}

async function handOn(request: Request, origin: string, send: typeof fetch): Promise<Response> {
  const { method, signal } = request
  const { pathname, search } = new URL(request.url)
  const body = request.body ? await request.arrayBuffer() : null
  const headers = ofTheMessage(request.headers)
  const answer = await send(origin + pathname + search, { method, headers, body, signal, redirect: 'manual' })
  const answerHeaders = ofTheMessage(answer.headers)
  // Undone by then.
  answerHeaders.delete('content-encoding')
  return new Response(answer.body, { status: answer.status, headers: answerHeaders })
}

function ofTheMessage(headers: Headers): Headers {
  const rest = new Headers(headers)
  for (const name of OF_THE_CONNECTION) rest.delete(name)
  return rest
}
