import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  type FunctionProcess,
  startFunction,
  startLambda,
  startVercel,
} from '../../../bench/deployments/function-process.ts'
import { toFunctionUrlEvent, toGatewayEvent } from '../../../bench/deployments/lambda-gateway.ts'
import type { Target } from '../../../bench/deployments/target.ts'
import { startWorker } from '../../../bench/deployments/worker-process.ts'
import { sendEmail, signedRequest } from './deployed.ts'
import { surround } from './surrounded.ts'

const around = await surround()
beforeEach(() => around.reset())

/** A signed delivery whose body was changed on the way. */
async function changedRequest(url?: string): Promise<Request> {
  const signed = await signedRequest(sendEmail, { url })
  const { method, headers } = signed
  return new Request(signed.url, { method, headers, body: sendEmail.replace('日本', '日木') })
}

describe.each([
  ['Lambda', startLambda],
  ['Vercel', startVercel],
  ['Workers', startWorker],
])('the bundle for %s', (_, start) => {
  let target: Target
  beforeAll(async () => {
    target = await start(around.variables)
  })
  afterAll(() => target.close())

  const deliver = async (body: string, { url } = target) =>
    fetch(await signedRequest(body, { url: `${url}/mailer/webhook` }))

  it('verifies and reads an event byte for byte', async () => {
    expect((await deliver(sendEmail)).status).toBe(200)
    expect((await fetch(await changedRequest(`${target.url}/mailer/webhook`))).status).toBe(401)
    expect(around.mail.messages).toMatchObject([{ subject: 'Grüße – “hello”', textBody: '日本' }])
  })

  it('has told the platform everything by the time it answers, after a retry, too', async () => {
    around.platform.faults.add({ method: 'PUT', path: /status$/, skip: 1, status: 503 })
    const inputs = { serverType: 'shared' }
    const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }
    expect((await deliver(JSON.stringify(created))).status).toBe(200)
    expect(around.platform.deployments.get('dep_1')).toMatchObject({ status: 'running' })
  })

  it('answers at every path', async () => {
    for (const path of ['/healthz', '/readyz', '/integrations', '/openapi.json'])
      expect((await fetch(target.url + path)).status).toBe(200)
    expect((await fetch(`${target.url}/nowhere`)).status).toBe(404)
  })

  it('logs the faults of its configuration once, and answers every request with a problem', async () => {
    const misconfigured = await start({ ...around.variables, DELIVERY_STORE: undefined })
    onTestFinished(misconfigured.close)
    for (const request of [deliver(sendEmail, misconfigured), fetch(`${misconfigured.url}/nowhere`)]) {
      const response = await request
      expect([response.status, response.headers.get('content-type')]).toEqual([
        500,
        'application/problem+json',
      ])
      expect(await response.json()).toMatchObject({ code: 'internal_error', retryable: true })
    }
    await expect
      .poll(() => misconfigured.log.join().split('DELIVERY_STORE is required in production'))
      .toHaveLength(2)
    expect(around.mail.messages).toEqual([])
  })
})

/** The format of a REST API and a load balancer: every header as a list of its values. */
async function toListedEvent(request: Request, requestContext: object) {
  const headers = [...request.headers, ['host', 'host.test'] as const]
  return {
    requestContext,
    httpMethod: request.method,
    path: new URL(request.url).pathname,
    headers: undefined,
    multiValueHeaders: Object.fromEntries(headers.map(([name, value]) => [name, [value]])),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    body: await request.text(),
    isBase64Encoded: false,
  }
}
const toRestEvent = (request: Request) =>
  toListedEvent(request, { stage: 'prod', httpMethod: request.method, path: '/prod' })
const targetGroupArn = 'arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/t/1'

const sources: Record<string, (request: Request) => Promise<object>> = {
  'an HTTP API': toGatewayEvent,
  async 'an HTTP API, as base64'(request) {
    const event = await toGatewayEvent(request)
    return { ...event, body: Buffer.from(event.body ?? '').toString('base64'), isBase64Encoded: true }
  },
  'a function URL': toFunctionUrlEvent,
  'a REST API': toRestEvent,
  'a load balancer': (request) => toListedEvent(request, { elb: { targetGroupArn } }),
}

describe('the Lambda function', () => {
  let running: FunctionProcess
  beforeAll(async () => {
    running = await startFunction('lambda', around.variables)
  })
  afterAll(() => running.close())

  async function call(event: unknown, callee = running) {
    const { body, ...rest } = Object(await callee.call(event))
    return { ...rest, body: JSON.parse(body) }
  }

  it.each(Object.entries(sources))('verifies and reads an event of %s byte for byte', async (_, toEvent) => {
    expect(await call(await toEvent(await signedRequest(sendEmail)))).toMatchObject({ statusCode: 200 })
    expect(await call(await toEvent(await changedRequest()))).toMatchObject({ statusCode: 401 })
    expect(around.mail.messages).toMatchObject([{ textBody: '日本' }])
  })

  it('verifies a binary body by its bytes', async () => {
    const bytes = new Uint8Array([0x7b, 0xff, 0xc0, 0x00, 0x7d])
    const event = await toGatewayEvent(await signedRequest(bytes))
    const encoded = () => ({ ...event, body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true })
    expect(await call(encoded())).toMatchObject({ statusCode: 400, body: { code: 'invalid_json' } })
    bytes[1] = 0xfe
    expect(await call(encoded())).toMatchObject({ statusCode: 401 })
  })

  it('returns headers in the format of the event', async () => {
    const origin = 'https://app.example.com'
    const request = new Request('https://host.test/integrations', { headers: { origin } })
    expect(await call(await toGatewayEvent(request.clone()))).toMatchObject({
      headers: { 'access-control-allow-origin': origin },
    })
    expect(await call(await toRestEvent(request))).toMatchObject({
      multiValueHeaders: { 'access-control-allow-origin': [origin] },
    })
  })

  it('warns once if its time limit is shorter than REQUEST_TIMEOUT_MS', async () => {
    const words = 'must be longer than REQUEST_TIMEOUT_MS'
    await call(await toGatewayEvent(await signedRequest(sendEmail)))
    expect(running.log.join()).not.toContain(words)
    const hurried = await startFunction('lambda', { ...around.variables, REQUEST_TIMEOUT_MS: '60000' })
    onTestFinished(hurried.close)
    for (const _ of [1, 2]) await call(await toGatewayEvent(await signedRequest(sendEmail)), hurried)
    expect(hurried.log.filter((line) => line.includes(words))).toHaveLength(1)
  })
})
