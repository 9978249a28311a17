/** Runs a function as its platform does: `node function-program.ts lambda|vercel <bundle>`. It logs its port. */
import { pathToFileURL } from 'node:url'
import { serve } from '../../packages/core/src/testing/serve.ts'

const [kind, bundle = ''] = process.argv.slice(2)
const functions = await import(pathToFileURL(bundle).href)
const LIMIT_MS = 30_000

/** The body is an event, and the response the result of the function. */
async function invoke(request: Request): Promise<Response> {
  const end = Date.now() + LIMIT_MS
  const context = { getRemainingTimeInMillis: () => end - Date.now() }
  return Response.json(await functions.handler(await request.json(), context))
}

const { port } = await serve(kind === 'lambda' ? invoke : functions.default.fetch)
console.log(JSON.stringify({ port }))
