/** The host as one Vercel function, on its Node runtime. */
import { createFunctionHost } from './function-host.ts'
import { createNodeRuntime } from './node-runtime.ts'

const answer = createFunctionHost(process.env, createNodeRuntime)

/** Vercel calls this for each request. */
export default {
  // Vercel sets the header itself, whatever the sender sent.
  fetch: (request: Request) => answer(request, request.headers.get('x-real-ip') ?? undefined),
}
