import type { EnvironmentLookup, HandlerContext } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import {
  createHost,
  deployment,
  greet,
  greeter,
  type Host,
  type ProviderCall,
  session,
  token,
} from './fixtures.ts'

type Values = Record<string, unknown>

const createWith = ({ handle }: Host, inputs?: Values, id?: string) =>
  deliver(handle, { name: 'DEPLOYMENT_CREATED', deployment: { ...deployment, inputs } }, { id })
/** The integration needs the published token for it. */
const deleteWith = ({ handle }: Host, outputs?: Values) =>
  deliver(handle, { name: 'DEPLOYMENT_DELETED', deployment: { ...deployment, outputs } })
const reads = ({ platform }: Host) => platform.calls.filter(({ method }) => method === 'GET').length

describe('the inputs of a deployment', () => {
  it('come from the event, or else from the platform, or the next delivery creates the deployment', async () => {
    const host = createHost()
    // A form sends a field that was left blank.
    await createWith(host, { token: 'token-of-the-event', region: 'us', contacts: ' ' })
    expect(host.providerCalls).toEqual([{ action: 'connect', token: 'token-of-the-event' }])
    expect(reads(host)).toBe(0)
    const early = { status: 502, body: { code: 'platform_unavailable', retryable: true } }
    for (const fault of [{ cut: 'before' }, { status: 404, body: {} }] as const) {
      host.platform.faults.add({ ...fault, method: 'GET' })
      expect(await createWith(host, undefined, 'evt_1')).toMatchObject(early)
    }
    expect(host.providerCalls).toHaveLength(1)
    const { body } = await createWith(host, undefined, 'evt_1')
    expect(body).toMatchObject({ outputs: { token, region: 'eu' } })
  })

  it('that are unknown have no effect, and the log says so', async () => {
    const host = createHost()
    await createWith(host, { token, regoin: 'us', colour: 'blue' })
    const unknown = (name: string) => `The input “${name}” is unknown and has no effect`
    const logs = host.record()?.logs.map(({ message }) => message)
    expect(logs).toContain(`${unknown('regoin')}; the nearest name is “region”`)
    expect(logs).toContain(`${unknown('colour')}.`)
  })
})

it('without a rule of the host, a deployment’s URL must be https to a public name', async () => {
  const refused = [
    ...['http://mail.example.com', 'https://8.8.8.8', 'https://[::1]', 'https://mail', 'https://LOCALHOST.'],
    ...['https://a.localhost', 'https://metadata.google.internal', 'https://printer.local'],
    ...['https://router.home.arpa', 'https://mail.example.com.'],
  ]
  const allowed = ['https://mail.example.com', 'https://localhost.example.com']
  const passed: string[] = []
  const provider = async (_: ProviderCall, { egress }: HandlerContext) =>
    void passed.push(...[...refused, ...allowed].filter((url) => !egress.refuse(new URL(url))))
  await createWith(createHost({ provider }), { token })
  expect(passed).toEqual(allowed)
})

describe('a reference in an input', () => {
  const value = 'the-value-of-a-variable'
  const variables = { TENANT: value, EMPTY: '', NESTED: '{{env.TENANT}}', DOLLAR: '$&$1' }
  const looked: string[] = []
  const environment: EnvironmentLookup = (name) => {
    looked.push(name)
    const found = new Map(Object.entries(variables)).get(name)
    return found === undefined ? { problem: `names ${name}, which is not allowed` } : { value: found }
  }
  const refusedWith = (words: string) => {
    const errors = [{ path: 'deployment.inputs.token', message: expect.stringContaining(words) }]
    return { code: 'invalid_inputs', errors }
  }

  it.each([
    ['{{env.TENANT}}', value],
    ['x{{ env.TENANT }}y{{env.DOLLAR}}z', `x${value}y$&$1z`],
    ['[{{env.EMPTY}}]', '[]'],
    ['{single} }} {', '{single} }} {'],
    ['{{env.NESTED}}', '{{env.TENANT}}'],
  ])('turns “%s” into “%s”, in one pass', async (text, resolved) => {
    const host = createHost({ environment })
    await createWith(host, { token: text })
    expect(host.providerCalls).toMatchObject([{ token: resolved }])
  })

  it.each([
    ...['x {{env.TENANT} }', '{{}}', '{{env.1A}}', '{{ENV.A}}', '{{env.__proto__.x}}', '{{{env.A}}}'],
    ...['{{env.{{env.A}}}}', `{{env.${'A'.repeat(129)}}}`, `${'{{'.repeat(30_000)}}}`],
    `{{${' '.repeat(65_000)}env.A}}`,
  ])('is refused before anything is looked up if it is none: %s', async (text) => {
    looked.length = 0
    const { body } = await createWith(createHost({ environment }), { token: `{{env.TENANT}} ${text}` })
    expect(body).toMatchObject(refusedWith('write {{env.NAME}}'))
    expect(looked).toEqual([])
  })

  it('is refused by a host that does not resolve it, and stays as it is in an input that takes none', async () => {
    for (const [name, dependencies] of [
      ['TENANT', {}],
      ['NOT_HERE', { environment }],
    ] as const) {
      const { body } = await createWith(createHost(dependencies), { token: '{{env.TENANT}}{{env.NOT_HERE}}' })
      expect(body).toMatchObject(refusedWith(`names ${name}`))
      expect(JSON.stringify(body)).not.toContain(value)
    }
    expect((await createWith(createHost(), { token, contacts: [{ name: '{{env.A}}' }] })).status).toBe(200)
  })

  it('keeps its value from URLs of the deployment that the operator does not list', async () => {
    const sent: string[] = []
    const fetch = async (url: string | URL | Request) => {
      sent.push(String(url))
      return new Response()
    }
    const isListed = (url: URL) => url.hostname === 'listed.example'
    const egress = { refuse: () => undefined, isListed, fetch }
    const reach = async (name: string, text: string, url: string) => {
      const provider = async (_: ProviderCall, context: HandlerContext) =>
        void (await context.egress.fetch(url))
      const { handle } = createHost({ environment, egress, provider })
      const outputs = { token: value, region: 'eu' }
      const given = { ...deployment, inputs: { token: text }, outputs }
      return (await deliver(handle, { name, deployment: given })).body
    }
    const refused = refusedWith('not sent to a URL of the deployment')
    // The outputs that a deletion uses hold what the inputs refer to.
    for (const name of ['DEPLOYMENT_CREATED', 'DEPLOYMENT_DELETED'])
      expect(await reach(name, '{{env.TENANT}}', 'https://own.example')).toMatchObject(refused)
    expect(sent).toEqual([])
    await reach('DEPLOYMENT_CREATED', '{{env.TENANT}}', 'https://listed.example')
    await reach('DEPLOYMENT_CREATED', token, 'https://own.example')
    expect(sent).toEqual(['https://listed.example', 'https://own.example'])
  })

  it('is a secret also in an input that is none, until it is published as an output that is none', async () => {
    const host = createHost({ environment })
    for (const _ of ['first', 'replayed']) {
      const { body } = await createWith(host, { token, labels: ['{{env.TENANT}}'] }, 'evt_1')
      expect(body).toMatchObject({ outputs: { labels: [value] } })
    }
    const logs = JSON.stringify([host.lines, host.record()?.logs])
    expect(logs).toContain('Labelled [redacted].')
    expect(logs).not.toContain(value)
  })
})

describe('the outputs of a deployment', () => {
  it.each([
    [{ token: 'token-of-the-event', region: 'eu' }, { token: 'token-of-the-event', region: 'eu' }, 0],
    [undefined, { token, region: 'us', session }, 1],
    [{ token: '', region: 'eu' }, { token, region: 'eu', session }, 1],
  ])(
    'come from the event, and each that it lacks from the platform: of %j, %j',
    async (given, used, count) => {
      let outputs: unknown
      const provider = async (_: ProviderCall, context: HandlerContext) => {
        outputs = await context.deployment?.outputs(greeter.outputs)
      }
      const host = createHost({ provider })
      await createWith(host, { token, region: 'us' })
      expect(host.record()?.sensitive).toEqual(['token', 'session.keys.*'])
      host.platform.calls.length = 0
      await deleteWith(host, given)
      expect(outputs).toEqual(used)
      expect(reads(host)).toBe(count)
    },
  )

  it('are absent if neither has them, and the handler decides', async () => {
    const host = createHost()
    expect((await deleteWith(host)).status).toBe(200)
    host.platform.removeDeployment('dep_1')
    expect((await deleteWith(host)).status).toBe(200)
    expect(host.providerCalls).toEqual([{ action: 'disconnect' }, { action: 'disconnect' }])
  })

  it('are none for a creation that begins anew under the id of a deleted deployment', async () => {
    const seen: unknown[] = []
    const provider = async (_: ProviderCall, context: HandlerContext) =>
      void seen.push(await context.deployment?.outputs(greeter.outputs))
    const host = createHost({ provider })
    const outputs = { token: 'token-of-the-deleted', region: 'eu' }
    for (const [hour, name] of ['CREATED', 'DELETED', 'CREATED', 'CREATED'].entries()) {
      const event = { name: `DEPLOYMENT_${name}`, timestamp: `2026-11-20T1${hour}:00:00Z` }
      await deliver(host.handle, { ...event, deployment: { ...deployment, inputs: { token }, outputs } })
    }
    expect(seen).toEqual([outputs, outputs, undefined, outputs])
  })

  it('stay out of the log if they came from the platform, at any depth', async () => {
    const host = createHost({
      provider: async ({ token: used = '' }, { log }) => log.warn(`Used ${used}.`, { [used]: [{ used }] }),
    })
    host.platform.addDeployment(deployment).outputs = { token: 'published-token', region: 'eu' }
    await deliver(host.handle, { ...greet, deployment })
    const data = { '[redacted]': [{ used: '[redacted]' }] }
    expect(host.record()?.logs).toMatchObject([{ level: 'warn', message: 'Used [redacted].', data }])
  })
})
