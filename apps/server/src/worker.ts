/**
 * The host as a Cloudflare Worker, with the compatibility flag `nodejs_compat`.
 *
 * @module
 */
import type { FunctionHost } from './function-host.ts'

/** As far as it is used. */
interface ExecutionContext {
  waitUntil(work: Promise<unknown>): void
}

// A Worker is told its variables with its requests.
let host: FunctionHost | undefined

/** What Workers call for each request. */
export default {
  fetch(request: Request, bindings: Record<string, unknown>, context: ExecutionContext): Promise<Response> {
    const answer = answerTo(request, bindings)
    // A sender that goes away would otherwise end the work in the middle.
    context.waitUntil(answer)
    return answer
  },
}

async function answerTo(request: Request, bindings: Record<string, unknown>): Promise<Response> {
  // Loaded here, because some of it makes an AbortController as it is loaded, which only requests may.
  const [{ createFunctionHost }, { createWorkerEgress }] = await Promise.all([
    import('./function-host.ts'),
    import('./worker-egress.ts'),
  ])
  host ??= createFunctionHost(readVariables(bindings), ({ production, egressAllow: allow }) => {
    const send: typeof fetch = (input, init) => fetch(input, init)
    return { fetch: send, egress: createWorkerEgress({ production, allow }, send) }
  })
  return host.fetch(request)
}

/** Variables are texts, or numbers as a configuration file may have them; other bindings are not ours. */
function readVariables(bindings: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(bindings).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
    ),
  )
}
