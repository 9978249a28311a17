/**
 * The parts of a host that only Node has: connections, the check of the address behind a name, and HMAC.
 *
 * @module
 */
import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Config } from '../config.ts'
import { createEgressRule, type EgressRule, refusedBaseUrl } from '../egress-rule.ts'
import type { HostOptions } from '../host.ts'
import { nodeHmac } from './hmac.ts'
import { connectOver } from './transport.ts'

/**
 * Makes the parts of a host that only Node has.
 *
 * @param lookup resolves names; tests pass their own
 */
export function createNodeRuntime(
  { production, egressAllow }: Pick<Config, 'production' | 'egressAllow'>,
  lookup: LookupFunction = systemLookup,
): Required<Pick<HostOptions, 'connections' | 'egress' | 'hmac'>> {
  const egress = createEgressRule({ production, allow: egressAllow })
  return {
    connections: {
      kept: connectOver({}),
      fresh: connectOver({ pipelining: 0 }),
      checked: connectOver({ pipelining: 0, connect: { lookup: checkLookup(lookup, egress) } }),
    },
    egress,
    hmac: nodeHmac,
  }
}

/** Checks the addresses that are connected to, so that a name can't lead elsewhere between a check and its use. */
function checkLookup(lookup: LookupFunction, { mayConnect }: EgressRule): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const addresses = typeof found === 'string' ? [{ address: found, family: isIP(found) }] : found
      const [first] = addresses
      if (!first || !addresses.every(({ address }) => mayConnect(address))) {
        return callback(refusedBaseUrl(`leads to an address that is not public: ${hostname}`), [])
      }
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family)
    })
  }
}
