/** The host as a Cloudflare Worker, with the compatibility flag `nodejs_compat`. */
import type { Host } from '../host.ts'

/** The part of Cloudflare's context that the Worker uses. */
interface ExecutionContext {
  waitUntil(work: Promise<unknown>): void
}

// A Worker gets its variables with each request.
let answer: Host['fetch'] | undefined

/** Workers call this for each request. */
export default {
  fetch(request: Request, bindings: Record<string, unknown>, context: ExecutionContext): Promise<Response> {
    const response = respond(request, bindings)
    // Otherwise a sender that goes away would end the work in the middle.
    context.waitUntil(response)
    return response
  },
}

async function respond(request: Request, bindings: Record<string, unknown>): Promise<Response> {
  // Loaded here: parts of them make an AbortController while they load, and only requests may do that.
  const [{ createFunctionHost }, { createEgressRule }, { namedHostsOnly }] = await Promise.all([
    import('./function-host.ts'),
    import('../outbound/egress-rule.ts'),
    import('@org/core/internal/host'),
  ])
  answer ??= createFunctionHost(readVariables(bindings), ({ production, egressAllow: allow }) => ({
    // It can't see the address behind a name, and does not run in the operator's network.
    egress: createEgressRule({ production, allow }, namedHostsOnly(fetch).refuse),
  }))
  // Cloudflare sets the header itself, whatever the sender sent.
  return answer(request, request.headers.get('cf-connecting-ip') ?? undefined)
}

/** Variables are strings, or numbers of a configuration file. Other bindings are not the host's. */
function readVariables(bindings: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(bindings).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
    ),
  )
}
