import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../../bench/chaos/redis.ts'
import type { Target } from '../../../bench/deployments/target.ts'
import { startWorker } from '../../../bench/deployments/worker-process.ts'
import worker from '../src/runtimes/worker.ts'
import { sendEmail, signedRequest } from './deployed.ts'
import { surround } from './surrounded.ts'

const around = await surround()
const target = await startWorker(around.variables)
afterAll(() => target.close())
beforeEach(() => around.reset())

const send = async ({ url }: Target, body: string | object = sendEmail, id?: string) =>
  fetch(
    await signedRequest(typeof body === 'string' ? body : JSON.stringify(body), {
      url: `${url}/mailer/webhook`,
      ...(id && { id }),
    }),
  )
const creation = (inputs: object) => ({ name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } })
const withServer = (baseUrl: string) => creation({ serverType: 'dedicated', apiToken: 'mail-token', baseUrl })

describe('the Worker', () => {
  it('handles concurrent and later events', async () => {
    const many = Array.from({ length: 8 }, () => send(target))
    for (const { status } of await Promise.all(many)) expect(status).toBe(200)
    expect((await send(target)).status).toBe(200)
    expect(around.mail.messages).toHaveLength(9)
  })

  it('finishes an event whose sender goes away', async () => {
    const mail = around.holdMail()
    const leave = new AbortController()
    const request = await signedRequest(JSON.stringify(creation({})), { url: `${target.url}/mailer/webhook` })
    const response = fetch(request, { signal: leave.signal })
    await expect.poll(mail.arrived).toBe(1)
    leave.abort()
    await expect(response).rejects.toThrow('aborted')
    mail.letGo()
    await expect.poll(() => around.platform.deployments.get('dep_1')?.status).toBe('running')
    expect(around.platform.deployments.get('dep_1')?.outputs).toMatchObject({ apiToken: 'mail-token' })
  })

  it('asks the runtime to wait for its response', async () => {
    const kept: Promise<unknown>[] = []
    const context = { waitUntil: (work: Promise<unknown>) => void kept.push(work) }
    const variables = { ...around.variables, DELIVERY_STORE: 'redis://127.0.0.1:9' }
    const response = worker.fetch(new Request('https://host.test/healthz'), variables, context)
    expect(await Promise.all(kept)).toEqual([await response])
    expect((await response).status).toBe(200)
  })

  it.each(['http://mail.example.com', 'https://localhost', 'https://10.0.0.1', 'https://mail.internal'])(
    'refuses %s as the server of a deployment',
    async (baseUrl) => {
      const response = await send(target, withServer(baseUrl))
      expect(await response.json()).toMatchObject({ code: 'invalid_inputs', status: 422 })
    },
  )

  it('calls any server that EGRESS_ALLOW lists', async () => {
    const baseUrl = around.variables.MAILER_API_BASE ?? ''
    const listing = await startWorker({ ...around.variables, EGRESS_ALLOW: new URL(baseUrl).host })
    onTestFinished(listing.close)
    expect((await send(listing, withServer(baseUrl))).status).toBe(200)
  })
})

describe.skipIf(!hasRedis)('the Worker on Redis', () => {
  let redis: RedisServer
  let onRedis: Target
  beforeAll(async () => {
    redis = await startRedis()
    onRedis = await startWorker({ ...around.variables, DELIVERY_STORE: redis.url })
  })
  afterAll(async () => {
    await onRedis.close()
    await redis.close()
  })

  it('sends one mail for concurrent deliveries of one event', async () => {
    const copies = Array.from({ length: 6 }, () => send(onRedis, sendEmail, 'evt_1'))
    const statuses = (await Promise.all(copies)).map(({ status }) => status)
    expect(statuses.filter((status) => status !== 409)).toContain(200)
    expect((await send(onRedis, sendEmail, 'evt_1')).headers.get('idempotency-replayed')).toBe('true')
    expect(around.mail.messages).toHaveLength(1)
  })

  it('refuses effects while Redis is down, and continues when it is back', async () => {
    await redis.kill()
    const refused = await send(onRedis, sendEmail, 'evt_2')
    expect(await refused.json()).toMatchObject({ code: 'overloaded', retryable: true })
    const proof = async () => (await fetch(`${onRedis.url}/readyz?store`)).status
    expect(await proof()).toBe(503)
    expect(around.mail.messages).toEqual([])
    await redis.start()
    await expect.poll(proof).toBe(200)
    expect((await send(onRedis, sendEmail, 'evt_2')).status).toBe(200)
    expect(around.mail.messages).toHaveLength(1)
  })
})
