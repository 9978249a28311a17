/** The parts of a host that only Node has: connections, and the check of the address behind a name. */
import { isIP, type LookupFunction } from 'node:net'
import type { Config } from '../config.ts'
import type { HostOptions } from '../host.ts'
import { withDates } from '../outbound/certificates.ts'
import { createEgressRule, type EgressRule, refusedBaseUrl } from '../outbound/egress-rule.ts'
import { type Resolve, resolveName } from '../outbound/resolver.ts'
import { connectForWrites, connectOver } from '../outbound/transport.ts'

/** Longest time until a connection to a deployment's own server stands, with the look-up of its name. */
const CONNECT_MS = 5_000

/**
 * Makes the parts of a host that only Node has.
 *
 * @param resolve resolves the names of deployments' own servers; tests pass their own
 */
export function createNodeRuntime(
  { production, egressAllow }: Pick<Config, 'production' | 'egressAllow'>,
  resolve: Resolve = resolveName,
): Required<Pick<HostOptions, 'connections' | 'egress'>> {
  const egress = createEgressRule({ production, allow: egressAllow })
  const lookup = checkLookup(resolve, egress)
  const connect = { lookup, timeout: CONNECT_MS }
  return {
    connections: {
      kept: withDates(connectOver({})),
      certain: withDates(connectForWrites()),
      checked: withDates(connectOver({ pipelining: 0, allowH2: false, connect }), lookup),
    },
    egress,
  }
}

/** Checks the addresses that are connected to, so that a name can't lead elsewhere between a check and its use. */
function checkLookup(resolve: Resolve, { mayConnect }: EgressRule): LookupFunction {
  return (hostname, options, callback) => {
    const answer = (addresses: string[]) => {
      const [first] = addresses
      if (!first || !addresses.every(mayConnect)) {
        return callback(refusedBaseUrl(`leads to an address that is not public: ${hostname}`), [])
      }
      const found = addresses.map((address) => ({ address, family: isIP(address) }))
      return options.all ? callback(null, found) : callback(null, first, isIP(first))
    }
    resolve(hostname).then(answer, (error: NodeJS.ErrnoException) => callback(error, []))
  }
}
