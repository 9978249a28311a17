import { defineIntegration, type FunctionDefinition } from '@org/core'
import { errorCodes, type OpenApiDocument, toOpenApi } from '@org/core/internal'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { bare, greeter } from './fixtures.ts'

const info = { title: 'Host', version: '1.0.0' }
const document = toOpenApi([greeter, bare], info)

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const webhookOf = (name: string) => document.paths[`/${name}/webhook`]?.post

function schemaOf({ components }: OpenApiDocument, name: string) {
  const schema = components.schemas[name]
  if (!schema) throw new Error(`There is no ${name} among ${Object.keys(components.schemas)}.`)
  return schema
}

describe('the OpenAPI document', () => {
  it('has one operation for each webhook, with the responses to each event, function and alias', () => {
    expect(Object.keys(document.paths)).toEqual(['/greeter/webhook', '/elsewhere/webhook'])
    const responses = (name: string) =>
      Object.entries(webhookOf(name)?.['x-responses'] ?? {}).map(([sent, all]) => [
        sent,
        all.map(({ $ref }) => $ref.replace('#/components/schemas/', '')).join(' or '),
      ])
    expect(responses('greeter')).toEqual([
      ['WEBHOOK_CHALLENGE', 'WebhookChallengeResponse'],
      ['DEPLOYMENT_CREATED', 'GreeterDeploymentCreatedResponse or IgnoredResponse'],
      ['HEALTH_CHECK', 'HealthCheckResponse'],
      ['METRIC_UPDATE', 'GreeterMetricUpdateResponse'],
      ['sendGreeting', 'GreeterSendGreetingResponse'],
      ['greet', 'GreeterSendGreetingResponse'],
      ['issueKey', 'GreeterIssueKeyResponse'],
      ['countGreetings', 'GreeterCountGreetingsResponse'],
      ['count', 'GreeterCountGreetingsResponse'],
      ['DOWNLOAD_STARTED', 'DownloadStartedResponse'],
      ['DEPLOYMENT_DELETED', 'DeploymentDeletedResponse or IgnoredResponse'],
    ])
    const handled = responses('elsewhere').filter(([, response]) => response !== 'IgnoredResponse')
    expect(handled.map(([sent]) => sent)).toEqual(['WEBHOOK_CHALLENGE', 'HEALTH_CHECK'])
  })

  it('tells events, and calls of functions, apart by their names', () => {
    expect(schemaOf(document, 'GreeterEvent')).toMatchObject({
      discriminator: {
        propertyName: 'name',
        mapping: { FUNCTION_CALL: ref('GreeterFunctionCallEvent').$ref },
      },
    })
    expect(schemaOf(document, 'GreeterFunctionCallEvent')).toMatchObject({
      properties: { functionCall: ref('GreeterFunctionCall') },
    })
    const { $ref } = ref('GreeterSendGreetingCall')
    expect(schemaOf(document, 'GreeterFunctionCall')).toMatchObject({
      oneOf: expect.arrayContaining([{ $ref }]),
      discriminator: { propertyName: 'name', mapping: { sendGreeting: $ref, greet: $ref } },
    })
    const properties = {
      name: { enum: ['sendGreeting', 'greet'] },
      arguments: ref('GreeterSendGreetingArguments'),
    }
    expect(schemaOf(document, 'GreeterSendGreetingCall')).toMatchObject({ properties, 'x-effect': true })
    const result = ref('GreeterSendGreetingResult')
    expect(schemaOf(document, 'GreeterSendGreetingResponse')).toMatchObject({ properties: { result } })
  })

  it('closes no response, so that a client that validates them survives a new field', () => {
    expect(schemaOf(document, 'GreeterSendGreetingArguments')).toHaveProperty('additionalProperties', false)
    const received = Object.entries(document.components.schemas).filter(([name]) =>
      /(Response|Result)$/.test(name),
    )
    expect(received.length).toBeGreaterThan(10)
    for (const [, schema] of received) expect(schema).not.toHaveProperty('additionalProperties', false)
  })

  it('has on each route only the statuses that it may answer with', () => {
    const statuses = (name: string) => Object.keys(webhookOf(name)?.responses ?? {})
    const { aborted: _, ...answered } = errorCodes
    const all = Object.values(answered).map(({ status }) => String(status))
    expect(new Set(statuses('greeter'))).toEqual(new Set(['200', ...all]))
    const few = ['200', '400', '401', '405', '413', '415', '500', '503']
    expect(statuses('elsewhere')).toEqual(few)
  })

  it('marks a secret as sensitive, as writeOnly in requests alone, and as absent from a replayed response', () => {
    expect(schemaOf(document, 'GreeterSendGreetingArguments')).toMatchObject({
      properties: { password: { writeOnly: true, sensitive: true } },
    })
    const properties = { token: { sensitive: true }, region: { type: 'string' } }
    expect(schemaOf(document, 'GreeterOutputs')).toMatchObject({ properties, required: ['region'] })
    for (const name of ['GreeterOutputs', 'GreeterIssueKeyResult'])
      expect(JSON.stringify(schemaOf(document, name))).not.toContain('writeOnly')
  })

  it('lets an optional input be blank, and keeps its marks; a required one can’t be blank', () => {
    const token = { type: 'string', sensitive: true, environmentReference: true }
    const region = { enum: ['eu', 'us'], default: 'eu' }
    expect(schemaOf(document, 'GreeterInputs')).toMatchObject({
      properties: { token: { anyOf: [token, ref('Blank')] }, region: { anyOf: [region, ref('Blank')] } },
    })
    const strict = toOpenApi([{ ...greeter, inputs: z.object({ name: z.string().min(1) }) }], info)
    const properties = { name: { type: 'string', minLength: 1 } }
    expect(schemaOf(strict, 'GreeterInputs')).toMatchObject({ properties, required: ['name'] })
  })
})

describe('a schema with a title', () => {
  const letter = z.object({ text: z.string() }).meta({ title: 'Letter' })
  const documentOf = (send: Pick<FunctionDefinition, 'arguments' | 'result'>) => {
    const functions = { send: { description: 'Sends.', effectful: true, ...send } }
    return toOpenApi(
      [defineIntegration({ ...bare, name: 'post', events: ['FUNCTION_CALL'], functions })],
      info,
    )
  }

  it('is a component of that name, wherever it is', () => {
    const document = documentOf({ arguments: letter, result: z.object({ list: z.array(letter) }) })
    expect(schemaOf(document, 'Letter')).toMatchObject({ required: ['text'] })
    expect(schemaOf(document, 'PostSendArguments')).toEqual(ref('Letter'))
    expect(schemaOf(document, 'PostSendResult')).toMatchObject({
      properties: { list: { items: ref('Letter') } },
    })
  })

  it('is written out if another one has the title', () => {
    const other = z.object({ lines: z.array(z.string()) }).meta({ title: 'Letter' })
    const document = documentOf({ arguments: letter, result: z.object({ other }) })
    expect(schemaOf(document, 'PostSendResult')).toMatchObject({
      properties: { other: { required: ['lines'] } },
    })
  })

  it('can’t have the name of another component', () => {
    const problem = z.object({ text: z.string() }).meta({ title: 'PostEvent' })
    expect(() => documentOf({ arguments: problem, result: letter })).toThrow(
      'Two schemas have the name PostEvent.',
    )
  })
})
