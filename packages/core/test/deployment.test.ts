import { type EnvironmentLookup, type HandlerContext, IntegrationError } from '@org/core'
import { connectPlatform, deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import {
  createHost,
  deployment,
  greet,
  greeter,
  type Host,
  type ProviderCall,
  sessionKey,
  token,
} from './fixtures.ts'

type Values = Record<string, unknown>

const createWith = ({ handle }: Host, inputs?: Values, id?: string) =>
  deliver(handle, { name: 'DEPLOYMENT_CREATED', deployment: { ...deployment, inputs } }, { id })

/** DEPLOYMENT_DELETED, for which the integration needs the published token. */
const deleteWith = ({ handle }: Host, outputs?: Values) =>
  deliver(handle, { name: 'DEPLOYMENT_DELETED', deployment: { ...deployment, outputs } })

const reads = ({ platform }: Host) => platform.calls.filter(({ method }) => method === 'GET')

describe('the inputs of a deployment', () => {
  it('come from the event, and the platform is not asked', async () => {
    const host = createHost()
    await createWith(host, { token: 'token-of-the-event', region: 'us' })
    expect(host.providerCalls).toEqual([{ action: 'connect', token: 'token-of-the-event' }])
    expect(reads(host)).toEqual([])
  })

  it('come from the platform if the event has none', async () => {
    const host = createHost()
    expect((await createWith(host)).body).toMatchObject({ outputs: { token, region: 'eu' } })
    expect(reads(host)).toMatchObject([{ path: '/deployments/dep_1' }])
  })

  it('fail the event as platform_unavailable if they can’t be read, before the provider is called', async () => {
    const host = createHost()
    host.platform.faults.add({ method: 'GET', cut: 'before' })
    expect(await createWith(host)).toMatchObject({ status: 502, body: { code: 'platform_unavailable' } })
    expect(host.providerCalls).toEqual([])
  })

  it.each(['', '  ', null])('count as absent if a form left them blank, as %j', async (blank) => {
    const host = createHost()
    const { body } = await createWith(host, { token, region: blank, contacts: blank })
    expect(body).toMatchObject({ outputs: { region: 'eu' } })
    expect((await createWith(host, { token: blank })).body).toMatchObject({ code: 'missing_credentials' })
  })

  it('are refused with the path of each fault', async () => {
    const inputs = { token, region: 'mars', contacts: [{ name: 7 }] }
    expect((await createWith(createHost(), inputs)).body).toMatchObject({
      code: 'invalid_inputs',
      errors: [{ path: 'deployment.inputs.region' }, { path: 'deployment.inputs.contacts[0].name' }],
    })
  })
})

describe('a URL of a deployment, on a host without a rule of its own,', () => {
  const refuse = async (url: string) => {
    let refusal: string | undefined
    const provider = async (_: ProviderCall, { egress }: HandlerContext) => {
      refusal = egress.refuse(new URL(url))
    }
    await createWith(createHost({ provider }), { token })
    return refusal
  }

  it.each([
    'http://mail.example.com',
    'https://8.8.8.8',
    'https://[::1]',
    'https://localhost',
    'https://LOCALHOST.',
    'https://a.localhost',
    'https://mail',
    'https://metadata.google.internal',
    'https://mail.example.internal.',
    'https://printer.local',
    'https://router.home.arpa',
    'https://mail.example.com.',
  ])('is not %s', async (url) => expect(await refuse(url)).toMatch(/^must /))

  it.each(['https://mail.example.com', 'https://localhost.example.com'])('may be %s', async (url) =>
    expect(await refuse(url)).toBeUndefined(),
  )
})

describe('a reference in an input', () => {
  const value = 'the-value-of-a-variable'
  const variables = new Map([
    ['TENANT', value],
    ['EMPTY', ''],
    ['NESTED', '{{env.TENANT}}'],
    ['DOLLAR', '$&$1'],
  ])
  const looked: string[] = []
  const environment: EnvironmentLookup = (name) => {
    looked.push(name)
    const found = variables.get(name)
    return found === undefined ? { problem: `names ${name}, which is not allowed` } : { value: found }
  }

  /** The token that the provider gets, or the problem. */
  async function resolve(text: string) {
    const host = createHost({ environment })
    const { body } = await createWith(host, { token: text })
    return host.providerCalls[0]?.token ?? body
  }
  const refusedWith = (message: string) => ({
    code: 'invalid_inputs',
    errors: [{ path: 'deployment.inputs.token', message }],
  })

  it.each([
    ['{{env.TENANT}}', value],
    ['{{ env.TENANT }}', value],
    ['x{{env.TENANT}}y{{env.DOLLAR}}z', `x${value}y$&$1z`],
    ['[{{env.EMPTY}}]', '[]'],
    ['{single} }} {', '{single} }} {'],
    ['{{env.NESTED}}', '{{env.TENANT}}'],
  ])('turns “%s” into “%s”, in one pass', async (text, resolved) => {
    expect(await resolve(text)).toBe(resolved)
  })

  it('is refused with the name of a variable that is not allowed, and no value', async () => {
    const problem = await resolve('{{env.TENANT}}{{env.PATH}}')
    expect(problem).toMatchObject(refusedWith('names PATH, which is not allowed'))
    expect(JSON.stringify(problem)).not.toContain(value)
  })

  it('is refused for every variable of a host that resolves none', async () => {
    const { body } = await createWith(createHost(), { token: '{{env.NOT_HERE}}' })
    expect(body).toMatchObject(refusedWith(expect.stringContaining('NOT_HERE')))
  })

  it.each(['{{env.TENANT', 'x {{env.TENANT} }', '{{'.repeat(30_000)])(
    'is refused without its end: “%s”',
    async (text) => {
      expect(await resolve(text)).toMatchObject(refusedWith('has “{{” without “}}”; write {{env.NAME}}'))
    },
  )

  it.each([
    '{{}}',
    '{{env.1A}}',
    '{{ENV.A}}',
    '{{env.__proto__.x}}',
    '{{{env.A}}}',
    '{{env.{{env.A}}}}',
    `{{env.${'A'.repeat(129)}}}`,
    `${'{{'.repeat(30_000)}}}`,
    `{{${' '.repeat(65_000)}env.A}}`,
  ])('is refused if it is malformed: “%s”', async (text) => {
    looked.length = 0
    const words = 'has a reference that is not understood; write {{env.NAME}}'
    expect(await resolve(text)).toMatchObject(refusedWith(words))
    expect(looked).toEqual([])
  })

  it('keeps its value from URLs of the deployment that the operator does not list', async () => {
    const sent: string[] = []
    const fetch = async (url: string | URL | Request) => {
      sent.push(String(url))
      return new Response()
    }
    const isListed = (url: URL) => url.hostname === 'listed.example'
    const egress = { refuse: () => undefined, isListed, fetch }
    const reach = async (text: string, url: string) => {
      const provider = async (_: ProviderCall, context: HandlerContext) =>
        void (await context.egress.fetch(url))
      return (await createWith(createHost({ environment, egress, provider }), { token: text })).body
    }
    const refused = refusedWith(expect.stringContaining('not sent to a URL of the deployment'))
    expect(await reach('{{env.TENANT}}', 'https://own.example')).toMatchObject(refused)
    expect(sent).toEqual([])
    await reach('{{env.TENANT}}', 'https://listed.example')
    await reach(token, 'https://own.example')
    expect(sent).toEqual(['https://listed.example', 'https://own.example'])
  })

  it('stays as it is in an input that takes no references', async () => {
    looked.length = 0
    const contacts = [{ name: '{{env.TENANT}}' }]
    expect((await createWith(createHost({ environment }), { token, contacts })).status).toBe(200)
    expect(looked).toEqual([])
  })

  it.each([
    ['the deployment succeeds', { token: '{{env.TENANT}}', region: 'us' }, 200],
    ['the provider quotes it', { token: '{{env.TENANT}}!' }, 422],
    ['another input is invalid', { token: '{{env.TENANT}}', region: 'mars' }, 422],
    ['another reference is unknown', { token: '{{env.TENANT}} {{env.OTHER}}' }, 422],
    ['it makes the input too long', { token: '{{env.TENANT}}'.repeat(5) }, 422],
  ])('leaves its value out of the problem, the log and the callbacks if %s', async (_, inputs, status) => {
    const host = createHost({
      environment,
      provider: async ({ token: used }) => {
        if (used?.endsWith('!')) throw new IntegrationError('provider_rejected', `Unknown token ${used}.`)
      },
    })
    const response = await createWith(host, inputs)
    expect(response.status).toBe(status)
    const callbacks = host.platform.calls.filter(({ path }) => !path.endsWith('/outputs'))
    const problem = status === 200 ? [] : response.body
    expect(JSON.stringify([problem, host.lines, callbacks])).not.toContain(value)
  })

  it('is a secret also in an input that is none, until it is published as an output that is none', async () => {
    const host = createHost({ environment })
    for (const _ of ['first', 'replayed']) {
      const { body } = await createWith(host, { token, label: '{{env.TENANT}}' }, 'evt_1')
      expect(body).toMatchObject({ outputs: { label: value } })
    }
    const logs = JSON.stringify([host.lines, host.record()?.logs])
    expect(logs).toContain('Labelled [redacted].')
    expect(logs).not.toContain(value)
  })
})

describe('the outputs of a deployment', () => {
  it('come from the event, and the platform is not asked', async () => {
    const host = createHost()
    await deleteWith(host, { token: 'token-of-the-event', region: 'eu' })
    expect(host.providerCalls).toEqual([{ action: 'disconnect', token: 'token-of-the-event' }])
    expect(reads(host)).toEqual([])
  })

  it.each([undefined, { region: 'us' }, { token: '', region: 'us' }, { token: null, region: 'us' }])(
    'come from the platform, in one read, if the event lacks some: %j',
    async (outputs) => {
      const host = createHost()
      await createWith(host, { token })
      await deleteWith(host, outputs)
      expect(host.providerCalls.at(-1)).toEqual({ action: 'disconnect', token })
      expect(reads(host)).toMatchObject([{ path: '/deployments/dep_1' }])
    },
  )

  it('of the event replace those of the platform one by one', async () => {
    let outputs: unknown
    const host = createHost({
      async provider(_, context) {
        outputs = await context.deployment?.outputs(greeter.outputs)
      },
    })
    await createWith(host, { token, region: 'us' })
    expect(host.record()?.sensitive).toEqual(['token', 'sessionKey'])
    await deleteWith(host, { region: 'eu' })
    expect(outputs).toEqual({ token, region: 'eu', sessionKey })
  })

  it('are absent if neither has them, and the handler decides', async () => {
    const host = createHost()
    expect((await deleteWith(host)).status).toBe(200)
    host.platform.removeDeployment('dep_1')
    expect((await deleteWith(host)).status).toBe(200)
    expect(host.providerCalls).toEqual([{ action: 'disconnect' }, { action: 'disconnect' }])
  })

  it('are none for a creation that begins anew under the id of a deleted deployment', async () => {
    const seen: unknown[] = []
    const host = createHost({
      provider: async (_, context) => void seen.push(await context.deployment?.outputs(greeter.outputs)),
    })
    const published = { token: 'token-of-the-deleted', region: 'eu' }
    for (const [name, hour] of [
      ['DEPLOYMENT_CREATED', '09'],
      ['DEPLOYMENT_DELETED', '10'],
      ['DEPLOYMENT_CREATED', '11'],
      ['DEPLOYMENT_CREATED', '12'],
    ]) {
      const timestamp = `2026-11-20T${hour}:00:00Z`
      const inputs = { token }
      await deliver(host.handle, {
        name,
        timestamp,
        deployment: { ...deployment, inputs, outputs: published },
      })
    }
    expect(seen).toEqual([published, published, undefined, published])
  })

  it('stay out of a problem as soon as they exist', async () => {
    const host = createHost({
      platform: {
        ...connectPlatform(createHost().platform.fetch),
        async setOutputs(_, { outputs }) {
          throw new IntegrationError('platform_unavailable', `Refused ${outputs.sessionKey}.`)
        },
      },
    })
    const { body } = await createWith(host, { token, region: 'us' })
    expect(body).toMatchObject({ code: 'platform_unavailable', detail: 'Refused [redacted].' })
  })

  it('stay out of the log if they came from the platform, at any depth', async () => {
    const host = createHost({
      provider: async ({ token: used = '' }, { log }) => log.warn(`Used ${used}.`, { [used]: [{ used }] }),
    })
    host.platform.addDeployment(deployment).outputs = { token: 'published-token', region: 'eu' }
    await deliver(host.handle, { ...greet, deployment })
    const data = { '[redacted]': [{ used: '[redacted]' }] }
    expect(host.record()?.logs).toMatchObject([{ level: 'warn', message: 'Used [redacted].', data }])
    expect(reads(host)).toHaveLength(1)
  })
})
