/**
 * The rule for URLs that deployments bring, held down to the address that is really connected to (contract §6).
 *
 * @module
 */

import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Egress } from '@org/core'
import { isRequest } from './dispatch.ts'
import { createEgressRule, type EgressRuleOptions, isPublic, literalAddress } from './egress-rule.ts'
import { fetchOver } from './outbound.ts'

/** What decides where such a URL may lead. */
export interface EgressOptions extends EgressRuleOptions {
  /**
   * Resolves names; tests pass one of their own.
   * @default the system's
   */
  lookup?: LookupFunction
}

const NOT_PUBLIC = 'must lead to a public address'

/** Makes the rule. */
export function createEgress({ lookup = systemLookup, ...options }: EgressOptions): Egress {
  const { isListed, isExempt, mayConnect } = createEgressRule(options)

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
  const guarded = fetchOver({ connect: { lookup: checkedLookup }, pipelining: 0 })
  const open = fetchOver({ pipelining: 0 })

  function refuse(url: URL): string | undefined {
    if (isExempt(url)) return undefined
    const address = literalAddress(url)
    if (url.protocol !== 'https:') return 'must be an https:// URL'
    // A literal is connected to without any lookup, so it is judged here.
    return address !== undefined && !isPublic(address) ? NOT_PUBLIC : undefined
  }

  return {
    refuse,
    async fetch(input, init) {
      const url = new URL(isRequest(input) ? input.url : input)
      const refusal = refuse(url)
      if (refusal) throw new TypeError(`${url.host} ${refusal}.`)
      return isListed(url) ? open(input, init) : guarded(input, init)
    },
  }
}
