import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  createWebhookHandler,
  defineIntegration,
  environmentReference,
  IntegrationError,
} from '../src/index.ts'
import { type EnvironmentLookup, resolveReferences } from '../src/contract/references.ts'
import { connectPlatform, createPlatformEmulator, deliver } from '../src/testing/index.ts'
import { createHost } from './example.ts'

const variables: Record<string, string> = {
  A: 'alpha',
  B_2: 'beta',
  EMPTY: '',
  NESTED: '{{env.A}}',
  DOLLAR: '$&$1',
}

const lookup: EnvironmentLookup = (name) => {
  const value = variables[name]
  return value === undefined ? { problem: `names ${name}, which is not set` } : { value }
}

describe('a reference', () => {
  it.each([
    ['', ''],
    ['no reference', 'no reference'],
    ['{{env.A}}', 'alpha'],
    ['{{ env.A }}', 'alpha'],
    ['x{{env.A}}y{{env.B_2}}z', 'xalphaybetaz'],
    ['{{env.A}}{{env.A}}', 'alphaalpha'],
    ['[{{env.EMPTY}}]', '[]'],
    ['{{env.DOLLAR}}', '$&$1'],
    ['{single} }} {', '{single} }} {'],
  ])('turns “%s” into “%s”', (text, value) => {
    expect(resolveReferences(text, lookup)).toEqual({ value })
  })

  it('is resolved in one pass: what a variable holds is not looked at again', () => {
    expect(resolveReferences('{{env.NESTED}}', lookup)).toEqual({ value: '{{env.A}}' })
    expect(resolveReferences('{{env.{{env.A}}}}', lookup)).toHaveProperty('problem')
  })

  it('that is not to be had says which, and never a value', () => {
    expect(resolveReferences('{{env.A}}{{env.MISSING}}', lookup)).toEqual({
      problem: 'names MISSING, which is not set',
    })
  })

  it.each(['{{env.A', '{{', 'x {{env.A} }'])('without its end is a problem: “%s”', (text) => {
    expect(resolveReferences(text, lookup)).toEqual({ problem: 'has “{{” without “}}”; write {{env.NAME}}' })
  })

  it.each([
    '{{}}',
    '{{A}}',
    '{{env.}}',
    '{{env.1A}}',
    '{{env.A-B}}',
    '{{ENV.A}}',
    '{{env.A.B}}',
    '{{env.__proto__.x}}',
    '{{secret.A}}',
    '{{{env.A}}}',
    `{{env.${'A'.repeat(129)}}}`,
  ])('that is not understood is a problem: “%s”', (text) => {
    expect(resolveReferences(text, lookup)).toEqual({
      problem: 'has a reference that is not understood; write {{env.NAME}}',
    })
  })

  it('is found in hostile text in one pass', () => {
    let lookups = 0
    const counting: EnvironmentLookup = (name) => {
      lookups += 1
      return { value: name }
    }
    const hostile = '{{'.repeat(200_000)
    expect(resolveReferences(hostile, counting)).toHaveProperty('problem')
    expect(resolveReferences(`${hostile}}}`, counting)).toHaveProperty('problem')
    expect(resolveReferences('{{env.A}}'.repeat(10_000), counting)).toEqual({ value: 'A'.repeat(10_000) })
    expect(lookups).toBe(10_000)
    expect(resolveReferences('{{'.repeat(32 * 1024), counting)).toHaveProperty('problem')
    expect(resolveReferences(`{{${' '.repeat(64 * 1024)}env.A}}`, counting)).toHaveProperty('problem')
    expect(resolveReferences('{{ env.A'.repeat(8 * 1024), counting)).toHaveProperty('problem')
    expect(lookups).toBe(10_000)
  })
})

describe('what a variable holds', () => {
  const value = 'the-value-of-a-variable'
  const environment: EnvironmentLookup = (name) =>
    name === 'TENANT' ? { value } : { problem: `names ${name}, which is not set` }
  const send = async (inputs: Record<string, unknown>, name = 'DEPLOYMENT_CREATED') => {
    const host = createHost({
      environment,
      provider: async ({ token }) => {
        if (token?.endsWith('!'))
          throw new IntegrationError('provider_rejected', `The token ${token} is not known.`)
      },
    })
    const answer = await deliver(host.handle, { name, deployment: { id: 'dep_1', inputs } })
    const told = host.platform.calls.filter(({ path }) => !path.endsWith('/outputs'))
    return { answer, traces: JSON.stringify([host.lines, told]) }
  }

  it('is published where it was asked for, and shows nowhere else', async () => {
    const { answer, traces } = await send({ token: '{{env.TENANT}}' })
    expect(answer.body).toMatchObject({ outputs: { token: value } })
    expect(traces).not.toContain(value)
  })

  it.each([
    ['the provider quotes it', { token: '{{env.TENANT}}!' }],
    ['another input does not fit', { token: '{{env.TENANT}}', region: 'mars' }],
    ['another reference is unknown', { token: '{{env.TENANT}} {{env.OTHER}}' }],
    ['it makes the input too long', { token: '{{env.TENANT}}'.repeat(5) }],
    ['it stands where no reference is resolved', { region: '{{env.TENANT}}' }],
  ])('is not told where %s', async (_, inputs) => {
    const { answer, traces } = await send(inputs)
    expect(answer.status).toBe(422)
    expect(JSON.stringify(answer.body) + traces).not.toContain(value)
  })

  it('is a secret also where the input is none', async () => {
    const definition = defineIntegration({
      name: 'labels',
      title: 'Labels',
      description: 'Has an input that is no secret.',
      events: ['DEPLOYMENT_CREATED'],
      inputs: z.object({ label: environmentReference(z.string()) }),
      outputs: z.object({ label: z.string() }),
      functions: {},
      metrics: {},
      downloads: [],
    })
    const platform = createPlatformEmulator()
    platform.addDeployment({ id: 'dep_1' })
    const lines: unknown[] = []
    const handle = createWebhookHandler(
      definition,
      {
        async created({ label }, { log }) {
          log.info(`The label is ${label}.`)
          return { label: String(label) }
        },
      },
      {
        platform: connectPlatform(platform.fetch),
        environment,
        logger: (...line) => lines.push(line),
        settings: undefined,
      },
    )
    const deployment = { id: 'dep_1', inputs: { label: '{{env.TENANT}}' } }
    const send = () => deliver(handle, { name: 'DEPLOYMENT_CREATED', deployment }, { id: 'evt_1' })
    expect((await send()).body).toMatchObject({ outputs: { label: value } })
    expect(JSON.stringify([lines, platform.deployments.get('dep_1')?.logs])).not.toContain(value)
    // What is published is public: a redelivery gets it again.
    expect((await send()).body).toMatchObject({ outputs: { label: value } })
  })
})
