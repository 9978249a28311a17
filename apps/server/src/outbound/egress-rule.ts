/** Where the base URL of a deployment may lead, as far as the URL itself says (contract §6). */

import { isIP } from 'node:net'
import { IntegrationError } from '@org/core/errors'
import ipaddr from 'ipaddr.js'

/** The rule for the base URLs of deployments. */
export interface EgressRule {
  /** @returns why a URL must not be called, as the end of a sentence; `undefined` if it may */
  refuse(url: URL): string | undefined
  /** Whether the operator lists the URL's host. */
  isListed(url: URL): boolean
  /** Whether a connection may lead to an address. */
  mayConnect(address: string): boolean
}

/**
 * Makes the rule of a host.
 *
 * @param options.allow hosts that may be called wherever they are: `mail.internal`, or `mail.internal:8443`
 * @param refuse the rule for all others; by default that of a runtime that checks the address of each connection, too
 */
export function createEgressRule(
  { production, allow }: { production: boolean; allow: readonly string[] },
  refuse: EgressRule['refuse'] = refuseAddresses,
): EgressRule {
  const isListed = (url: URL) => allow.includes(url.host) || allow.includes(url.hostname)
  // Outside production a developer's own mail server is on the same machine.
  const isOwnMachine = (url: URL) =>
    !production && (url.hostname === 'localhost' || isLoopback(literalAddress(url) ?? ''))
  return {
    isListed,
    refuse: (url) => (isListed(url) || isOwnMachine(url) ? undefined : refuse(url)),
    mayConnect: (address) => isPublic(address) || (!production && isLoopback(address)),
  }
}

function refuseAddresses(url: URL): string | undefined {
  if (url.protocol !== 'https:') return 'must be an https:// URL'
  // A literal address is connected to without a lookup, so it is checked here.
  const address = literalAddress(url)
  return address !== undefined && !isPublic(address) ? 'must lead to a public address' : undefined
}

/** The address that a URL names directly. `URL` normalises every odd spelling of it. */
function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) ? bare : undefined
}

function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  // Only this part of IPv6 is assigned; the rest holds forms such as ::127.0.0.1.
  return parsed instanceof ipaddr.IPv4 || parsed.match(ipaddr.IPv6.parseCIDR('2000::/3'))
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}

/** The error for a base URL of a deployment that the rule refuses. Nothing was sent. */
export function refusedBaseUrl(message: string): IntegrationError {
  const path = 'deployment.inputs.baseUrl'
  return new IntegrationError('invalid_inputs', `${path} ${message}.`, { errors: [{ path, message }] })
}
