import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type FunctionProcess, startFunction } from '../../../bench/deployments/function-process.ts'
import { toFunctionUrlEvent, toGatewayEvent } from '../../../bench/deployments/lambda-gateway.ts'
import { sendEmail, signedRequest, startSurroundings } from './deployed.ts'

type Surroundings = Awaited<ReturnType<typeof startSurroundings>>
type ToEvent = (request: Request) => Promise<{ body?: string; isBase64Encoded: boolean }>

/** What a REST API and a load balancer send: every header as a list of its values. */
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

const encoded: ToEvent = async (request) => {
  const event = await toGatewayEvent(request)
  return { ...event, body: Buffer.from(event.body ?? '').toString('base64'), isBase64Encoded: true }
}

const sources: Record<string, ToEvent> = {
  'an HTTP API': toGatewayEvent,
  'an HTTP API, as base64': encoded,
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

describe('the Lambda function, halted between its events', () => {
  let around: Surroundings
  let running: FunctionProcess
  beforeAll(async () => {
    around = await startSurroundings()
    running = await startFunction('lambda', around.variables)
  })
  afterAll(async () => {
    running.close()
    await around.close()
  })
  beforeEach(() => around.reset())

  async function call(event: unknown, callee = running) {
    const { statusCode, body, ...rest } = Object(await callee.call(event))
    return { ...rest, statusCode, body: JSON.parse(body) }
  }

  describe.each(Object.entries(sources))('takes from %s', (_, toEvent) => {
    it('a signed event, byte for byte', async () => {
      const answer = await call(await toEvent(await signedRequest(sendEmail)))
      expect(answer).toMatchObject({ statusCode: 200, isBase64Encoded: false })
      expect(around.mail.messages).toMatchObject([
        { subject: 'Grüße – “hello”', textBody: '日本', messageId: answer.body.result.messageId },
      ])
    })

    it('none with another byte', async () => {
      const { method, headers, url } = await signedRequest(sendEmail)
      const event = await toEvent(
        new Request(url, { method, headers, body: sendEmail.replace('日本', '日木') }),
      )
      expect(await call(event)).toMatchObject({ statusCode: 401, body: { code: 'invalid_signature' } })
      expect(around.mail.messages).toEqual([])
    })
  })

  it('verifies a body that is no text by its bytes', async () => {
    const bytes = new Uint8Array([0x7b, 0xff, 0xc0, 0x00, 0x7d])
    const event = await toGatewayEvent(await signedRequest(bytes))
    const intact = { ...event, body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true }
    expect(await call(intact)).toMatchObject({ statusCode: 400, body: { code: 'invalid_json' } })
    bytes[1] = 0xfe
    const changed = { ...intact, body: Buffer.from(bytes).toString('base64') }
    expect(await call(changed)).toMatchObject({ statusCode: 401 })
  })

  it('takes every value of a header, and gives headers back in the form that was asked in', async () => {
    const url = 'https://host.test/integrations'
    const request = () => new Request(url, { headers: { origin: 'https://app.example.com' } })
    expect(await call(await toGatewayEvent(request()))).toMatchObject({
      headers: { 'access-control-allow-origin': 'https://app.example.com' },
    })
    expect(await call(await sources['a REST API']?.(request()))).toMatchObject({
      multiValueHeaders: { 'access-control-allow-origin': ['https://app.example.com'] },
    })
    const rotated = await signedRequest(sendEmail)
    const old = `v1,${btoa('x'.repeat(32))}`
    rotated.headers.set('webhook-signature', `${old} ${rotated.headers.get('webhook-signature')}`)
    expect(await call(await toGatewayEvent(rotated))).toMatchObject({ statusCode: 200 })
  })

  it('has told the platform everything by the time it answers', async () => {
    const health = { name: 'HEALTH_CHECK', deployment: { id: 'dep_1', inputs: { serverType: 'shared' } } }
    const request = await signedRequest(JSON.stringify(health))
    expect(await call(await toGatewayEvent(request))).toMatchObject({ body: { status: 'healthy' } })
    expect(around.platform.deployments.get('dep_1')).toMatchObject({ status: 'running' })
  })

  it('answers the same delivery from its record', async () => {
    const again = () => signedRequest(sendEmail, { id: 'evt_1' }).then(toGatewayEvent)
    const first = await call(await again())
    const second = await call(await again())
    expect(second).toMatchObject({ statusCode: 200, body: first.body })
    expect(second.headers).toMatchObject({ 'idempotency-replayed': 'true' })
    expect(around.mail.messages).toHaveLength(1)
  })

  it('warns once where its time limit is shorter than an event may take', async () => {
    expect(running.log.join()).not.toContain('time limit')
    const hurried = await startFunction('lambda', { ...around.variables, REQUEST_TIMEOUT_MS: '60000' })
    onTestFinished(hurried.close)
    for (const _ of [1, 2]) await call(await toGatewayEvent(await signedRequest(sendEmail)), hurried)
    expect(
      hurried.log.filter((line) => line.includes('must be longer than REQUEST_TIMEOUT_MS')),
    ).toHaveLength(1)
  })

  it('names what its configuration lacks in its log, and answers with a problem', async () => {
    const lacking = await startFunction('lambda', { ...around.variables, DELIVERY_STORE: '' })
    onTestFinished(lacking.close)
    expect(lacking.log.join('\n')).toContain(
      'DELIVERY_STORE is required in production on a platform that keeps no files',
    )
    const answer = await call(await toGatewayEvent(await signedRequest(sendEmail)), lacking)
    expect(answer).toMatchObject({ statusCode: 500, body: { code: 'internal_error', retryable: true } })
    expect(around.mail.messages).toEqual([])
  })
})
