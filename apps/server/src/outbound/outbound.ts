/** The way out of the host: which connection a call takes, and whether its circuit lets it through. */
import type { Egress, Logger } from '@org/core'
import type { OutboundInit } from '@org/core/hosting'
import { createCircuits, createPlatformCircuit, isRead, PLATFORM } from './circuit-breaker.ts'
import { type EgressRule, refusedBaseUrl } from './egress-rule.ts'

/** A request that is ready to be sent. */
export interface OutgoingRequest extends Pick<OutboundInit, 'beforeSend' | 'isProbe'> {
  url: string
  method: string
  headers: Record<string, string>
  /** A whole body can be repeated when the server did not process it. */
  body: string | Uint8Array<ArrayBuffer> | null
  signal: AbortSignal | null
}

/** Sends a request, and does not follow redirects. */
export type Connection = (request: OutgoingRequest) => Promise<Response>

/** The connections of a runtime. */
export interface Connections {
  /** Kept open between calls: for reads and callbacks, which may be repeated. */
  kept: Connection
  /**
   * For writes. A provider closes idle connections, and a write that is sent at that moment breaks. This connection
   * carried no call before, or it tells which calls were not processed.
   */
  certain: Connection
  /** New for each call, and only to addresses that deployments may name. */
  checked: Connection
}

/** Connections that all go through one `fetch`, for a runtime that offers no others. */
export function connectBy(send: typeof fetch): Connections {
  const connection: Connection = ({ url, ...init }) => {
    const call: OutboundInit = { ...init, redirect: 'manual' }
    return send(url, call)
  }
  return { kept: connection, certain: connection, checked: connection }
}

/** The way out of a host. */
export type Outbound = ReturnType<typeof createOutbound>

/**
 * Makes the way out of a host.
 *
 * @param options.egress without one, the rule of core applies
 */
export function createOutbound(options: {
  connections: Connections
  egress?: EgressRule | undefined
  logger: Logger
}) {
  const { connections, egress, logger } = options
  const connectionFor = (request: OutgoingRequest) => connections[isRead(request) ? 'kept' : 'certain']
  const circuit = createPlatformCircuit(logger)
  const known = new Map<string, { states(): (string | undefined)[] }[]>([[PLATFORM, [circuit]]])
  return {
    /** Sends callbacks to the platform. */
    platform: {
      fetch: (async (input, init) => connections.kept(await readRequest(input, init))) satisfies typeof fetch,
      wrapAttempt: circuit.wrap,
    },
    /** Sends the calls of one integration. Its circuits are its own: another provider that is down costs it nothing. */
    provider(integration: string): { fetch: typeof fetch; egress: Egress | undefined } {
      const circuits = createCircuits(integration, logger)
      // A server that a deployment brings never opens the circuit to the host's own provider.
      const deploymentCircuits = createCircuits(integration, logger)
      known.set(integration, [circuits, deploymentCircuits])
      return {
        async fetch(input, init) {
          const request = await readRequest(input, init)
          return circuits.run(request, () => connectionFor(request)(request))
        },
        egress: egress && {
          refuse: egress.refuse,
          isListed: egress.isListed,
          async fetch(input, init) {
            const request = await readRequest(input, init)
            const url = new URL(request.url)
            const refusal = egress.refuse(url)
            if (refusal) throw refusedBaseUrl(refusal)
            const connection = egress.isListed(url) ? connectionFor(request) : connections.checked
            return deploymentCircuits.run(request, () => connection(request))
          },
        },
      }
    },
    /** The state of each circuit of each integration, and of the platform. */
    circuits: () => new Map([...known].map(([name, all]) => [name, all.flatMap((each) => each.states())])),
  }
}

/**
 * Reads the arguments of `fetch`. A `Request` is recognised by its shape: the HTTP server of the Node host replaces
 * the global class, so the native one that libraries clone is no instance of it.
 */
async function readRequest(input: string | URL | Request, init: OutboundInit = {}): Promise<OutgoingRequest> {
  const given = typeof input === 'object' && 'arrayBuffer' in input ? input : undefined
  const { headers = given?.headers ?? {}, body = given?.body ?? null } = init
  return {
    url: given?.url ?? String(input),
    method: init.method ?? given?.method ?? 'GET',
    headers: Symbol.iterator in headers ? Object.fromEntries(new Headers(headers)) : { ...headers },
    body:
      typeof body === 'string' || body === null
        ? body
        : new Uint8Array(await new Response(body).arrayBuffer()),
    signal: init.signal ?? given?.signal ?? null,
    beforeSend: init.beforeSend,
    isProbe: init.isProbe,
  }
}
