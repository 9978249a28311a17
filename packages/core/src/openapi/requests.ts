/**
 * What each event must be on one route: the event’s own schema, made narrower by what the integration says of
 * its inputs, functions and files.
 *
 * @module
 */
import * as z from 'zod'
import { type EventName, eventSchemas } from '../contract/event.ts'
import type { IntegrationDefinition } from '../contract/integration.ts'
import type { Components } from './components.ts'
import { type FunctionSchemas, toPascalCase } from './functions.ts'

/** An object that is told from others by its name. */
type Named = z.ZodObject<{ name: z.ZodLiteral<string> | z.ZodEnum }>

const blank = z
  .literal(['', null])
  .describe('What a form sends for a field that was left empty: it counts as left out.')

/**
 * The schema of an event that an integration acts on.
 *
 * @param functions the integration’s, which the components have already
 */
export function narrowEvent(
  name: EventName,
  definition: IntegrationDefinition,
  functions: readonly FunctionSchemas[],
  components: Components,
): Named {
  const prefix = toPascalCase(definition.name)
  const describe = (schema: Named) => schema.describe(eventSchemas[name].description ?? '')
  switch (name) {
    case 'DEPLOYMENT_CREATED': {
      const inputs = toForm(definition.inputs)
      components.input(blank, 'Blank')
      components.input(inputs, `${prefix}Inputs`)
      const event = eventSchemas.DEPLOYMENT_CREATED
      const deployment = event.shape.deployment
        .extend({ inputs: inputs.optional().describe('Read from the platform where they are left out.') })
        .describe('The deployment to set up.')
      components.input(deployment, `${prefix}Deployment`)
      return describe(event.extend({ deployment }))
    }
    case 'FUNCTION_CALL': {
      const calls = functions.map(({ call }) => call)
      if (calls.length === 0) return eventSchemas.FUNCTION_CALL
      const functionCall = oneOfNamed(calls, components)
      components.input(functionCall, `${prefix}FunctionCall`)
      return describe(eventSchemas.FUNCTION_CALL.extend({ functionCall }))
    }
    case 'DOWNLOAD_STARTED': {
      const event = eventSchemas.DOWNLOAD_STARTED
      const download = event.shape.download.unwrap()
      const file = z
        .enum(definition.downloads)
        .optional()
        .describe(download.shape.file.description ?? '')
      return describe(event.extend({ download: download.extend({ file }).optional() }))
    }
    default:
      return eventSchemas[name]
  }
}

/** One of several objects that the components have already, told apart by their names. */
export function oneOfNamed(schemas: readonly Named[], components: Components): z.ZodType {
  const mapping = Object.fromEntries(
    schemas.flatMap((schema) => {
      const { $ref } = components.input(schema)
      return [...schema.shape.name._zod.values].map((name) => [name, $ref])
    }),
  )
  const [first, ...others] = schemas
  if (!first) return z.never()
  return z
    .discriminatedUnion('name', [first, ...others])
    .meta({ discriminator: { propertyName: 'name', mapping } })
}

/** Inputs as a form sends them: what may be left out may be blank. */
function toForm(inputs: z.ZodObject): z.ZodObject {
  const fields = Object.entries(inputs.shape).map(([name, field]) => {
    if (!z.safeParse(field, undefined).success) return [name, field] as const
    return [name, z.union([field, blank]).describe(z.globalRegistry.get(field)?.description ?? '')] as const
  })
  return z.object(Object.fromEntries(fields)).meta({ ...inputs.meta() })
}
