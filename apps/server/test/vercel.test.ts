import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { startVercel } from '../../../bench/deployments/function-process.ts'
import type { Target } from '../../../bench/deployments/target.ts'
import { sendEmail, signedRequest, startSurroundings } from './deployed.ts'

describe('the Vercel function, halted between its requests', () => {
  let around: Awaited<ReturnType<typeof startSurroundings>>
  let target: Target
  beforeAll(async () => {
    around = await startSurroundings()
    target = await startVercel(around.variables)
  })
  afterAll(async () => {
    await target.close()
    await around.close()
  })
  beforeEach(() => around.reset())

  const deliver = async (body: string) =>
    fetch(await signedRequest(body, { url: `${target.url}/mailer/webhook` }))

  it('takes a signed event, byte for byte', async () => {
    const response = await deliver(sendEmail)
    expect(response.status).toBe(200)
    expect(around.mail.messages).toMatchObject([{ subject: 'Grüße – “hello”', textBody: '日本' }])
  })

  it('refuses an event that is not signed', async () => {
    const headers = { 'content-type': 'application/json' }
    const url = `${target.url}/mailer/webhook`
    const response = await fetch(url, { method: 'POST', headers, body: sendEmail })
    expect(response.status).toBe(401)
    expect(around.mail.messages).toEqual([])
  })

  it('answers at every path, as one function', async () => {
    for (const path of ['/healthz', '/readyz', '/integrations', '/openapi.json'])
      expect((await fetch(target.url + path)).status).toBe(200)
    expect((await fetch(`${target.url}/nowhere`)).status).toBe(404)
  })

  it('has told the platform everything by the time it answers', async () => {
    const health = { name: 'HEALTH_CHECK', deployment: { id: 'dep_1', inputs: { serverType: 'shared' } } }
    expect(await (await deliver(JSON.stringify(health))).json()).toMatchObject({ status: 'healthy' })
    expect(around.platform.deployments.get('dep_1')).toMatchObject({ status: 'running' })
  })

  it('refuses a file as its store', async () => {
    const refused = await startVercel({ ...around.variables, DELIVERY_STORE: 'sqlite:deliveries.db' })
    onTestFinished(refused.close)
    expect(refused.log.join('\n')).toContain('DELIVERY_STORE: this platform keeps no files')
    expect((await fetch(`${refused.url}/healthz`)).status).toBe(500)
  })
})
