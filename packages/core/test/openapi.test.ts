import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { errorCodes, eventNames, type OpenApiDocument, secret, toOpenApi } from '../src/index.ts'
import { greeter } from './example.ts'
import { bare, info, schemaOf } from './openapi-document.ts'

const document = toOpenApi([greeter, bare], info)

/** What stands at a place of a document. */
function at(document: OpenApiDocument, place: string): unknown {
  return place
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((value, key) => new Map(Object.entries(Object(value))).get(key), document)
}

const operationOf = (path: string) => document.paths[path]?.post
const eventsOf = (path: string) => operationOf(path)?.['x-events'] ?? []

describe('the OpenAPI document', () => {
  it('has every route, and nothing else', () => {
    expect(Object.keys(document.paths)).toEqual(['/greeter/webhook', '/elsewhere/webhook'])
  })

  it('has every event of a route, told apart by its name', () => {
    for (const [path, name] of [
      ['/greeter/webhook', 'GreeterEvent'],
      ['/elsewhere/webhook', 'ElsewhereEvent'],
    ] as const) {
      expect(operationOf(path)?.requestBody?.content['application/json']?.schema).toEqual({
        $ref: `#/components/schemas/${name}`,
      })
      expect(schemaOf(document, name)).toMatchObject({
        oneOf: eventNames.map(() => ({ $ref: expect.any(String) })),
        discriminator: {
          propertyName: 'name',
          mapping: Object.fromEntries(eventNames.map((event) => [event, expect.any(String)])),
        },
      })
    }
  })

  it('has every function of a route, by each of its names', () => {
    expect(schemaOf(document, 'GreeterFunctionCall')).toMatchObject({
      discriminator: {
        mapping: {
          sendGreeting: '#/components/schemas/SendGreetingCall',
          greet: '#/components/schemas/SendGreetingCall',
          count: '#/components/schemas/CountGreetingsCall',
        },
      },
    })
    expect(schemaOf(document, 'SendGreetingCall')).toMatchObject({
      properties: {
        name: { enum: ['sendGreeting', 'greet'] },
        arguments: { $ref: '#/components/schemas/SendGreetingArguments' },
      },
      required: ['name', 'arguments'],
    })
  })

  it('asks for arguments only where a function has one that is required', () => {
    expect(schemaOf(document, 'CountGreetingsCall').required).toEqual(['name'])
  })

  it('says of each event what it is answered, and of each function', () => {
    const answers = (path: string) =>
      eventsOf(path).map((each) => [
        each.function?.name ?? each.event,
        each.answers.map(({ $ref }) => $ref.replace('#/components/schemas/', '')).join(' or '),
      ])
    expect(answers('/greeter/webhook')).toEqual([
      ['WEBHOOK_CHALLENGE', 'WebhookChallengeAnswer'],
      ['DEPLOYMENT_CREATED', 'GreeterDeploymentCreatedAnswer or IgnoredAnswer'],
      ['HEALTH_CHECK', 'HealthCheckAnswer'],
      ['METRIC_UPDATE', 'GreeterMetricUpdateAnswer'],
      ['sendGreeting', 'SendGreetingAnswer'],
      ['issueKey', 'IssueKeyAnswer'],
      ['countGreetings', 'CountGreetingsAnswer'],
      ['DOWNLOAD_STARTED', 'DownloadStartedAnswer'],
      ['DEPLOYMENT_DELETED', 'DeploymentDeletedAnswer'],
    ])
    expect(answers('/elsewhere/webhook').filter(([, answer]) => answer !== 'IgnoredAnswer')).toEqual([
      ['WEBHOOK_CHALLENGE', 'WebhookChallengeAnswer'],
      ['HEALTH_CHECK', 'HealthCheckAnswer'],
    ])
  })

  it('has an example of each event that a route acts on, and of each function', () => {
    const examples = (path: string) =>
      Object.keys(operationOf(path)?.requestBody?.content['application/json']?.examples ?? {})
    const acting = eventsOf('/greeter/webhook').map((each) => each.function?.name ?? each.event)
    expect(examples('/greeter/webhook')).toEqual(acting)
    expect(examples('/elsewhere/webhook')).toEqual(['WEBHOOK_CHALLENGE', 'HEALTH_CHECK'])
  })

  it('has every code of the contract, at its status, with the headers that go with it', () => {
    const { responses } = document.components
    for (const [code, { status, retryable, title }] of Object.entries(errorCodes)) {
      const response = responses[`Problem${status}`]
      expect(response?.['x-problems']).toContainEqual({ code, title, retryable })
      if (retryable) expect(response?.headers).toHaveProperty('Retry-After')
    }
    expect(responses.Problem422?.['x-problems']).toContainEqual(
      expect.objectContaining({ code: 'invalid_event' }),
    )
    for (const status of [409, 422])
      expect(responses[`Problem${status}`]?.headers).toHaveProperty('idempotency-replayed')
  })

  it('has on each route the failures that it may answer with', () => {
    const statuses = new Set(Object.values(errorCodes).map(({ status }) => String(status)))
    expect(new Set(Object.keys(operationOf('/greeter/webhook')?.responses ?? {}))).toEqual(
      new Set(['200', ...statuses]),
    )
    expect(Object.keys(operationOf('/elsewhere/webhook')?.responses ?? {})).toEqual([
      '200',
      '400',
      '401',
      '405',
      '413',
      '415',
      '500',
      '503',
    ])
  })

  it('refers to nothing that it does not have, and has nothing that it does not refer to', () => {
    const text = JSON.stringify(document)
    const references = new Set([...text.matchAll(/"(#\/components\/[^"]+)"/g)].map(([, place = '']) => place))
    for (const place of references) expect(at(document, place), place).toBeDefined()
    for (const name of Object.keys(document.components.schemas))
      expect(references, name).toContain(`#/components/schemas/${name}`)
  })
})

describe('what is secret', () => {
  it('is marked, and is no part of what every answer has: a replay leaves it out', () => {
    expect(schemaOf(document, 'GreeterDeploymentCreatedAnswer')).toMatchObject({
      properties: {
        outputs: {
          properties: { token: { 'x-sensitive': true }, region: { type: 'string' } },
          required: ['region'],
        },
      },
    })
  })

  it('is for writing alone where callers write it, and nowhere else', () => {
    expect(schemaOf(document, 'SendGreetingArguments')).toMatchObject({
      properties: { password: { writeOnly: true, 'x-sensitive': true } },
    })
    for (const name of ['GreeterDeploymentCreatedAnswer', 'IssueKeyResult'])
      expect(JSON.stringify(schemaOf(document, name))).not.toContain('writeOnly')
  })
})

describe('an input', () => {
  it('that may be left out may be blank, and keeps its marks', () => {
    const blank = { $ref: '#/components/schemas/Blank' }
    expect(schemaOf(document, 'GreeterInputs')).toMatchObject({
      properties: {
        token: {
          anyOf: [{ type: 'string', 'x-sensitive': true, 'x-environment-reference': true }, blank],
        },
        region: { anyOf: [{ enum: ['eu', 'us'], default: 'eu' }, blank] },
      },
    })
  })

  it('that is required may not', () => {
    const inputs = z.object({ name: z.string().min(1) })
    const strict = toOpenApi([{ ...greeter, inputs }], info)
    expect(schemaOf(strict, 'GreeterInputs')).toMatchObject({
      properties: { name: { type: 'string', minLength: 1 } },
      required: ['name'],
    })
  })
})

describe('a route beside the webhooks', () => {
  it('is described as it is declared', () => {
    const path = '/things/{id}'
    const { paths, components } = toOpenApi([bare], info, [
      {
        path,
        operationId: 'getThing',
        summary: 'One thing',
        signed: true,
        parameters: z.object({ id: z.string().max(200).describe('Its id.') }),
        query: z.object({ deployment: z.string().optional().describe('Whose it is.') }),
        answers: { 200: { description: 'The thing.', schema: z.object({ key: secret(z.string()) }) } },
        problems: ['not_found', 'invalid_signature'],
      },
    ])
    expect(paths[path]?.get).toMatchObject({
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
        200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/GetThingAnswer' } } } },
        404: { $ref: '#/components/responses/Problem404' },
        401: { $ref: '#/components/responses/Problem401' },
      },
    })
    expect(components.schemas.GetThingAnswer).toMatchObject({ properties: { key: { 'x-sensitive': true } } })
  })

  it('may answer with something else than JSON', () => {
    const schema = z.string()
    const answers = { 200: { description: 'Text.', mediaType: 'text/plain', schema } }
    const { paths } = toOpenApi([bare], info, [
      { path: '/text', operationId: 'getText', summary: 'A text', answers },
    ])
    expect(paths['/text']?.get?.responses).toEqual({
      200: { description: 'Text.', content: { 'text/plain': { schema: { type: 'string' } } } },
    })
  })
})

describe('a document', () => {
  it('is plain data', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document)
  })

  it('can’t be made of a schema that JSON Schema can’t say', () => {
    const outputs = z.object({ when: z.date() })
    expect(() => toOpenApi([{ ...greeter, outputs }], info)).toThrow()
  })
})
