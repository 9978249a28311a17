/**
 * The functions of the integrations, as the OpenAPI document says them.
 *
 * @module
 */
import * as z from 'zod'
import type { FunctionDefinition } from '../contract/integration.ts'
import { functionAnswer } from '../contract/responses.ts'
import type { Components, Reference } from './components.ts'

/** One function: what a caller says of it, and what it is answered. */
export interface DescribedFunction {
  name: string
  aliases: string[]
  description: string
  effect: boolean
  arguments: Reference
  result: Reference
}

/** One function, with the schemas that events and answers are made of. */
export interface FunctionSchemas {
  described: DescribedFunction
  arguments: z.ZodObject
  call: z.ZodObject<{ name: z.ZodEnum; arguments: z.ZodType }>
  answer: Reference
}

/**
 * Makes what describes functions. Integrations may share a function; then they share what is written of it.
 *
 * @returns a function of the name, and of the prefix for where others have taken the name
 */
export function createFunctionDescriber(
  components: Components,
): (name: string, definition: FunctionDefinition, prefix: string) => FunctionSchemas {
  const known = new Map<FunctionDefinition, FunctionSchemas>()

  function describe(name: string, definition: FunctionDefinition, prefix: string): FunctionSchemas {
    const title = toPascalCase(name)
    const names = (what: string) => [`${title}${what}`, `${prefix}${title}${what}`]
    const { aliases = [], description, effect, arguments: input, result } = definition
    const call = z
      .object({
        name: z.enum([name, ...aliases]),
        arguments: input.safeParse({}).success ? input.optional() : input,
      })
      .describe(description)
    const described = {
      name,
      aliases: [...aliases],
      description,
      effect,
      arguments: components.input(input, ...names('Arguments')),
      result: components.output(result, ...names('Result')),
    }
    components.input(call, ...names('Call'))
    const answer = components.output(functionAnswer(result), ...names('Answer'))
    return { described, arguments: input, call, answer }
  }

  return (name, definition, prefix) => {
    const found = known.get(definition) ?? describe(name, definition, prefix)
    known.set(definition, found)
    return found
  }
}

/** `idp-server` as `IdpServer`, `sendEmail` as `SendEmail`, and `HEALTH_CHECK` as `HealthCheck`. */
export function toPascalCase(name: string): string {
  const words = name.includes('_') ? name.toLowerCase() : name
  return words.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase())
}
