/** The way out of the host: which connection a call takes, and whether its circuit lets it through. */
import type { Egress, Logger } from '@org/core'
import type { OutboundInit } from '@org/core/internal'
import { createShares, type Release, type Shares } from '@org/core/internal/host'
import { type Circuits, createCircuits, isRead } from './circuit-breaker.ts'
import { type EgressRule, refusedBaseUrl } from './egress-rule.ts'

/** A request that is ready to be sent. */
export interface OutgoingRequest
  extends Pick<OutboundInit, 'beforeSend' | 'deployment' | 'deadline' | 'isProbe'> {
  url: string
  method: string
  headers: Record<string, string>
  /** A stream is sent as it is read; `headers` has its length. */
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null
  signal: AbortSignal | null
  /** Is called once the response has arrived whole, or has failed. */
  onClosed?: () => void
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
  /** New for each call, to servers of deployments that the operator lists. */
  listed: Connection
  /** New for each call, and only to addresses that deployments may name. */
  checked: Connection
}

/** Connections that all go through one `fetch`, for a runtime that offers no others. */
export function connectBy(send: typeof fetch): Connections {
  const connection: Connection = async ({ url, onClosed, ...init }) => {
    const call: OutboundInit & { duplex: 'half' } = { ...init, duplex: 'half', redirect: 'manual' }
    const response = await send(url, call)
    // `fetch` does not tell when the body has arrived.
    onClosed?.()
    return response
  }
  return { kept: connection, certain: connection, listed: connection, checked: connection }
}

const MEBIBYTE = 1024 * 1024
/** Enough for one call of any size that a provider takes, and for several of the usual ones. */
const BODIES = { all: 64 * MEBIBYTE, each: 16 * MEBIBYTE, waiting: 64 * MEBIBYTE, what: 'large requests' }
/** Smaller bodies never wait for larger ones: the limit of events bounds them. */
const LARGE_BODY = MEBIBYTE / 4
/** The smallest window of HTTP/2, in bytes. A longer body would wait for the server to open it. */
export const SHORT_BODY = 65_535
/** A deployment’s batch makes 12 calls at a time. */
const SERVERS = { all: 256, each: 16, what: 'calls to servers of deployments' }

/** A call that waits does not begin in the last quarter of its time (5 s at most): it might be cut, in doubt. */
const RESERVE_SHARE = 0.25
const LONGEST_RESERVE_MS = 5_000

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
  const known = new Map<string, Circuits[]>()
  // A server that a deployment brings may read slowly. That must not hold up calls to the host's own providers.
  const bodies = { own: createShares(BODIES), deployments: createShares(BODIES) }
  const servers = createShares(SERVERS)

  return {
    /** Sends callbacks to the platform. */
    platform: (async (input, init) =>
      connections.kept(await readRequest(input, init))) satisfies typeof fetch,
    /** Sends the calls of one integration. Its circuits are its own: another provider that is down costs it nothing. */
    provider(integration: string): { fetch: typeof fetch; egress: Egress | undefined } {
      const circuits = createCircuits(integration, logger)
      // A server that a deployment brings never opens the circuit to the host's own provider.
      const deploymentCircuits = createCircuits(integration, logger)
      known.set(integration, [circuits, deploymentCircuits])
      return {
        async fetch(input, init) {
          const request = await readRequest(input, init)
          const connection = connections[isRead(request) ? 'kept' : 'certain']
          return withBody(bodies.own, request, () => circuits.run(request, () => connection(request)))
        },
        egress: egress && {
          refuse: egress.refuse,
          isListed: egress.isListed,
          async fetch(input, init) {
            const request = await readRequest(input, init)
            const url = new URL(request.url)
            const refusal = egress.refuse(url)
            if (refusal) throw refusedBaseUrl(refusal)
            const connection = connections[egress.isListed(url) ? 'listed' : 'checked']
            const onClosed = await takeInTime(servers, 1, request)
            const send = () => deploymentCircuits.run(request, () => connection({ ...request, onClosed }))
            return withBody(bodies.deployments, request, send).catch((error: unknown) => {
              onClosed()
              throw error
            })
          },
        },
      }
    },
    /** The state of each circuit of each integration. */
    circuits: () => new Map([...known].map(([name, all]) => [name, all.flatMap((each) => each.states())])),
  }
}

/** Sends a request once there is memory for its body; it is free again when the response begins. */
async function withBody(
  shares: Shares,
  request: OutgoingRequest,
  send: () => Promise<Response>,
): Promise<Response> {
  const { body, headers } = request
  const isStream = body instanceof ReadableStream
  const size = isStream ? Number(headers['content-length']) : (body?.length ?? 0)
  if (size < LARGE_BODY) return send()
  const free = await takeInTime(shares, size, request)
  return send().finally(free)
}

/** Waits for a share while enough time is left for the call. */
async function takeInTime(
  shares: Shares,
  amount: number,
  { deployment = '', signal, deadline }: OutgoingRequest,
): Promise<Release> {
  const signals = signal ? [signal] : []
  if (deadline !== undefined) {
    const leftMs = Math.max(0, deadline - Date.now())
    const waitMs = leftMs - Math.min(LONGEST_RESERVE_MS, leftMs * RESERVE_SHARE)
    signals.push(AbortSignal.timeout(Math.floor(waitMs)))
  }
  return shares.take(deployment, amount, AbortSignal.any(signals))
}

/**
 * Reads the arguments of `fetch`. A `Request` is recognised by its shape: the HTTP server of the Node host replaces
 * the global class, so the native one that libraries clone is no instance of it.
 */
async function readRequest(input: string | URL | Request, init: OutboundInit = {}): Promise<OutgoingRequest> {
  const given = typeof input === 'object' && 'arrayBuffer' in input ? input : undefined
  return {
    url: given?.url ?? String(input),
    method: init.method ?? given?.method ?? 'GET',
    headers: toRecord(init.headers ?? given?.headers),
    body: await readBody(init, given),
    signal: init.signal ?? given?.signal ?? null,
    beforeSend: init.beforeSend,
    deployment: init.deployment,
    deadline: init.deadline,
    isProbe: init.isProbe,
  }
}

function toRecord(headers: RequestInit['headers'] = {}): Record<string, string> {
  return Symbol.iterator in headers ? Object.fromEntries(new Headers(headers)) : { ...headers }
}

async function readBody({ body, headers }: RequestInit, given: Request | undefined) {
  if (typeof body === 'string') return body
  const length = Number(toRecord(headers)['content-length'])
  // HTTP/2 repeats a short body that was not processed, but no stream.
  if (body && 'getReader' in body && !(length <= SHORT_BODY)) return body
  if (body != null) return new Uint8Array(await new Response(body).arrayBuffer())
  return given?.body ? new Uint8Array(await given.arrayBuffer()) : null
}
