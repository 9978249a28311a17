/** The examples of the manifests. */
import type { Manifest } from '@org/core/hosting'
import { at, isRecord, listOf } from './json.ts'

/** The arguments of a function, as its schema shows them: as a whole, or the required ones. */
export function exampleOf(schema: unknown): Record<string, unknown> {
  const [whole] = listOf(at(schema, 'examples'))
  if (isRecord(whole)) return whole
  const required = listOf(at(schema, 'required')).map((field) => {
    const [example] = listOf(at(schema, 'properties', String(field), 'examples'))
    return [String(field), example]
  })
  return Object.fromEntries(required)
}

/** The required inputs of a deployment. */
export function exampleInputs({ inputs }: Manifest): Record<string, unknown> {
  const [example] = listOf(inputs.examples)
  return Object.fromEntries(listOf(inputs.required).map((name) => [String(name), at(example, String(name))]))
}
