import { defineIntegration, type FunctionDefinition, functionArguments, secret } from '@org/core'
import { errorCodes, eventNames, type OpenApiDocument, toOpenApi } from '@org/core/internal'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { bare, greeter } from './fixtures.ts'

const info = { title: 'Host', version: '1.0.0' }
const document = toOpenApi([greeter, bare], info)

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const operationOf = (path: string) => document.paths[path]?.post
const contentOf = (path: string) => operationOf(path)?.requestBody?.content['application/json']
const eventsOf = (path: string) => operationOf(path)?.['x-events'] ?? []

/** The schema of a name. */
function schemaOf({ components }: OpenApiDocument, name: string) {
  const schema = components.schemas[name]
  if (!schema) throw new Error(`There is no ${name} among ${Object.keys(components.schemas)}.`)
  return schema
}

describe('the OpenAPI document', () => {
  it('has every route, and on each route every event by its name', () => {
    const routes = { '/greeter/webhook': 'GreeterEvent', '/elsewhere/webhook': 'ElsewhereEvent' }
    expect(Object.keys(document.paths)).toEqual(Object.keys(routes))
    for (const [path, name] of Object.entries(routes)) {
      expect(contentOf(path)?.schema).toEqual(ref(name))
      const mapping = Object.fromEntries(eventNames.map((event) => [event, expect.any(String)]))
      expect(schemaOf(document, name)).toMatchObject({
        oneOf: eventNames.map(() => ({ $ref: expect.any(String) })),
        discriminator: { propertyName: 'name', mapping },
      })
    }
  })

  it('has every function of a route by each of its names, with its arguments required only if one is', () => {
    const sendGreeting = ref('SendGreetingCall').$ref
    const mapping = { sendGreeting, greet: sendGreeting, count: ref('CountGreetingsCall').$ref }
    expect(schemaOf(document, 'GreeterFunctionCall')).toMatchObject({ discriminator: { mapping } })
    const properties = { name: { enum: ['sendGreeting', 'greet'] }, arguments: ref('SendGreetingArguments') }
    expect(schemaOf(document, 'SendGreetingCall')).toMatchObject({
      properties,
      required: ['name', 'arguments'],
    })
    expect(schemaOf(document, 'CountGreetingsCall').required).toEqual(['name'])
  })

  it('has the responses of each event and of each function', () => {
    const responses = (path: string) =>
      eventsOf(path).map((each) => [
        each.function?.name ?? each.event,
        each.responses.map(({ $ref }) => $ref.replace('#/components/schemas/', '')).join(' or '),
      ])
    expect(responses('/greeter/webhook')).toEqual([
      ['WEBHOOK_CHALLENGE', 'WebhookChallengeResponse'],
      ['DEPLOYMENT_CREATED', 'GreeterDeploymentCreatedResponse or IgnoredResponse'],
      ['HEALTH_CHECK', 'HealthCheckResponse'],
      ['METRIC_UPDATE', 'GreeterMetricUpdateResponse'],
      ['sendGreeting', 'SendGreetingResponse'],
      ['issueKey', 'IssueKeyResponse'],
      ['countGreetings', 'CountGreetingsResponse'],
      ['DOWNLOAD_STARTED', 'DownloadStartedResponse'],
      ['DEPLOYMENT_DELETED', 'DeploymentDeletedResponse'],
    ])
    expect(responses('/elsewhere/webhook').filter(([, response]) => response !== 'IgnoredResponse')).toEqual([
      ['WEBHOOK_CHALLENGE', 'WebhookChallengeResponse'],
      ['HEALTH_CHECK', 'HealthCheckResponse'],
    ])
  })

  it('has an example of each event that a route acts on, and of each function', () => {
    const acting = eventsOf('/greeter/webhook').map((each) => each.function?.name ?? each.event)
    expect(Object.keys(contentOf('/greeter/webhook')?.examples ?? {})).toEqual(acting)
    const elsewhere = Object.keys(contentOf('/elsewhere/webhook')?.examples ?? {})
    expect(elsewhere).toEqual(['WEBHOOK_CHALLENGE', 'HEALTH_CHECK'])
  })

  it('has every error code at its status, with its headers', () => {
    const { responses } = document.components
    for (const [code, { status, retryable, title }] of Object.entries(errorCodes)) {
      const response = responses[`Problem${status}`]
      expect(response?.['x-problems']).toContainEqual({ code, title, retryable })
      if (retryable) expect(response?.headers).toHaveProperty('Retry-After')
    }
    const invalidEvent = expect.objectContaining({ code: 'invalid_event' })
    expect(responses.Problem422?.['x-problems']).toContainEqual(invalidEvent)
    for (const status of [409, 422])
      expect(responses[`Problem${status}`]?.headers).toHaveProperty('idempotency-replayed')
  })

  it('has on each route the statuses that it may answer with', () => {
    const statuses = (path: string) => Object.keys(operationOf(path)?.responses ?? {})
    const all = Object.values(errorCodes).map(({ status }) => String(status))
    expect(new Set(statuses('/greeter/webhook'))).toEqual(new Set(['200', ...all]))
    const few = ['200', '400', '401', '405', '413', '415', '500', '503']
    expect(statuses('/elsewhere/webhook')).toEqual(few)
  })

  it('is plain data in which every reference has a target, and every schema a reference', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document)
    const places = [...JSON.stringify(document).matchAll(/"#\/(components\/[^"]+)"/g)].map(
      ([, place = '']) => place,
    )
    const at = (place: string) =>
      place
        .split('/')
        .reduce<unknown>((value, key) => new Map(Object.entries(Object(value))).get(key), document)
    for (const place of places) expect(at(place), place).toBeDefined()
    for (const name of Object.keys(document.components.schemas))
      expect(places).toContain(`components/schemas/${name}`)
  })

  it('can’t be made of a schema that JSON Schema can’t express', () => {
    const outputs = z.object({ when: z.date() })
    expect(() => toOpenApi([{ ...greeter, outputs }], info)).toThrow()
  })

  it('marks a secret output, which a replayed response lacks', () => {
    const properties = { token: { 'x-sensitive': true }, region: { type: 'string' } }
    expect(schemaOf(document, 'GreeterDeploymentCreatedResponse')).toMatchObject({
      properties: { outputs: { properties, required: ['region'] } },
    })
  })

  it('marks a secret as writeOnly in requests alone', () => {
    const properties = { password: { writeOnly: true, 'x-sensitive': true } }
    expect(schemaOf(document, 'SendGreetingArguments')).toMatchObject({ properties })
    for (const name of ['GreeterDeploymentCreatedResponse', 'IssueKeyResult'])
      expect(JSON.stringify(schemaOf(document, name))).not.toContain('writeOnly')
  })

  it('lets an optional input be blank, and keeps its marks; a required one can’t be blank', () => {
    const token = { type: 'string', 'x-sensitive': true, 'x-environment-reference': true }
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
        signed: true,
        parameters: z.object({ id: z.string().max(200).describe('Its id.') }),
        query: z.object({ deployment: z.string().optional().describe('Whose it is.') }),
        responses: { 200: { description: 'The thing.', schema: z.object({ key: secret(z.string()) }) } },
        problems: ['not_found', 'invalid_signature'],
      },
      {
        path: '/text',
        operationId: 'getText',
        summary: 'A text',
        responses: { 200: { description: 'Text.', mediaType: 'text/plain', schema: z.string() } },
      },
    ])
    expect(paths['/things/{id}']?.get).toMatchObject({
      operationId: 'getThing',
      tags: ['host'],
      security: [{ standardWebhooks: [] }, {}],
      parameters: [
        { name: 'id', in: 'path', required: true, description: 'Its id.', schema: { maxLength: 200 } },
        { name: 'deployment', in: 'query', required: false, description: 'Whose it is.' },
        { $ref: '#/components/parameters/WebhookId' },
        { $ref: '#/components/parameters/WebhookTimestamp' },
        { $ref: '#/components/parameters/WebhookSignature' },
      ],
      responses: {
        200: { content: { 'application/json': { schema: ref('GetThingResponse') } } },
        404: { $ref: '#/components/responses/Problem404' },
        401: { $ref: '#/components/responses/Problem401' },
      },
    })
    expect(components.schemas.GetThingResponse).toMatchObject({
      properties: { key: { 'x-sensitive': true } },
    })
    const content = { 'text/plain': { schema: { type: 'string' } } }
    expect(paths['/text']?.get?.responses).toEqual({ 200: { description: 'Text.', content } })
  })
})

describe('the name of a schema', () => {
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
  const letter = z.object({ text: z.string() }).meta({ title: 'Letter' })

  it('is shared by integrations that share a function', () => {
    const names = Object.keys(documentOf({ one: call, two: call }).components.schemas)
    const expected = ['SendArguments', 'SendCall', 'SendResponse', 'SendResult']
    expect(names.filter((name) => name.includes('Send'))).toEqual(expected)
  })

  it('begins with the integration if another function has the name already', () => {
    const other = { ...call, arguments: functionArguments({ from: z.string() }) }
    const both = documentOf({ one: call, two: other })
    expect(schemaOf(both, 'SendArguments')).toMatchObject({ required: ['to'] })
    expect(schemaOf(both, 'TwoSendArguments')).toMatchObject({ required: ['from'] })
    expect(schemaOf(both, 'TwoFunctionCall')).toMatchObject({ oneOf: [ref('TwoSendCall')] })
  })

  it('is its title, wherever the schema occurs', () => {
    const result = z.object({ letters: z.array(letter), first: letter.nullable() })
    const titled = documentOf({ one: { ...call, result } })
    expect(schemaOf(titled, 'Letter')).toMatchObject({ required: ['text'] })
    const first = { anyOf: [ref('Letter'), { type: 'null' }] }
    const properties = { letters: { items: ref('Letter') }, first }
    expect(schemaOf(titled, 'SendResult')).toMatchObject({ properties })
  })

  it('belongs to the first schema with that title; another one is written out', () => {
    const other = z.object({ lines: z.array(z.string()) }).meta({ title: 'Letter' })
    const titled = documentOf({ one: { ...call, result: z.object({ one: letter, other }) } })
    const properties = { one: ref('Letter'), other: { required: ['lines'] } }
    expect(schemaOf(titled, 'SendResult')).toMatchObject({ properties })
  })
})
