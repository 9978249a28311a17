/**
 * The host as an AWS Lambda function: behind an HTTP API or a REST API of API Gateway, behind a load balancer, or
 * by its own function URL.
 */
import { Hono } from 'hono'
import { getConnInfo, handle } from 'hono/aws-lambda'
import { createFunctionHost } from './function-host.ts'
import { createNodeRuntime } from './node-runtime.ts'

const answer = createFunctionHost(process.env, createNodeRuntime)

/** Lambda calls this for each request. */
export const handler = handle(
  new Hono().all('*', (context) => answer(context.req.raw, getConnInfo(context).remote.address)),
)
