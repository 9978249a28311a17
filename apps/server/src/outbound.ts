/**
 * How calls leave a Node host.
 *
 * @module
 */
import type { Agent } from 'undici'
import { fetchThrough, isRequest } from './dispatch.ts'

/** A `fetch` over connections of its own, which are loaded with the first call: a host should start fast. */
export function fetchOver(options: Agent.Options): typeof fetch {
  let loading: Promise<typeof fetch> | undefined
  return async (input, init) => {
    loading ??= import('undici').then((undici) => fetchThrough(new undici.Agent(options)))
    return (await loading)(input, init)
  }
}

/** Over connections that are kept: for calls that may be made twice. */
export const fetchKept = fetchOver({})

const fetchOnce = fetchOver({ pipelining: 0 })

/**
 * A `fetch` that makes a new connection for every call that may change something.
 *
 * A provider closes connections that are idle, and a call that is written to one at that moment breaks without
 * saying whether it arrived: a mail of which nobody knows whether it was sent. Reading may be repeated, so it
 * goes over connections that are kept.
 */
export const fetchFresh: typeof fetch = (input, init) => {
  const method = init?.method ?? (isRequest(input) ? input.method : 'GET')
  return method === 'GET' || method === 'HEAD' ? fetchKept(input, init) : fetchOnce(input, init)
}
