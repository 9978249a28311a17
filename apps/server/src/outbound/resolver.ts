/** Resolves the host names of deployments' own servers. */
import { IntegrationError } from '@org/core/errors'

/** The addresses of a name. Rejects if there is none. */
export type Resolve = (hostname: string) => Promise<string[]>

/** Longest time for one name, in milliseconds. */
const LIMIT_MS = 2_000
/** With two servers in resolv.conf, the second one has its turn within the limit. */
const ATTEMPT = { timeout: 700, tries: 2 }
const LOOPBACK = ['127.0.0.1', '::1']

/**
 * Asks the name servers of the system itself. `dns.lookup` would occupy one of the four threads of the process, for ten
 * seconds if a name server is silent, and every other call of the host would wait for it.
 *
 * It asks for a name as it stands: neither /etc/hosts nor a search domain of the host's network is for deployments.
 */
export const resolveName: Resolve = async (hostname) => {
  // RFC 6761: no name server is asked for it.
  if (/(^|\.)localhost\.?$/.test(hostname)) return LOOPBACK
  // Few hosts need it, and a start should be fast.
  const { CANCELLED, Resolver, TIMEOUT } = await import('node:dns/promises')
  // One for each name: `cancel` ends everything that a resolver does.
  const resolver = new Resolver(ATTEMPT)
  const limit = setTimeout(() => resolver.cancel(), LIMIT_MS)
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  clearTimeout(limit)
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const [failed] = answers
  if (addresses.length > 0 || failed.status === 'fulfilled') return addresses
  // The resolver has asked twice by now. A retry of the whole call would take as long again.
  if (![TIMEOUT, CANCELLED].includes(failed.reason.code)) throw failed.reason
  throw new IntegrationError('provider_error', `The name servers of ${hostname} do not answer.`, {
    hint: 'Nothing was sent. Check the baseUrl of the deployment, and its DNS.',
  })
}
