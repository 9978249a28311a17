/** The contract: inputs, outputs, functions and metrics. */
import {
  asksFor,
  choices,
  defineIntegration,
  environmentReference,
  functionArguments,
  secret,
  token,
} from '@org/core'
import * as z from 'zod'

const item = z.object({ id: z.string(), name: z.string() })

/** The contract of the example service. */
export const exampleService = defineIntegration({
  name: 'example-service',
  title: 'Example service',
  description: 'Connects to an account of the provider, shared or dedicated, and creates items in it.',
  events: ['DEPLOYMENT_CREATED', 'DEPLOYMENT_DELETED', 'HEALTH_CHECK', 'METRIC_UPDATE', 'FUNCTION_CALL'],
  inputs: z
    .object({
      serverType: choices({ shared: 'The platform’s', dedicated: 'Your own' })
        .default('shared')
        .describe('shared: the platform’s own account. dedicated: yours, by its token.')
        .meta({ title: 'Account' }),
      apiToken: environmentReference(secret(token()))
        .optional()
        .describe('Dedicated only: the API token. {{env.NAME}} names a variable of the host.')
        .meta({ title: 'API token' }),
    })
    .meta(asksFor(['serverType', 'dedicated'], { apiToken: {} })),
  outputs: z.object({
    apiToken: secret(z.string()).describe('The resolved API token.'),
    apiUrl: z.string().describe('Base URL that requests go to.'),
  }),
  functions: {
    createItem: {
      description: 'Creates an item.',
      effectful: true,
      arguments: functionArguments({ name: z.string().min(1).describe('The item’s name.') }).meta({
        examples: [{ name: 'A first one' }],
      }),
      result: item,
    },
    getItem: {
      description: 'Gets an item.',
      effectful: false,
      arguments: functionArguments({ itemId: z.string().min(1).describe('The item’s id.') }).meta({
        examples: [{ itemId: 'item_1' }],
      }),
      result: item,
    },
    countItems: {
      description: 'Counts the items.',
      effectful: false,
      arguments: functionArguments({}),
      result: z.object({ count: z.int() }),
    },
  },
  metrics: {
    number_of_items: { description: 'Items in the account.' },
  },
  downloads: [],
})
