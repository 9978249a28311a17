/**
 * Where a URL that a deployment brings may lead (contract §6).
 *
 * @module
 */

/** The rule for URLs that come from outside, and the `fetch` that holds it down to the connection. */
export interface Egress {
  /** @returns why the URL must not be called, as the end of a sentence; `undefined` where it may */
  refuse(url: URL): string | undefined
  /** Used for these URLs alone. Rejects where the address that a name leads to is not allowed. */
  fetch: typeof fetch
}

/**
 * The rule where the host gives none: `https` to a name. It can't know the address behind a name; a host that
 * takes deployments from strangers should pass a rule that does.
 */
export function namedHostsOnly(send: typeof fetch): Egress {
  return {
    refuse(url) {
      if (url.protocol !== 'https:') return 'must be an https:// URL'
      // URL has normalised every spelling of an IPv4 address by now.
      if (/^[\d.]+$|^\[|:/.test(url.hostname)) return 'must name a host, and not an address'
      return /(^|\.)localhost$|\.(local|internal)$/.test(url.hostname)
        ? 'must lead to a public host'
        : undefined
    },
    fetch: send,
  }
}
