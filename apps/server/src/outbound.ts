/**
 * How calls to the providers leave a Node host.
 *
 * @module
 */
import { Agent } from 'undici'
import { fetchThrough } from './dispatch.ts'

/** A connection of its own for each call. */
const fresh = new Agent({ pipelining: 0 })

/**
 * A `fetch` that makes a new connection for every call that may change something.
 *
 * A provider closes connections that are idle, and a call that is written to one at that moment breaks without
 * saying whether it arrived: a mail of which nobody knows whether it was sent. Reading may be repeated, so it
 * goes over connections that are kept.
 */
export const fetchFresh: typeof fetch = async (input, init) => {
  const request = new Request(input, init)
  return request.method === 'GET' || request.method === 'HEAD' ? fetch(request) : fetchThrough(request, fresh)
}
