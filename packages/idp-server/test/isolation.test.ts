/** Events of one deployment that carry the outputs of another one. */
import { memoryStore } from '@org/core'
import { type DeliveryResponse, deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, platform, requests } = fixture

const inputs = { applicationName: 'Shop' }
const events: [name: string, rest: object][] = [
  ['HEALTH_CHECK', {}],
  ['METRIC_UPDATE', {}],
  ['DOWNLOAD_STARTED', { download: { file: '.env.local' } }],
  ['FUNCTION_CALL', { functionCall: { name: 'countUsers', arguments: {} } }],
  ['FUNCTION_CALL', { functionCall: { name: 'createUser', arguments: { emailAddress: 'a@example.com' } } }],
]
const refused = { status: 422, body: { code: 'invalid_event', errors: [{ path: 'deployment.outputs' }] } }

/** Deploys `dep_1` and `dep_2`, whose outputs it returns. */
async function deployed(store = memoryStore()) {
  const handle = fixture.handler({ store })
  const outputs = []
  for (const id of ['dep_1', 'dep_2']) {
    platform.addDeployment({ id, inputs })
    await deliver(handle, { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } })
    outputs.push({ ...platform.deployments.get(id)?.outputs })
  }
  requests.length = 0
  const send = (using: typeof handle, event: (typeof events)[number], carried?: object) => {
    const [name, rest] = event
    const deployment = { id: 'dep_1', ...(carried && { outputs: carried }) }
    return deliver(using, { name, deployment, ...rest }, { id: crypto.randomUUID() })
  }
  const [own = {}, foreign = {}] = outputs
  return { handle, own, foreign, send, store }
}

const healthy = ({ status, body }: DeliveryResponse) => [status, Object(body).status ?? 'healthy']

describe.each(events)('%s %j', (...event) => {
  it('with the application or the keys of another deployment is refused, and calls nobody', async () => {
    const { handle, own, foreign, send } = await deployed()
    const { applicationId, ...keys } = foreign
    const { secretKey, publishableKey } = foreign
    const mixed = [{ applicationId }, { secretKey }, { publishableKey }].map((one) => ({ ...own, ...one }))
    for (const carried of [foreign, keys, ...mixed, { secretKey }])
      expect(await send(handle, event, carried)).toMatchObject(refused)
    expect(requests).toEqual([])
  })

  it('with its own outputs, or without any, is done', async () => {
    const { handle, own, send } = await deployed()
    expect(healthy(await send(handle, event))).toEqual([200, 'healthy'])
    provider.backend.instances.forEach(({ users }) => void users.clear())
    platform.faults.add({ method: 'GET', status: 503, times: 9 })
    expect(healthy(await send(handle, event, own))).toEqual([200, 'healthy'])
  })

  it('is refused also if the platform’s record names the other application', async () => {
    const { handle, foreign, send } = await deployed()
    Object.assign(platform.deployments.get('dep_1') ?? {}, { outputs: foreign })
    expect(await send(handle, event)).toMatchObject(refused)
  })
})

it('a store that is away leaves the decision to the platform’s record', async () => {
  const event = events[3] ?? ['', {}]
  const { own, foreign, send } = await deployed()
  const handle = fixture.handler({
    store: { ...memoryStore(), read: () => Promise.reject(new Error('away')) },
  })
  expect((await send(handle, event, own)).status).toBe(200)
  expect(await send(handle, event, foreign)).toMatchObject(refused)
  platform.faults.add({ method: 'GET', status: 503, times: 9 })
  const unavailable = { status: 502, body: { code: 'platform_unavailable', retryable: true } }
  expect(await send(handle, event, own)).toMatchObject(unavailable)
})

it('an event of a deployment without a record may not use the keys of another one either', async () => {
  const { handle, foreign } = await deployed()
  const { secretKey, publishableKey } = foreign
  const deployment = { id: 'dep_3', outputs: { secretKey, publishableKey } }
  expect(await deliver(handle, { name: 'HEALTH_CHECK', deployment })).toMatchObject(refused)
  const other = fixture.handler({ store: memoryStore() })
  expect((await deliver(other, { name: 'HEALTH_CHECK', deployment })).status).toBe(200)
})
