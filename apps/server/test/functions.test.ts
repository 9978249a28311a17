/** The host as a function: on Lambda, on Vercel, and as a Worker. */
import { sign } from '@org/core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { hasRedis, startRedis } from '../../../bench/chaos/redis.ts'
import type { Target } from '../../../bench/deployments/bundles.ts'
import { startLambda, startLambdaFunction, startVercel } from '../../../bench/deployments/function-process.ts'
import { inProduction, targets } from '../../../bench/deployments/targets.ts'
import { walkThrough } from '../../../bench/deployments/walk.ts'
import { startWorker } from '../../../bench/deployments/worker-process.ts'
import worker from '../src/runtimes/worker.ts'
import { credentials } from './hosted.ts'
import { isNightly, tellNightly } from './nightly.ts'
import { secret } from './shipped.ts'
import { surround } from './surrounded.ts'

const around = await surround()
beforeEach(() => around.reset())
const mailServer = new URL(around.variables.MAILER_API_BASE).host
const variables = { ...around.variables, DELIVERY_STORE: 'memory:', EGRESS_ALLOW: mailServer }

/** A mail with multi-byte characters, in JSON that no serializer would repeat byte for byte. */
const sendEmail = `{ "name": "FUNCTION_CALL",\n  "functionCall": { "name": "sendEmail", "arguments":
  { "to": "ada@example.com", "subject": "Grüße \\u2013 “hello”", "textBody": "日本" } }, "deployment": { "id": "dep_1" } }`
const creation = (inputs: object) =>
  JSON.stringify({ name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } })

/** A signed delivery, which may arrive with another body. */
async function requestOf(url: string, body = sendEmail, arriving = body): Promise<Request> {
  const signed = await sign({ secret, id: crypto.randomUUID(), body })
  const headers = { 'content-type': 'application/json', ...signed }
  return new Request(`${url}/mailer/webhook`, { method: 'POST', headers, body: arriving })
}
const changedRequestOf = (url: string) => requestOf(url, sendEmail, sendEmail.replace('日本', '日木'))
const deliver = async ({ url }: Target, body?: string) => fetch(await requestOf(url, body))

describe.each([
  ['Lambda', startLambda],
  ['Vercel', startVercel],
  ['Workers', startWorker],
])('the bundle for %s', (_, start) => {
  let target: Target
  beforeAll(async () => {
    target = await start(variables)
  })
  afterAll(() => target.close())

  it('verifies and reads an event byte for byte, and answers at every path', async () => {
    expect((await deliver(target)).status).toBe(200)
    expect((await fetch(await changedRequestOf(target.url))).status).toBe(401)
    expect(around.mail.messages).toMatchObject([{ subject: 'Grüße – “hello”', textBody: '日本' }])
    for (const path of ['/healthz', '/readyz', '/integrations', '/openapi.json'])
      expect((await fetch(target.url + path)).status).toBe(200)
    expect((await fetch(`${target.url}/nowhere`)).status).toBe(404)
  })

  it('has told the platform everything by the time it answers, after a retry, too', async () => {
    around.platform.faults.add({ method: 'PUT', path: /status$/, skip: 1, status: 503 })
    expect((await deliver(target, creation({ serverType: 'shared' }))).status).toBe(200)
    expect(around.platform.deployments.get('dep_1')).toMatchObject({ status: 'running' })
  })

  it('logs the faults of its configuration once, and answers every request with a problem', async () => {
    const misconfigured = await start({ ...variables, DELIVERY_STORE: undefined })
    onTestFinished(misconfigured.close)
    for (const request of [deliver(misconfigured), fetch(`${misconfigured.url}/nowhere`)]) {
      const response = await request
      expect(response.headers.get('content-type')).toBe('application/problem+json')
      expect(await response.json()).toMatchObject({ status: 500, code: 'internal_error', retryable: true })
    }
    const written = () => misconfigured.log.join().match(/DELIVERY_STORE is required in production/g)
    await expect.poll(written).toHaveLength(1)
    expect(around.mail.messages).toEqual([])
  })
})

it('the Lambda function reads an event of a REST API or a load balancer, and returns headers in its format', async () => {
  const running = await startLambdaFunction(variables)
  onTestFinished(running.close)
  /** Every header is a list of its values. */
  async function call(request: Request) {
    const { method: httpMethod, headers } = request
    const values = [...headers, ['host', 'host.test'] as const].map(([name, value]) => [name, [value]])
    return running.invoke({
      requestContext: { stage: 'prod', httpMethod, path: '/prod' },
      httpMethod,
      path: new URL(request.url).pathname,
      multiValueHeaders: Object.fromEntries(values),
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      body: Buffer.from(await request.text()).toString('base64'),
      isBase64Encoded: true,
    })
  }
  const url = 'https://host.test'
  expect(await call(await requestOf(url))).toMatchObject({ statusCode: 200 })
  expect(await call(await changedRequestOf(url))).toMatchObject({ statusCode: 401 })
  const headers = { origin: 'https://app.example.com' }
  expect(await call(new Request(`${url}/integrations`, { headers }))).toMatchObject({
    multiValueHeaders: { 'access-control-allow-origin': [headers.origin] },
  })
})

it('the Worker asks the runtime to wait for its response, also if the sender goes away', async () => {
  const kept: Promise<unknown>[] = []
  const context = { waitUntil: (work: Promise<unknown>) => void kept.push(work) }
  const onRedis = { ...variables, LOG_LEVEL: 'warn', DELIVERY_STORE: 'redis://127.0.0.1:9' }
  const response = worker.fetch(new Request('https://host.test/healthz'), onRedis, context)
  expect(await Promise.all(kept)).toEqual([await response])
  expect((await response).status).toBe(200)
})

it('the Worker calls servers of deployments by https and a public name, and any that EGRESS_ALLOW lists', async () => {
  const target = await startWorker(variables)
  onTestFinished(target.close)
  const create = async (baseUrl: string) => {
    const inputs = { serverType: 'dedicated', apiToken: credentials.tenantMailToken, baseUrl }
    return (await deliver(target, creation(inputs))).status
  }
  for (const baseUrl of ['http://mail.example.com', 'https://localhost', 'https://10.0.0.1'])
    expect([baseUrl, await create(baseUrl)]).toEqual([baseUrl, 422])
  expect(await create(`http://${mailServer}`)).toBe(200)
})

// The functions of Lambda and Vercel differ in the adapters alone.
const walked = (['node', 'worker', 'lambda', 'vercel'] as const).slice(0, isNightly ? 4 : 2)

tellNightly('the walks through the bundles for Lambda and Vercel')

// At the same time, because each mostly waits.
it.concurrent.each(walked)('the walk of the sandbox passes through the bundle for %s', async (name) => {
  const redis = name !== 'node' && hasRedis ? await startRedis() : undefined
  const store = name === 'node' ? 'sqlite:deliveries.db' : (redis?.url ?? 'memory:')
  const walk = await walkThrough((variables) =>
    targets[name]({ ...inProduction(variables, store), DRAIN_DELAY_MS: '0' }),
  )
  await redis?.close()
  expect(walk.failed, walk.output).toBe(0)
  expect(walk.passed).toBeGreaterThanOrEqual(40)
})
