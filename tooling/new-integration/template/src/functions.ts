/** The functions that FUNCTION_CALL runs. */
import type { Handlers } from '@org/core'
import { connect, type ExampleServiceSettings } from './connection.ts'
import type { exampleService } from './integration.ts'

/** Makes the functions, by name. */
export function createFunctions(settings: ExampleServiceSettings) {
  return {
    createItem: async (item, context) => (await connect(context, settings)).createItem(item, context),
    getItem: async ({ itemId }, context) => (await connect(context, settings)).getItem(itemId, context),
    countItems: async (_, context) => ({
      count: await (await connect(context, settings)).countItems(context),
    }),
  } satisfies Handlers<typeof exampleService>['functions']
}
