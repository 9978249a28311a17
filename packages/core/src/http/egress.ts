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
      return /(^|\.)localhost$|\.(local|internal)$/.test(url.hostname) ? 'must name a public host' : undefined
    },
    fetch: send,
  }
}
