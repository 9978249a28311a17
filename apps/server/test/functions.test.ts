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
import { sendEmail, signedRequest, startSurroundings } from './deployed.ts'

let around: Awaited<ReturnType<typeof startSurroundings>>
beforeAll(async () => {
  around = await startSurroundings()
})
afterAll(() => around.close())
beforeEach(() => around.reset())

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

  const deliver = async (body: string, id?: string) =>
    fetch(await signedRequest(body, { url: `${target.url}/mailer/webhook`, ...(id && { id }) }))

  it('takes a signed event byte for byte', async () => {
    expect((await deliver(sendEmail)).status).toBe(200)
    expect(around.mail.messages).toMatchObject([{ subject: 'Grüße – “hello”', textBody: '日本' }])
  })

  it('refuses an event that is not signed', async () => {
    const headers = { 'content-type': 'application/json' }
    const url = `${target.url}/mailer/webhook`
    expect((await fetch(url, { method: 'POST', headers, body: sendEmail })).status).toBe(401)
    expect(around.mail.messages).toEqual([])
  })

  it('has told the platform everything by the time it answers, after a retry, too', async () => {
    around.platform.faults.add({ method: 'PUT', path: /status$/, status: 503 })
    const health = { name: 'HEALTH_CHECK', deployment: { id: 'dep_1', inputs: { serverType: 'shared' } } }
    expect(await (await deliver(JSON.stringify(health))).json()).toMatchObject({ status: 'healthy' })
    expect(around.platform.deployments.get('dep_1')).toMatchObject({ status: 'running' })
  })

  it('answers a redelivery from the record', async () => {
    const first = await deliver(sendEmail, 'evt_1')
    const second = await deliver(sendEmail, 'evt_1')
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(await second.json()).toEqual(await first.json())
    expect(around.mail.messages).toHaveLength(1)
  })

  it('answers at every path', async () => {
    for (const path of ['/healthz', '/readyz', '/integrations', '/openapi.json'])
      expect((await fetch(target.url + path)).status).toBe(200)
    expect((await fetch(`${target.url}/nowhere`)).status).toBe(404)
  })

  it('names the faults of its configuration in its log, and answers with a problem', async () => {
    const misconfigured = await start({ ...around.variables, DELIVERY_STORE: undefined })
    onTestFinished(misconfigured.close)
    const response = await fetch(
      await signedRequest(sendEmail, { url: `${misconfigured.url}/mailer/webhook` }),
    )
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({ code: 'internal_error', retryable: true })
    await expect.poll(() => misconfigured.log.join()).toContain('DELIVERY_STORE is required in production')
    expect(around.mail.messages).toEqual([])
  })
})

type ToEvent = (request: Request) => Promise<{ body?: string; isBase64Encoded: boolean }>

/** The format of a REST API and a load balancer: every header as a list of its values. */
async function toListedEvent(request: Request) {
  const { pathname } = new URL(request.url)
  const headers = [...request.headers, ['host', 'host.test'] as const]
  return {
    httpMethod: request.method,
    path: pathname,
    headers: undefined,
    multiValueHeaders: Object.fromEntries(headers.map(([name, value]) => [name, [value]])),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    body: await request.text(),
    isBase64Encoded: false,
  }
}

const sources: Record<string, ToEvent> = {
  'an HTTP API': toGatewayEvent,
  async 'an HTTP API, as base64'(request) {
    const event = await toGatewayEvent(request)
    return { ...event, body: Buffer.from(event.body ?? '').toString('base64'), isBase64Encoded: true }
  },
  'a function URL': toFunctionUrlEvent,
  'a REST API': async (request) => ({
    ...(await toListedEvent(request)),
    requestContext: { stage: 'prod', httpMethod: request.method, path: '/prod' },
  }),
  'a load balancer': async (request) => ({
    ...(await toListedEvent(request)),
    requestContext: {
      elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/t/1' },
    },
  }),
}

describe('the Lambda function', () => {
  let running: FunctionProcess
  beforeAll(async () => {
    running = await startFunction('lambda', around.variables)
  })
  afterAll(() => running.close())

  async function call(event: unknown, callee = running) {
    const { statusCode, body, ...rest } = Object(await callee.call(event))
    return { ...rest, statusCode, body: JSON.parse(body) }
  }

  it.each(Object.entries(sources))('takes an event of %s byte for byte', async (_, toEvent) => {
    expect(await call(await toEvent(await signedRequest(sendEmail)))).toMatchObject({ statusCode: 200 })
    const { method, headers, url } = await signedRequest(sendEmail)
    const changed = new Request(url, { method, headers, body: sendEmail.replace('日本', '日木') })
    expect(await call(await toEvent(changed))).toMatchObject({ statusCode: 401 })
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
    const request = () => new Request('https://host.test/integrations', { headers: { origin } })
    expect(await call(await toGatewayEvent(request()))).toMatchObject({
      headers: { 'access-control-allow-origin': origin },
    })
    expect(await call(await sources['a REST API']?.(request()))).toMatchObject({
      multiValueHeaders: { 'access-control-allow-origin': [origin] },
    })
  })

  it('takes several signatures in one header', async () => {
    const rotated = await signedRequest(sendEmail)
    const old = `v1,${btoa('x'.repeat(32))}`
    rotated.headers.set('webhook-signature', `${old} ${rotated.headers.get('webhook-signature')}`)
    expect(await call(await toGatewayEvent(rotated))).toMatchObject({ statusCode: 200 })
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
