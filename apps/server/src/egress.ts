/**
 * The rule for URLs that deployments bring, held down to the address that is really connected to (contract §6).
 *
 * @module
 */

import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Egress } from '@org/core'
import ipaddr from 'ipaddr.js'
import { Agent, fetch as undiciFetch } from 'undici'

/** What decides where such a URL may lead. */
export interface EgressOptions {
  production: boolean
  /** Hosts that may be called wherever they are: `mail.internal`, or `mail.internal:8443`. */
  allow: readonly string[]
  /**
   * Resolves names; tests pass one of their own.
   * @default the system's
   */
  lookup?: LookupFunction
}

const NOT_PUBLIC = 'must lead to a public address'

/** Makes the rule. */
export function createEgress({ production, allow, lookup = systemLookup }: EgressOptions): Egress {
  const isListed = (url: URL) => allow.includes(url.host) || allow.includes(url.hostname)
  // Outside production a developer's own mail server is on the same machine.
  const mayConnect = (address: string) => isPublic(address) || (!production && isLoopback(address))

  /** The system's lookup, with every answer checked: so a name can't lead elsewhere between a check and its use. */
  const checkedLookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const addresses = typeof found === 'string' ? [{ address: found, family: isIP(found) }] : found
      const [first] = addresses
      if (!first || !addresses.every(({ address }) => mayConnect(address))) {
        return callback(new Error(`${hostname} does not lead to a public address.`), [])
      }
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family)
    })
  }
  const guarded = new Agent({ connect: { lookup: checkedLookup } })
  const open = new Agent()

  function refuse(url: URL): string | undefined {
    if (isListed(url)) return undefined
    const address = literalAddress(url)
    if (!production && (url.hostname === 'localhost' || (address && isLoopback(address)))) return undefined
    if (url.protocol !== 'https:') return 'must be an https:// URL'
    // A literal is connected to without any lookup, so it is judged here.
    return address !== undefined && !isPublic(address) ? NOT_PUBLIC : undefined
  }

  return {
    refuse,
    async fetch(input, init) {
      const request = new Request(input, init)
      const url = new URL(request.url)
      const refusal = refuse(url)
      if (refusal) throw new TypeError(`${url.host} ${refusal}.`)
      const body = request.body ? new Uint8Array(await request.arrayBuffer()) : null
      const response = await undiciFetch(request.url, {
        method: request.method,
        headers: [...request.headers],
        body,
        signal: request.signal,
        redirect: 'manual',
        dispatcher: isListed(url) ? open : guarded,
      })
      return new Response(response.body ? toStream(response.body[Symbol.asyncIterator]()) : null, {
        status: response.status,
        headers: [...response.headers],
      })
    },
  }
}

/** The address that a URL names directly; URL has normalised every odd spelling of it. */
function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) ? bare : undefined
}

function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  // Of IPv6, only this part is given out; the rest holds forms such as ::127.0.0.1.
  return parsed instanceof ipaddr.IPv4 || parsed.match(ipaddr.IPv6.parseCIDR('2000::/3'))
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}

// undici and the platform declare streams of two kinds; bytes are what they agree on.
function toStream(chunks: AsyncIterator<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return?.()
    },
  })
}
