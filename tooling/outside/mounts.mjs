/** Mounts a published integration in the frameworks that its users have. Each mount responds to a request. */

import { createCarrierPigeonProvider } from '@acme/carrier-pigeon/testing'
import { createHandler } from '@acme/carrier-pigeon/webhook'
import { serve } from '@hono/node-server'
import { createVerifier, sign } from '@org/core'
import { createPlatformClient } from '@org/platform-client'
import express from 'express'
import { Hono } from 'hono'

export const path = '/carrier-pigeon/webhook'
export const secret = `whsec_${btoa('a secret of twenty-four b')}`
const provider = createCarrierPigeonProvider()
const handle = createHandler({
  platform: createPlatformClient({ baseUrl: 'http://127.0.0.1:9' }),
  shared: { apiToken: 'api-token' },
  fetch: provider.fetch,
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

const urlOf = (server) => `http://127.0.0.1:${server.address().port}`
const sendTo = (url) => (request) => fetch(new Request(url + path, request))

/**
 * @param startHost starts a host of ours with these variables beside the installed packages, and returns its URL
 */
export const mounts = async (startHost) => ({
  'our host': sendTo(
    await startHost({
      INTEGRATIONS: '@acme/carrier-pigeon',
      INTEGRATION_CARRIER_PIGEON_SHARED_API_TOKEN: 'api-token',
      INTEGRATION_CARRIER_PIGEON_API_BASE: urlOf(serve({ fetch: provider.fetch, port: 0 })),
      PLATFORM_API_URL: 'http://127.0.0.1:9',
      PLATFORM_WEBHOOK_SECRET: secret,
    }),
  ),
  Hono: sendTo(urlOf(serve({ fetch: hono.fetch, port: 0 }))),
  Express: sendTo(urlOf(app.listen(0))),
})

/** A signed call of the function, or one without a signature. */
export async function call(isSigned = true) {
  const functionCall = { name: 'createItem', arguments: { name: 'A first one' } }
  const body = JSON.stringify({ name: 'FUNCTION_CALL', functionCall })
  const signature = isSigned ? await sign({ secret, id: crypto.randomUUID(), body }) : {}
  const headers = { 'content-type': 'application/json', ...signature }
  return new Request(`http://host.test${path}`, { method: 'POST', headers, body })
}
