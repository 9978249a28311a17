import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../../bench/chaos/redis.ts'
import type { Target, Variables } from '../../../bench/deployments/target.ts'
import { startWorker } from '../../../bench/deployments/worker-process.ts'
import worker from '../src/runtimes/worker.ts'
import { sendEmail, signedRequest, startSurroundings } from './deployed.ts'

// Loud, so that nobody takes a run without Redis for a run with it.
if (!hasRedis) process.stderr.write('SKIPPED: Workers on Redis. Install the Debian package redis-server.\n')

let around: Awaited<ReturnType<typeof startSurroundings>>
beforeAll(async () => {
  around = await startSurroundings()
})
afterAll(() => around.close())
beforeEach(() => around.reset())

const send = async ({ url }: Target, id?: string, init: RequestInit = {}) =>
  fetch(await signedRequest(sendEmail, { url: `${url}/mailer/webhook`, ...(id && { id }) }), init)

async function startForTest(variables: Variables): Promise<Target> {
  const target = await startWorker({ ...around.variables, ...variables })
  onTestFinished(target.close)
  return target
}

describe('the Worker', () => {
  let target: Target
  beforeAll(async () => {
    target = await startWorker(around.variables)
  })
  afterAll(() => target.close())

  it('takes concurrent and later events', async () => {
    const many = Array.from({ length: 8 }, () => send(target))
    const statuses = (await Promise.all(many)).map(({ status }) => status)
    expect(statuses).toEqual(many.map(() => 200))
    expect((await send(target)).status).toBe(200)
    expect(around.mail.messages).toHaveLength(9)
  })

  it('finishes an event whose sender goes away', async () => {
    const mail = around.holdMail()
    const leave = new AbortController()
    const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs: {} } }
    const request = await signedRequest(JSON.stringify(created), { url: `${target.url}/mailer/webhook` })
    const answer = fetch(request, { signal: leave.signal })
    await expect.poll(mail.arrived).toBe(1)
    leave.abort()
    await expect(answer).rejects.toThrow('aborted')
    mail.letGo()
    await expect.poll(() => around.platform.deployments.get('dep_1')?.status).toBe('running')
    expect(around.platform.deployments.get('dep_1')?.outputs).toMatchObject({ apiToken: 'mail-token' })
  })

  it('asks the runtime to wait for its response', async () => {
    const kept: Promise<unknown>[] = []
    const context = { waitUntil: (work: Promise<unknown>) => void kept.push(work) }
    const variables = { ...around.variables, DELIVERY_STORE: 'redis://127.0.0.1:9' }
    const answer = worker.fetch(new Request('https://host.test/healthz'), variables, context)
    expect(await Promise.all(kept)).toEqual([await answer])
    expect((await answer).status).toBe(200)
  })

  it('warns that only one instance remembers its effects', async () => {
    await fetch(`${target.url}/healthz`)
    await expect.poll(() => target.log.join()).toContain('an effect happens once within one instance only')
  })

  it.each(['http://mail.example.com', 'https://localhost', 'https://10.0.0.1', 'https://mail.internal'])(
    'refuses %s as the server of a deployment',
    async (baseUrl) => {
      const inputs = { serverType: 'dedicated', apiToken: 'mail-token', baseUrl }
      const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }
      const url = `${target.url}/mailer/webhook`
      const response = await fetch(await signedRequest(JSON.stringify(created), { url }))
      expect(await response.json()).toMatchObject({ code: 'invalid_inputs', status: 422 })
    },
  )

  it('calls any server that EGRESS_ALLOW lists', async () => {
    const baseUrl = around.variables.MAILER_API_BASE ?? ''
    const listing = await startForTest({ EGRESS_ALLOW: new URL(baseUrl).host })
    const inputs = { serverType: 'dedicated', apiToken: 'mail-token', baseUrl }
    const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }
    const url = `${listing.url}/mailer/webhook`
    expect((await fetch(await signedRequest(JSON.stringify(created), { url }))).status).toBe(200)
  })
})

describe.skipIf(!hasRedis)('the Worker on Redis', () => {
  let redis: RedisServer
  let target: Target
  beforeAll(async () => {
    redis = await startRedis()
    target = await startWorker({ ...around.variables, DELIVERY_STORE: redis.url })
  })
  afterAll(async () => {
    await target.close()
    await redis.close()
  })

  it('sends one mail for concurrent deliveries of one event', async () => {
    const statuses = (await Promise.all(Array.from({ length: 6 }, () => send(target, 'evt_1')))).map(
      ({ status }) => status,
    )
    expect(statuses.filter((status) => status !== 409)).toContain(200)
    const replay = await send(target, 'evt_1')
    expect(replay.headers.get('idempotency-replayed')).toBe('true')
    expect(around.mail.messages).toHaveLength(1)
  })

  it('refuses effects while Redis is down, and continues when it is back', async () => {
    await redis.kill()
    expect(await (await send(target, 'evt_2')).json()).toMatchObject({ code: 'overloaded', retryable: true })
    expect((await fetch(`${target.url}/readyz`)).status).toBe(503)
    expect(around.mail.messages).toEqual([])
    await redis.start()
    expect((await fetch(`${target.url}/readyz`)).status).toBe(200)
    expect((await send(target, 'evt_2')).status).toBe(200)
    expect(around.mail.messages).toHaveLength(1)
  })
})
