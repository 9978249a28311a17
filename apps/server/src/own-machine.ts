/** Tells requests of this machine from those that another site makes in a browser on it. */
import type { Logger } from '@org/core'
import { IntegrationError } from '@org/core/errors'
import { toProblemResponse } from '@org/core/internal/host'

/** Answers a request; `peer` is the network address of the sender. */
type Answer = (request: Request, peer?: string) => Response | Promise<Response>

/**
 * Finds requests that a site in a browser makes, directly or by a name of its own that leads to this machine.
 *
 * @param what the server that was asked, for the refusal
 * @param origins other origins whose pages may read it; the routes say what
 * @returns why a request is refused; `undefined` if no other site made it
 */
export function refuseOtherSites(
  what: 'page' | 'host',
  { method, url, headers }: Request,
  origins: readonly string[] = [],
): string | undefined {
  const { host, hostname } = new URL(url)
  // DNS rebinding: a stranger’s name that leads to this machine.
  if (!/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) {
    return `The ${what} is at localhost, not at ${host}.`
  }
  const [origin, site] = [headers.get('origin'), headers.get('sec-fetch-site')]
  if (origin !== null && origins.includes(origin)) return undefined
  if (origin !== null && origin !== `http://${host}`) return `The ${what} is not open to other sites.`
  if (site === null || site === 'same-origin' || site === 'none') return undefined
  const visit = headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  // “same-site” is any other port of this machine.
  return visit && method === 'GET' ? undefined : `The ${what} is not open to other sites.`
}

/** Keeps other sites out of a host that accepts every event. On the loopback interface, a browser still reaches it. */
export function forOwnMachine(
  { fetch, logger }: { fetch: Answer; logger: Logger },
  origins: readonly string[],
): Answer {
  return (request, peer) => {
    const refusal = refuseOtherSites('host', request, origins)
    if (refusal === undefined) return fetch(request, peer)
    logger('warn', 'A request of another site, or to another name, was refused.', { peer })
    return toProblemResponse(
      new IntegrationError('invalid_signature', refusal, {
        hint: 'Set PLATFORM_WEBHOOK_SECRET, and sign the events, to reach this host by another name.',
      }),
    )
  }
}
