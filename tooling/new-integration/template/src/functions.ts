/**
 * What FUNCTION_CALL may run.
 *
 * @module
 */
import type { Handlers } from '@org/core'
import { callOptions, connect, type ExampleServiceSettings } from './connection.ts'
import type { exampleService } from './integration.ts'

/** The functions of the example service, by name. */
export const functions = {
  async createItem(item, context) {
    return (await connect(context)).createItem(item, callOptions(context))
  },

  async countItems(_, context) {
    return { count: await (await connect(context)).countItems(callOptions(context)) }
  },
} satisfies Handlers<typeof exampleService, ExampleServiceSettings>['functions']
