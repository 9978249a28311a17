/**
 * What every emulator has in common: it is a `fetch` function, it has faults on demand, and it remembers
 * what it was asked.
 *
 * @module
 */
import { type Faults, withFaults } from './faults.ts'

/** A request with its body read. */
export interface EmulatedRequest {
  method: string
  url: URL
  headers: Headers
  /** The size of the body on the wire. */
  bytes: number
  text: string
}

/** One request that an emulator got. */
export interface EmulatorCall {
  method: string
  /** With the query, where there is one. */
  path: string
  /** What was answered; `undefined` while there is no answer, and where none ever came. */
  status: number | undefined
  /** ISO 8601, UTC. */
  at: string
}

/** Options of {@link createEmulator}. */
export interface EmulatorOptions<Details extends object> {
  faults: Faults
  /** Answers a request that no fault prevents. */
  handle: (request: EmulatedRequest) => Response | Promise<Response>
  /** What to remember of a call beside its method, path and status. */
  details: (request: EmulatedRequest) => Details
}

/** The core of an emulator. */
export interface Emulator<Details extends object> {
  /** Works as a `fetch` in process, and as a handler for {@link serve}. */
  fetch: typeof globalThis.fetch
  /** The newest 10,000 calls, those that met a fault included, newest last. */
  calls: (EmulatorCall & Details)[]
}

const CALLS_KEPT = 10_000

// Node's Request follows its signal by weak references alone: without these, an abort could miss a request
// that only waits.
const inFlight = new Set<unknown>()

/** Makes a `fetch` out of a handler. */
export function createEmulator<Details extends object>(options: EmulatorOptions<Details>): Emulator<Details> {
  const calls: (EmulatorCall & Details)[] = []

  async function answer(request: Request): Promise<Response> {
    request.signal.throwIfAborted()
    const emulated = await read(request)
    const call: EmulatorCall & Details = {
      ...options.details(emulated),
      method: emulated.method,
      path: emulated.url.pathname + emulated.url.search,
      status: undefined,
      at: new Date().toISOString(),
    }
    keepNewest(calls, [call], CALLS_KEPT)
    const response = await withFaults(options.faults, request, async () => options.handle(emulated))
    call.status = response.status
    return response
  }

  return {
    calls,
    async fetch(input, init) {
      const request = new Request(input, init)
      const held = { input, request }
      inFlight.add(held)
      try {
        return await answer(request)
      } finally {
        inFlight.delete(held)
      }
    },
  }
}

async function read(request: Request): Promise<EmulatedRequest> {
  const bytes = await request.arrayBuffer()
  return {
    method: request.method,
    url: new URL(request.url),
    headers: request.headers,
    bytes: bytes.byteLength,
    text: new TextDecoder().decode(bytes),
  }
}

/** Appends to a list, and drops the oldest of what is then too much. */
export function keepNewest<Item>(list: Item[], items: readonly Item[], limit: number): void {
  for (const item of items) list.push(item)
  if (list.length > limit) list.splice(0, list.length - limit)
}
