/** Mounts a published integration in the frameworks that its users have. Each mount responds to a request. */

import { createCarrierPigeonProvider } from '@acme/carrier-pigeon/testing'
import { createHandler } from '@acme/carrier-pigeon/webhook'
import { serve } from '@hono/node-server'
import { createVerifier, sign } from '@org/core'
import { createPlatformClient } from '@org/platform-client'
import express from 'express'
import { Hono } from 'hono'
import { handle as handleLambda } from 'hono/aws-lambda'

export const path = '/carrier-pigeon/webhook'
export const secret = `whsec_${btoa('a secret of twenty-four b')}`
const handle = createHandler({
  platform: createPlatformClient({ baseUrl: 'http://127.0.0.1:9' }),
  shared: { apiToken: 'api-token' },
  fetch: createCarrierPigeonProvider().fetch,
  verify: createVerifier({ secrets: [secret] }),
  logger: () => {},
})

const hono = new Hono().post(path, (context) => handle(context.req.raw))

const app = express()
// The signature covers the bytes of the body, so nothing may parse them before.
app.post(path, express.raw({ type: '*/*' }), async ({ url, method, headers, body }, out) => {
  const response = await handle(new Request(`http://host.test${url}`, { method, headers, body }))
  out
    .status(response.status)
    .set(Object.fromEntries(response.headers))
    .send(await response.text())
})

const send = (server) => (request) => {
  const { pathname } = new URL(request.url)
  return fetch(new Request(`http://127.0.0.1:${server.address().port}${pathname}`, request))
}

/** @param gateway makes an event of a request, and a response of a result, as AWS does */
export const mounts = ({ toEvent, toResponse }) => ({
  Hono: send(serve({ fetch: hono.fetch, port: 0 })),
  Express: send(app.listen(0)),
  'AWS Lambda': async (request) => toResponse(await handleLambda(hono)(await toEvent(request))),
})

/** A signed call of the function, or one without a signature. */
export async function call(isSigned = true) {
  const functionCall = { name: 'createItem', arguments: { name: 'A first one' } }
  const body = JSON.stringify({ name: 'FUNCTION_CALL', functionCall })
  const signature = isSigned ? await sign({ secret, id: crypto.randomUUID(), body }) : {}
  const headers = { 'content-type': 'application/json', ...signature }
  return new Request(`http://host.test${path}`, { method: 'POST', headers, body })
}
