/** Tells requests of this machine from those that another site makes in a browser on it. */

/** @returns why a request is refused; `undefined` if no other site made it */
export function refuseOtherSites(
  what: 'page' | 'host',
  { method, url, headers }: Request,
): string | undefined {
  const { host, hostname } = new URL(url)
  // DNS rebinding: a stranger’s name that leads to this machine.
  if (!['localhost', '127.0.0.1', '[::1]'].includes(hostname)) {
    return `The ${what} is at localhost, not at ${host}.`
  }
  const [origin, site] = [headers.get('origin'), headers.get('sec-fetch-site')]
  if (origin !== null && origin !== `http://${host}`) return `The ${what} is not open to other sites.`
  if (site === null || site === 'same-origin' || site === 'none') return undefined
  const visit = headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  // “same-site” is any other port of this machine.
  return visit && method === 'GET' ? undefined : `The ${what} is not open to other sites.`
}
