/**
 * How calls leave a Node host.
 *
 * @module
 */
import { Agent } from 'undici'
import { fetchThrough } from './dispatch.ts'

/** Over connections that are kept: for calls that may be made twice. */
export const fetchKept = fetchThrough(new Agent())

const fetchOnce = fetchThrough(new Agent({ pipelining: 0 }))

/**
 * A `fetch` that makes a new connection for every call that may change something.
 *
 * A provider closes connections that are idle, and a call that is written to one at that moment breaks without
 * saying whether it arrived: a mail of which nobody knows whether it was sent. Reading may be repeated, so it
 * goes over connections that are kept.
 */
export const fetchFresh: typeof fetch = (input, init) => {
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET')
  return method === 'GET' || method === 'HEAD' ? fetchKept(input, init) : fetchOnce(input, init)
}
