/**
 * The part of the rule for URLs that deployments bring which the URL itself decides, on any runtime
 * (contract §6).
 *
 * @module
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** What decides where such a URL may lead. */
export interface EgressRuleOptions {
  production: boolean
  /** Hosts that may be called wherever they are: `mail.internal`, or `mail.internal:8443`. */
  allow: readonly string[]
}

/** The rule. */
export interface EgressRule {
  /** The operator lists it. */
  isListed(url: URL): boolean
  /** It may be called whatever its protocol and address: it is listed, or a developer's own machine. */
  isExempt(url: URL): boolean
  /** Whether a connection may lead to an address. */
  mayConnect(address: string): boolean
}

/** Makes the rule. */
export function createEgressRule({ production, allow }: EgressRuleOptions): EgressRule {
  const isListed = (url: URL) => allow.includes(url.host) || allow.includes(url.hostname)
  return {
    isListed,
    isExempt(url) {
      if (isListed(url)) return true
      const address = literalAddress(url)
      return !production && (url.hostname === 'localhost' || (address !== undefined && isLoopback(address)))
    },
    // Outside production a developer's own mail server is on the same machine.
    mayConnect: (address) => isPublic(address) || (!production && isLoopback(address)),
  }
}

/** The address that a URL names directly; URL has normalised every odd spelling of it. */
export function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) ? bare : undefined
}

/** Whether anybody may reach an address. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  // Of IPv6, only this part is given out; the rest holds forms such as ::127.0.0.1.
  return parsed instanceof ipaddr.IPv4 || parsed.match(ipaddr.IPv6.parseCIDR('2000::/3'))
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}
