import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineIntegration, type FunctionDefinition, functionArguments, toOpenApi } from '../src/index.ts'
import { bare, info, schemaOf } from './openapi-document.ts'

describe('a name', () => {
  const call: FunctionDefinition = {
    description: 'Sends.',
    effect: true,
    arguments: functionArguments({ to: z.string() }),
    result: z.object({ id: z.string() }),
  }
  const withFunctions = (name: string, functions: Record<string, FunctionDefinition>) =>
    defineIntegration({ ...bare, name, events: ['FUNCTION_CALL'], functions })

  it('is shared by integrations that share a function', () => {
    const shared = toOpenApi(
      [withFunctions('one', { send: call }), withFunctions('two', { send: call })],
      info,
    )
    expect(Object.keys(shared.components.schemas).filter((name) => name.includes('Send'))).toEqual([
      'SendAnswer',
      'SendArguments',
      'SendCall',
      'SendResult',
    ])
  })

  it('that another function has already gets its integration in front', () => {
    const other = { ...call, arguments: functionArguments({ from: z.string() }) }
    const both = toOpenApi(
      [withFunctions('one', { send: call }), withFunctions('two', { send: other })],
      info,
    )
    expect(schemaOf(both, 'SendArguments')).toMatchObject({ required: ['to'] })
    expect(schemaOf(both, 'TwoSendArguments')).toMatchObject({ required: ['from'] })
    expect(schemaOf(both, 'TwoFunctionCall')).toMatchObject({
      oneOf: [{ $ref: '#/components/schemas/TwoSendCall' }],
    })
  })

  it('is the title of a schema that has one, wherever it occurs', () => {
    const letter = z.object({ text: z.string() }).meta({ title: 'Letter' })
    const result = z.object({ letters: z.array(letter), first: letter.nullable() })
    const titled = toOpenApi([withFunctions('one', { send: { ...call, result } })], info)
    expect(schemaOf(titled, 'Letter')).toMatchObject({ required: ['text'] })
    const reference = { $ref: '#/components/schemas/Letter' }
    expect(schemaOf(titled, 'SendResult')).toMatchObject({
      properties: { letters: { items: reference }, first: { anyOf: [reference, { type: 'null' }] } },
    })
  })

  it('that two schemas claim is the first one’s, and the other is written out', () => {
    const one = z.object({ text: z.string() }).meta({ title: 'Letter' })
    const other = z.object({ lines: z.array(z.string()) }).meta({ title: 'Letter' })
    const titled = toOpenApi(
      [withFunctions('one', { send: { ...call, result: z.object({ one, other }) } })],
      info,
    )
    expect(schemaOf(titled, 'SendResult')).toMatchObject({
      properties: { one: { $ref: '#/components/schemas/Letter' }, other: { required: ['lines'] } },
    })
  })
})
