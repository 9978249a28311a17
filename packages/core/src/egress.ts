/**
 * The rule for URLs that a deployment brings (contract §6).
 *
 * @module
 */

/** Decides which URLs from outside the host may call, and calls them. */
export interface Egress {
  /** @returns why the host must not call the URL, as the end of a sentence; `undefined` if it may */
  refuse(url: URL): string | undefined
  /** Calls these URLs alone. Rejects if a name resolves to a forbidden address. */
  fetch: typeof fetch
}

/**
 * The default rule: `https` to a public host name. It can't see the address behind a name; a host with
 * deployments from strangers should pass a stricter rule.
 */
export function namedHostsOnly(send: typeof fetch): Egress {
  return {
    refuse({ protocol, hostname }) {
      if (protocol !== 'https:') return 'must be an https:// URL'
      // `URL` has normalised every spelling of an IPv4 address.
      if (/^[\d.]+$|^\[|:/.test(hostname)) return 'must have a host name, not an IP address'
      const isLocal = /(^|\.)localhost$|\.(local|internal)$/.test(hostname)
      return isLocal ? 'must have a public host name' : undefined
    },
    fetch: send,
  }
}
