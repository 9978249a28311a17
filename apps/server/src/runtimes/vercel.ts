/** The host as one Vercel function, on its Node runtime. */
import { createFunctionHost } from './function-host.ts'
import { createNodeRuntime } from './node-runtime.ts'

const host = createFunctionHost(process.env, createNodeRuntime)

/** Vercel calls this for each request. */
export default {
  // Vercel sets the header itself, whatever the sender sent.
  fetch: (request: Request) => host.fetch(request, request.headers.get('x-real-ip') ?? undefined),
}
