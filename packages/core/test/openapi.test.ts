import { defineIntegration } from '@org/core'
import { type OpenApiDocument, toManifest, toOpenApi } from '@org/core/hosting'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { bare, greeter } from './fixtures.ts'

const info = { title: 'Host', version: '1.0.0' }
const document = toOpenApi([greeter, bare], info)

function schemaOf({ components }: OpenApiDocument, name: string) {
  return components.schemas[name] ?? expect.fail(`${name} is not among ${Object.keys(components.schemas)}.`)
}

// The contract test of the host compares the document with every event and response.
describe('the OpenAPI document', () => {
  it('closes the arguments, and no response, so that a client that validates them survives a new field', () => {
    expect(schemaOf(document, 'GreeterSendGreetingArguments')).toHaveProperty('additionalProperties', false)
    expect(schemaOf(document, 'GreeterSendGreetingCall')).toHaveProperty('x-effect', true)
    const { schemas } = document.components
    const received = Object.keys(schemas).filter((name) => /(Response|Result)$/.test(name))
    expect(received.length).toBeGreaterThan(10)
    for (const name of received) expect(schemas[name]).not.toHaveProperty('additionalProperties', false)
  })

  it('marks a secret as sensitive, as writeOnly in requests alone, and as absent from a replayed response', () => {
    const password = { writeOnly: true, sensitive: true }
    expect(schemaOf(document, 'GreeterSendGreetingArguments')).toMatchObject({ properties: { password } })
    const properties = { token: { sensitive: true }, region: { type: 'string' } }
    expect(schemaOf(document, 'GreeterOutputs')).toMatchObject({ properties, required: ['region'] })
    for (const name of ['GreeterOutputs', 'GreeterIssueKeysResult'])
      expect(JSON.stringify(schemaOf(document, name))).not.toContain('writeOnly')
    expect(toManifest(greeter)).toMatchObject({ sensitiveOutputs: ['token', 'session.keys.*'] })
  })

  it('has the inputs in DEPLOYMENT_CREATED alone, and the files in DOWNLOAD_STARTED', () => {
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    const properties = { deployment: ref('GreeterDeployment') }
    expect(schemaOf(document, 'GreeterDeploymentCreatedEvent')).toMatchObject({ properties })
    const file = { enum: ['.env.local', 'middleware.ts'] }
    expect(schemaOf(document, 'GreeterDownload')).toMatchObject({ properties: { file } })
    const { schemas } = document.components
    for (const name of ['HealthCheckEvent', 'MetricUpdateEvent', 'DeploymentDeletedEvent'])
      expect(schemas).toHaveProperty(name)
  })

  it('has a schema with a title as a component of that name, unless another one has it', () => {
    const letter = z.object({ text: z.string() })
    const other = z.object({ lines: z.array(z.string()) }).meta({ title: 'Letter' })
    const documentOf = (title: string, result: z.ZodObject) => {
      const sent = letter.strict().meta({ title })
      const send = { description: 'Sends.', effectful: true, arguments: sent, result }
      const events = ['FUNCTION_CALL'] as const
      return toOpenApi([defineIntegration({ ...bare, name: 'post', events, functions: { send } })], info)
    }
    const titled = documentOf('Letter', z.object({ other }))
    expect(schemaOf(titled, 'PostSendArguments')).toEqual({ $ref: '#/components/schemas/Letter' })
    expect(schemaOf(titled, 'Letter')).toMatchObject({ required: ['text'] })
    const written = { properties: { other: { required: ['lines'] } } }
    expect(schemaOf(titled, 'PostSendResult')).toMatchObject(written)
    expect(() => documentOf('PostEvent', letter)).toThrow('Two schemas have the name PostEvent.')
  })
})
