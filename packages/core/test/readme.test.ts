import { readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { createVerifier, type HandlerDependencies, memoryStore } from '@org/core'
import { errorCodes } from '@org/core/errors'
import {
  connectPlatform,
  createEmulator,
  createFaults,
  createPlatformEmulator,
  deliver,
} from '@org/core/testing'
import { describeReadme } from '@org/tooling/readme'
import express, { type Express } from 'express'
import type { FastifyInstance } from 'fastify'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { createHost } from './fixtures.ts'

const home = join(import.meta.dirname, '..')
const text = readFileSync(join(home, 'README.md'), 'utf8')

// The examples have another one.
const realFetch = fetch
const provider = createEmulator({
  faults: createFaults(),
  handle: ({ text }) => Response.json({ greeting: `Hello ${text && JSON.parse(text).name}` }),
  details: () => ({}),
})

const secret = `whsec_${btoa('a secret of twenty-four b')}`
const dependencies: HandlerDependencies = {
  platform: connectPlatform(createPlatformEmulator().fetch),
  verify: createVerifier({ secrets: [secret] }),
  store: memoryStore(),
  logger: () => {},
}
type Handle = (request: Request) => Promise<Response>

/** Expects that signed events are answered, and that others are not. */
async function expectWebhook(handle: Handle) {
  const event = { name: 'WEBHOOK_CHALLENGE', challenge: 'c_1' }
  const url = 'http://host.test/greeter/webhook'
  expect(await deliver(handle, event, { secret, url })).toMatchObject({
    status: 200,
    body: { challenge: 'c_1' },
  })
  expect(await deliver(handle, event, { url })).toMatchObject({ status: 401 })
}

/** Sends requests to an application of Express or Fastify, over HTTP. */
async function listen(app: Express | FastifyInstance): Promise<Handle> {
  const server = 'server' in app ? app.server : createServer(app)
  if ('server' in app) await app.listen()
  else await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = Object(server.address())
  return async (request) => {
    const { pathname } = new URL(request.url)
    const { method, headers } = request
    return realFetch(`http://127.0.0.1:${port}${pathname}`, { method, headers, body: await request.text() })
  }
}

/** Invokes a function as AWS does. */
const invoking =
  (lambda: (event: object) => Promise<{ statusCode: number; headers: HeadersInit; body: string }>): Handle =>
  async (request) => {
    const { pathname: rawPath, host } = new URL(request.url)
    const headers = { ...Object.fromEntries(request.headers), host }
    const body = btoa(await request.text())
    const http = { method: request.method }
    const result = await lambda({ rawPath, headers, body, isBase64Encoded: true, requestContext: { http } })
    return new Response(result.body, { status: result.statusCode, headers: result.headers })
  }

it('a body that was parsed before is named, and is no wrong signature', async () => {
  const app = express()
  app.use(express.json())
  app.post('/greeter/webhook', getRequestListener(createHost({ verify: dependencies.verify }).handle))
  const url = 'http://host.test/greeter/webhook'
  const { status, body } = await deliver(await listen(app), {}, { secret, url })
  const detail = expect.stringContaining('parsed before it reached')
  expect({ status, body }).toMatchObject({ status: 500, body: { detail } })
})

afterAll(() => rmSync('.data/deliveries.db', { force: true }))

describe('the README', () => {
  it('has a row for each entry of the package', async () => {
    const rows = [...text.matchAll(/^\| `@org\/core(\/?[^`]*)` +\|/gm)].map(([, path]) => `.${path}`)
    expect(Object.keys(packageJson.exports).toSorted()).toEqual(rows.toSorted())
    for (const row of rows) await import(`@org/core${row.slice(1)}`)
  })

  it('has a row for each error code with its status and its retryability', () => {
    const rows = [...text.matchAll(/^\| `(\w+)` +\| (\d{3}) +\| (yes|no) +\|$/gm)].map(([, ...row]) => row)
    const codes = Object.entries(errorCodes).map(([code, { status, retryable }]) => [
      code,
      String(status),
      retryable ? 'yes' : 'no',
    ])
    expect(rows).toEqual(codes)
  })
})

await describeReadme(home, {
  hosts: { 'api.example.com': provider.fetch },
  reset() {
    provider.calls.length = 0
  },
  async run(path) {
    const { createHandler, createApp, createRoute, createLambda, ...host } = await import(path)
    if (createApp) return expectWebhook(await listen(createApp(dependencies)))
    if (createRoute) return expectWebhook(createRoute(dependencies).POST)
    if (createLambda) {
      const invoke = invoking(createLambda(dependencies))
      expect((await invoke(new Request('http://host.test/greeter/webhook'))).status).toBe(405)
      return expectWebhook(invoke)
    }
    if (host.createHost) {
      const handle = host.createHost(dependencies)
      await expectWebhook(handle)
      for (const route of ['integrations', 'openapi.json'])
        expect(await (await handle(new Request(`http://host.test/${route}`))).text()).toContain(
          'Greets one person.',
        )
      return expect(await host.findDelivery(dependencies.store, 'evt_1')).toEqual([])
    }
    if (!createHandler) return
    const platform = createPlatformEmulator()
    const handle = createHandler({
      platform: connectPlatform(platform.fetch),
      verify: 'none',
      logger: () => {},
    })
    const deployment = { id: platform.addDeployment({ id: 'dep_1' }).id, inputs: { apiToken: 'token' } }
    const created = await deliver(handle, { name: 'DEPLOYMENT_CREATED', deployment })
    expect(created.body).toEqual({ status: 'running', outputs: { apiToken: 'token' } })

    const functionCall = { name: 'greet', arguments: { name: 'Ada' } }
    const event = { name: 'FUNCTION_CALL', deployment: { id: 'dep_1' }, functionCall }
    for (const _ of [1, 2]) {
      const response = await deliver(handle, event, { id: 'evt_1' })
      expect(response).toMatchObject({ status: 200, body: { result: { greeting: 'Hello Ada' } } })
    }
    expect(provider.calls).toHaveLength(1)
  },
})
