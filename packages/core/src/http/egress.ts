import type { Egress } from '../contract/handler-context.ts'

/**
 * The default rule for a deployment's URLs: `https` to a named host. It does not check the address behind the
 * name; a host that serves strangers should pass a rule that does (contract §6).
 */
export function namedHostsOnly(send: typeof fetch): Egress {
  return {
    refuse(url) {
      if (url.protocol !== 'https:') return 'must be an https:// URL'
      // URL has normalised every spelling of an IPv4 address by now.
      if (/^[\d.]+$|^\[|:/.test(url.hostname)) return 'must name a host, not an address'
      return isPublicName(url.hostname) ? undefined : 'must name a public host'
    },
    fetch: send,
  }
}

/** Domains that no public name server has (RFC 6761, 6762 and 8375, and ICANN's decision on “internal”). */
const PRIVATE_DOMAINS = ['localhost', 'local', 'internal', 'home.arpa']

function isPublicName(hostname: string): boolean {
  // A full stop at the end is the same name by another spelling.
  if (!hostname.includes('.') || hostname.endsWith('.')) return false
  return !PRIVATE_DOMAINS.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`))
}
