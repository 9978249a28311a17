/**
 * The host as an AWS Lambda function: behind an HTTP API or a REST API of API Gateway, behind a load balancer, or
 * by its own function URL.
 */
import { Hono } from 'hono'
import { getConnInfo, handle } from 'hono/aws-lambda'
import { createFunctionHost } from './function-host.ts'
import { createNodeRuntime } from './node-runtime.ts'

const host = createFunctionHost(process.env, createNodeRuntime)
const answer = handle(
  new Hono().all('*', (context) => host.fetch(context.req.raw, getConnInfo(context).remote.address)),
)
let unchecked = true

/** Lambda calls this for each request. */
export const handler: typeof answer = (event, context) => {
  if (unchecked) warnOfShortLimit(context?.getRemainingTimeInMillis?.())
  unchecked = false
  return answer(event, context)
}

/** Lambda ends a function at its time limit, by default after three seconds, even in the middle of a send. */
function warnOfShortLimit(remainingMs = Number.POSITIVE_INFINITY): void {
  const needed = host.running?.config.requestTimeoutMs ?? 0
  if (remainingMs > needed) return
  host.running?.logger('warn', 'The time limit of the function must be longer than REQUEST_TIMEOUT_MS.', {
    remainingMs,
    REQUEST_TIMEOUT_MS: needed,
  })
}
