import { type Faults, withFaults } from './faults.ts'

/** A request whose body has been read. */
export interface EmulatedRequest {
  method: string
  url: URL
  headers: Headers
  /** The size of the body on the wire. */
  bytes: number
  text: string
}

/** One recorded request. */
export interface EmulatorCall {
  method: string
  /** With the query, if there is one. */
  path: string
  /** The status of the response; `undefined` before the response, and if there was none. */
  status: number | undefined
  /** ISO 8601, UTC. */
  at: string
}

const CALLS_KEPT = 10_000

// Node's Request holds its signal by a weak reference only. Without these references, an abort can miss a
// request that waits.
const inFlight = new Set<unknown>()

/**
 * Makes a `fetch` function from a handler. It works in process, and as a handler for {@link serve}.
 *
 * @param options.handle responds to a request that no fault prevents
 * @param options.refusal makes the body of a refusal with a status, for faults that name none
 * @param options.details the facts to record about a call beside its method, path and status
 * @returns the function, and its newest 10,000 calls, newest last, calls that met a fault included
 */
export function createEmulator<Details extends object>(options: {
  faults: Faults
  handle: (request: EmulatedRequest) => Response | Promise<Response>
  refusal?: (status: number) => unknown
  details: (request: EmulatedRequest) => Details
}): { fetch: typeof globalThis.fetch; calls: (EmulatorCall & Details)[] } {
  const calls: (EmulatorCall & Details)[] = []

  async function respond(request: Request): Promise<Response> {
    request.signal.throwIfAborted()
    const bytes = await request.arrayBuffer()
    const { method, headers } = request
    const url = new URL(request.url)
    const emulated = { method, url, headers, bytes: bytes.byteLength, text: new TextDecoder().decode(bytes) }
    const call: EmulatorCall & Details = {
      ...options.details(emulated),
      method,
      path: url.pathname + url.search,
      status: undefined,
      at: new Date().toISOString(),
    }
    keepNewest(calls, [call], CALLS_KEPT)
    const { faults, handle, refusal } = options
    const response = await withFaults(faults, request, async () => handle(emulated), refusal)
    call.status = response.status
    return response
  }

  return {
    calls,
    async fetch(input, init) {
      const held = { input, request: new Request(input, init) }
      inFlight.add(held)
      try {
        return await respond(held.request)
      } finally {
        inFlight.delete(held)
      }
    },
  }
}

/** Appends items to a list, and removes the oldest items above the limit. */
export function keepNewest<Item>(list: Item[], items: readonly Item[], limit: number): void {
  for (const item of items) list.push(item)
  if (list.length > limit) list.splice(0, list.length - limit)
}
