/** Resolves the host names of deployments' own servers. */
import { IntegrationError } from '@org/core/errors'
import { createShares } from '@org/core/internal/host'

/** The addresses of a name. Rejects if there is none. */
export type Resolve = (hostname: string, deployment: string) => Promise<string[]>

/** Longest time for one name, with the wait for others of its deployment. */
const LIMIT_MS = 2_000
/** With two servers in resolv.conf, the second one has its turn within the limit. */
const ATTEMPT = { timeout: 700, tries: 2 }
/** How much longer the host waits for the addresses of the other family (RFC 8305 §3). */
const OTHER_FAMILY_MS = 50
const NAMES = { all: 256, each: 4, what: 'look-ups of names' }
const LOOPBACK = ['127.0.0.1', '::1']

/**
 * Makes a resolver that asks the name servers of the system itself. `dns.lookup` would occupy one of the four threads
 * of the process, for ten seconds if a name server is silent, and every other call of the host would wait for it.
 *
 * It asks for a name as it stands: neither /etc/hosts nor a search domain of the host's network is for deployments.
 */
export function createResolver(): Resolve {
  const names = createShares(NAMES)

  return async (hostname, deployment) => {
    // RFC 6761: no name server is asked for it.
    if (/(^|\.)localhost\.?$/.test(hostname)) return LOOPBACK
    const limit = AbortSignal.timeout(LIMIT_MS)
    const free = await names.take(deployment, 1, limit)
    return askServers(hostname, limit).finally(free)
  }
}

async function askServers(hostname: string, limit: AbortSignal): Promise<string[]> {
  // Few hosts need it, and a start should be fast.
  const dns = await import('node:dns/promises')
  // One for each name: `cancel` ends everything that a resolver does.
  const resolver = new dns.Resolver(ATTEMPT)
  const cancel = () => resolver.cancel()
  limit.addEventListener('abort', cancel)
  let grace: ReturnType<typeof setTimeout> | undefined
  const ask = async (family: 'resolve4' | 'resolve6') => {
    const addresses = await resolver[family](hostname)
    grace ??= setTimeout(cancel, OTHER_FAMILY_MS)
    return addresses
  }
  const answers = await Promise.allSettled([ask('resolve4'), ask('resolve6')])
  clearTimeout(grace)
  limit.removeEventListener('abort', cancel)
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const [failed] = answers
  if (addresses.length > 0 || failed.status === 'fulfilled') return addresses
  const { code } = failed.reason
  // The resolver has asked twice by now. A retry of the whole call would take as long again.
  if (!limit.aborted && code !== dns.TIMEOUT && code !== dns.CANCELLED) throw failed.reason
  throw new IntegrationError('provider_error', `The name servers of ${hostname} do not answer.`, {
    hint: 'Nothing was sent. Check the baseUrl of the deployment, and its DNS.',
  })
}
