import { describe, expect, it } from 'vitest'
import { type EnvironmentLookup, IntegrationError } from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { calling, createHost, greeter, sessionKey, token } from './example.ts'
import { platformOver } from './platform-port.ts'

type Values = Record<string, unknown>

/** Delivers DEPLOYMENT_CREATED with these inputs to a host. */
const createWith = (host: ReturnType<typeof createHost>, inputs?: Values) =>
  deliver(host.handle, { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } })

/** Delivers DEPLOYMENT_DELETED, for which the example needs the published token. */
const deleteWith = (host: ReturnType<typeof createHost>, outputs?: Values) =>
  deliver(host.handle, { name: 'DEPLOYMENT_DELETED', deployment: { id: 'dep_1', outputs } })

const reads = (host: ReturnType<typeof createHost>) =>
  host.platform.calls.filter(({ method }) => method === 'GET').map(({ path }) => path)

describe('the inputs of a deployment', () => {
  it('are those of the event, and the platform is not asked', async () => {
    const host = createHost()
    await createWith(host, { token: 'token-of-the-event', region: 'us' })
    expect(host.asked).toEqual([{ action: 'connect', token: 'token-of-the-event' }])
    expect(reads(host)).toEqual([])
  })

  it('are read from the platform where the event has none', async () => {
    const host = createHost()
    expect((await createWith(host)).body).toMatchObject({ outputs: { token, region: 'eu' } })
    expect(reads(host)).toEqual(['/deployments/dep_1'])
  })

  it('can’t be read: that is platform_unavailable, and nothing is done', async () => {
    const host = createHost()
    host.platform.faults.add({ method: 'GET', cut: 'before' })
    expect(await createWith(host)).toMatchObject({
      status: 502,
      body: { code: 'platform_unavailable', retryable: true },
    })
    expect(host.asked).toEqual([])
  })

  it.each(['', '  ', null])('count as absent where a form left them blank, as %j', async (blank) => {
    const host = createHost()
    const inputs = { token, region: blank, contacts: blank }
    expect((await createWith(host, inputs)).body).toMatchObject({ outputs: { region: 'eu' } })
    expect((await createWith(host, { token: blank })).body).toMatchObject({ code: 'missing_credentials' })
  })
})

describe('{{env.NAME}} in an input', () => {
  const environment: EnvironmentLookup = (name) =>
    name === 'TENANT_TOKEN'
      ? { value: 'the-tenants-own-token' }
      : { problem: `names ${name}, which is not allowed` }

  it('is resolved, and the value is kept out of the log', async () => {
    const host = createHost({ environment })
    const { body } = await createWith(host, { token: 'pre-{{ env.TENANT_TOKEN }}' })
    expect(host.asked).toEqual([{ action: 'connect', token: 'pre-the-tenants-own-token' }])
    expect(body).toMatchObject({ outputs: { token: 'pre-the-tenants-own-token' } })
    expect(JSON.stringify(host.lines)).not.toContain('the-tenants-own-token')
  })

  it('is resolved in what the platform has recorded, too', async () => {
    const host = createHost({ environment })
    host.platform.addDeployment({ id: 'dep_1', inputs: { token: '{{env.TENANT_TOKEN}}' } })
    await createWith(host)
    expect(host.asked[0]?.token).toBe('the-tenants-own-token')
  })

  it('is invalid_inputs where the host does not allow it, with the path and the name', async () => {
    const host = createHost({ environment })
    expect(await createWith(host, { token: '{{env.PATH}}' })).toMatchObject({
      status: 422,
      body: {
        code: 'invalid_inputs',
        errors: [{ path: 'deployment.inputs.token', message: 'names PATH, which is not allowed' }],
      },
    })
    expect(host.asked).toEqual([])
  })

  it('is left as it is in an input that takes no references', async () => {
    const contacts = [{ name: '{{env.TENANT_TOKEN}}' }]
    const lookedUp: string[] = []
    const host = createHost({
      environment(name) {
        lookedUp.push(name)
        return { value: name }
      },
    })
    expect((await createWith(host, { token, contacts })).status).toBe(200)
    expect(lookedUp).toEqual([])
  })
})

describe('the outputs of a deployment', () => {
  it('are those of the event, and the platform is not asked', async () => {
    const host = createHost()
    await deleteWith(host, { token: 'token-of-the-event', region: 'eu' })
    expect(host.asked).toEqual([{ action: 'disconnect', token: 'token-of-the-event' }])
    expect(reads(host)).toEqual([])
  })

  it.each([
    { what: 'has none', outputs: undefined },
    { what: 'has only some', outputs: { region: 'us' } },
    { what: 'has them blank', outputs: { token: '', region: 'us' } },
    { what: 'has them null', outputs: { token: null, region: 'us' } },
  ])('are read from the platform, once, where the event $what', async ({ outputs }) => {
    const host = createHost()
    await createWith(host, { token })
    await deleteWith(host, outputs)
    expect(host.asked.at(-1)).toEqual({ action: 'disconnect', token })
    expect(reads(host)).toEqual(['/deployments/dep_1'])
  })

  it('of the event win over those of the platform, one by one', async () => {
    let outputs: unknown
    const host = createHost({
      async provider(_, { deployment }) {
        outputs = await deployment?.outputs(greeter.outputs)
      },
    })
    await createWith(host, { token, region: 'us' })
    await deleteWith(host, { region: 'eu' })
    expect(outputs).toEqual({ token, region: 'eu', sessionKey })
  })

  it('are called sensitive where they are secret and there', async () => {
    const host = createHost()
    for (const [region, sensitive] of [
      ['eu', ['token']],
      ['us', ['token', 'sessionKey']],
    ]) {
      await createWith(host, { token, region })
      expect(host.platform.deployments.get('dep_1')?.sensitive).toEqual(sensitive)
    }
  })

  it('are kept out of a problem from the moment that they exist', async () => {
    const { platform } = createHost()
    const host = createHost({
      platform: {
        ...platformOver(platform.fetch),
        async setOutputs(_, { outputs }) {
          throw new IntegrationError('platform_unavailable', `Refused ${outputs.sessionKey}.`)
        },
      },
    })
    const { body } = await createWith(host, { token, region: 'us' })
    expect(body).toMatchObject({ code: 'platform_unavailable', detail: 'Refused [redacted].' })
  })

  it('are absent where neither has them, and the handler decides', async () => {
    const host = createHost()
    expect((await deleteWith(host)).status).toBe(200)
    host.platform.removeDeployment('dep_1')
    expect((await deleteWith(host)).status).toBe(200)
    expect(host.asked).toEqual([{ action: 'disconnect' }, { action: 'disconnect' }])
  })

  it('are kept out of logs where they came from the platform', async () => {
    const host = createHost({
      provider: async ({ token: used }, { log, deployment }) => {
        if (used === undefined) return
        log.warn(`Used ${used}.`, { [used]: [used, { used }] })
        await deployment?.outputs(greeter.outputs)
      },
    })
    host.platform.addDeployment({ id: 'dep_1' }).outputs = { token: 'published-token', region: 'eu' }
    await deliver(host.handle, { ...calling('greet', { to: 'Ada' }), deployment: { id: 'dep_1' } })
    expect(host.platform.deployments.get('dep_1')?.logs).toMatchObject([
      {
        level: 'warn',
        message: 'Used [redacted].',
        data: { '[redacted]': ['[redacted]', { used: '[redacted]' }] },
      },
    ])
    expect(reads(host)).toHaveLength(1)
  })
})
