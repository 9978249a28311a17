/**
 * The rule for URLs that deployments bring, held down to the address that is really connected to (contract §6).
 *
 * @module
 */

import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Egress } from '@org/core'
import ipaddr from 'ipaddr.js'
import { Agent } from 'undici'
import { fetchThrough } from './dispatch.ts'

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
  // No connection is used twice: one that is closed at that moment leaves a send of which nobody knows.
  const guarded = new Agent({ connect: { lookup: checkedLookup }, pipelining: 0 })
  const open = new Agent({ pipelining: 0 })

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
      return fetchThrough(request, isListed(url) ? open : guarded)
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
