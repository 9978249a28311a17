import { defineIntegration, type FunctionDefinition, functionArguments, secret } from '@org/core'
import { errorCodes, type OpenApiDocument, toOpenApi } from '@org/core/internal'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { bare, greeter } from './fixtures.ts'

const info = { title: 'Host', version: '1.0.0' }
const document = toOpenApi([greeter, bare], info)

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const operationOf = (path: string) => document.paths[path]?.post
const contentOf = (path: string) => operationOf(path)?.requestBody?.content['application/json']

function schemaOf({ components }: OpenApiDocument, name: string) {
  const schema = components.schemas[name]
  if (!schema) throw new Error(`There is no ${name} among ${Object.keys(components.schemas)}.`)
  return schema
}

describe('the OpenAPI document', () => {
  it('has the responses of each event and of each function, and an example of each that a route handles', () => {
    const described = (path: string) =>
      (operationOf(path)?.['x-events'] ?? []).map((each) => [
        each.function?.name ?? each.event,
        each.responses.map(({ $ref }) => $ref.replace('#/components/schemas/', '')).join(' or '),
      ])
    const examples = (path: string) => Object.keys(contentOf(path)?.examples ?? {})
    const responses = described('/greeter/webhook')
    expect(responses).toEqual([
      ['WEBHOOK_CHALLENGE', 'WebhookChallengeResponse'],
      ['DEPLOYMENT_CREATED', 'GreeterDeploymentCreatedResponse or IgnoredResponse'],
      ['HEALTH_CHECK', 'HealthCheckResponse'],
      ['METRIC_UPDATE', 'GreeterMetricUpdateResponse'],
      ['sendGreeting', 'SendGreetingResponse'],
      ['issueKey', 'IssueKeyResponse'],
      ['countGreetings', 'CountGreetingsResponse'],
      ['DOWNLOAD_STARTED', 'DownloadStartedResponse'],
      ['DEPLOYMENT_DELETED', 'DeploymentDeletedResponse or IgnoredResponse'],
    ])
    expect(examples('/greeter/webhook')).toEqual(responses.map(([name]) => name))
    const few = described('/elsewhere/webhook').filter(([, response]) => response !== 'IgnoredResponse')
    expect(few.map(([name]) => name)).toEqual(['WEBHOOK_CHALLENGE', 'HEALTH_CHECK'])
    expect(examples('/elsewhere/webhook')).toEqual(['WEBHOOK_CHALLENGE', 'HEALTH_CHECK'])
  })

  it('has an operation for each event and function that a route handles, with one type for its response', () => {
    const path = '/greeter/webhook'
    const own = Object.keys(document.paths).filter((each) => each.startsWith(`${path}#`))
    expect(own).toEqual(Object.keys(contentOf(path)?.examples ?? {}).map((name) => `${path}#${name}`))
    expect(operationOf(`${path}#sendGreeting`)).toMatchObject({
      operationId: 'greeterSendGreeting',
      requestBody: { content: { 'application/json': { schema: ref('SendGreetingEvent') } } },
      responses: { 200: { content: { 'application/json': { schema: ref('SendGreetingResponse') } } } },
    })
  })

  it('closes no response, so that a client that validates them survives a new field', () => {
    expect(schemaOf(document, 'SendGreetingArguments')).toHaveProperty('additionalProperties', false)
    expect(JSON.stringify(schemaOf(document, 'GreeterResponse'))).not.toContain('additionalProperties')
    expect(schemaOf(document, 'SendGreetingResult')).not.toHaveProperty('additionalProperties')
  })

  it('has on each route only the statuses that it may answer with', () => {
    const statuses = (path: string) => Object.keys(operationOf(path)?.responses ?? {})
    const { aborted: _, ...answered } = errorCodes
    const all = Object.values(answered).map(({ status }) => String(status))
    expect(new Set(statuses('/greeter/webhook'))).toEqual(new Set(['200', ...all]))
    const few = ['200', '400', '401', '405', '413', '415', '500', '503']
    expect(statuses('/elsewhere/webhook')).toEqual(few)
  })

  it('marks a secret as sensitive, as writeOnly in requests alone, and as absent from a replayed response', () => {
    expect(schemaOf(document, 'SendGreetingArguments')).toMatchObject({
      properties: { password: { writeOnly: true, sensitive: true } },
    })
    const properties = { token: { sensitive: true }, region: { type: 'string' } }
    expect(schemaOf(document, 'GreeterDeploymentCreatedResponse')).toMatchObject({
      properties: { outputs: { properties, required: ['region'] } },
    })
    for (const name of ['GreeterDeploymentCreatedResponse', 'IssueKeyResult'])
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

  it('describes a route beside the webhooks as it is declared', () => {
    const { paths, components } = toOpenApi([bare], info, [
      {
        path: '/things/{id}',
        operationId: 'getThing',
        summary: 'One thing',
        operator: true,
        parameters: z.object({ id: z.string().max(200).describe('Its id.') }),
        query: z.object({ deployment: z.string().optional().describe('Whose it is.') }),
        responses: { 200: { description: 'The thing.', schema: z.object({ key: secret(z.string()) }) } },
        problems: ['not_found'],
      },
    ])
    expect(paths['/things/{id}']?.get).toMatchObject({
      operationId: 'getThing',
      tags: ['host'],
      security: [{ operatorToken: [] }, {}],
      parameters: [
        { name: 'id', in: 'path', required: true, description: 'Its id.', schema: { maxLength: 200 } },
        { name: 'deployment', in: 'query', required: false, description: 'Whose it is.' },
      ],
      responses: {
        200: { content: { 'application/json': { schema: ref('GetThingResponse') } } },
        404: { $ref: '#/components/responses/Problem404' },
      },
    })
    expect(components.schemas.GetThingResponse).toMatchObject({
      properties: { key: { sensitive: true } },
    })
  })
})

describe('the name of a schema', () => {
  const letter = z.object({ text: z.string() }).meta({ title: 'Letter' })
  const call: FunctionDefinition = {
    description: 'Sends.',
    effect: true,
    arguments: functionArguments({ to: z.string() }),
    result: z.object({ id: z.string() }),
  }
  /** The document of integrations whose one function is `send`. */
  const documentOf = (functions: Record<string, FunctionDefinition>) =>
    toOpenApi(
      Object.entries(functions).map(([name, send]) =>
        defineIntegration({ ...bare, name, events: ['FUNCTION_CALL'], functions: { send } }),
      ),
      info,
    )

  it('is shared by integrations that share a function', () => {
    const names = Object.keys(documentOf({ one: call, two: call }).components.schemas)
    const expected = ['SendArguments', 'SendCall', 'SendEvent', 'SendResponse', 'SendResult']
    expect(names.filter((name) => name.includes('Send'))).toEqual(expected)
  })

  it('begins with the integration if another function has the name already', () => {
    const other = { ...call, arguments: functionArguments({ from: z.string() }) }
    const both = documentOf({ one: call, two: other })
    expect(schemaOf(both, 'SendArguments')).toMatchObject({ required: ['to'] })
    expect(schemaOf(both, 'TwoSendArguments')).toMatchObject({ required: ['from'] })
    expect(schemaOf(both, 'TwoFunctionCall')).toMatchObject({ oneOf: [ref('TwoSendCall')] })
  })

  it('is the title of the first schema that has it; another schema with that title is written out', () => {
    const other = z.object({ lines: z.array(z.string()) }).meta({ title: 'Letter' })
    const titled = documentOf({ one: { ...call, result: z.object({ list: z.array(letter), other }) } })
    expect(schemaOf(titled, 'Letter')).toMatchObject({ required: ['text'] })
    const properties = { list: { items: ref('Letter') }, other: { required: ['lines'] } }
    expect(schemaOf(titled, 'SendResult')).toMatchObject({ properties })
  })
})
