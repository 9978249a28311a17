/**
 * What FUNCTION_CALL may run (specification §2.5), the same for every instance.
 *
 * @module
 */
import type { HandlerContext, Handlers } from '@org/core'
import type { IdpClient } from './client.ts'
import { connect } from './connection.ts'
import { callOptions } from './instance-handlers.ts'
import type { idp } from './integration.ts'

/**
 * The functions, run against the instance that an event is for.
 *
 * @param connect gets that instance
 */
export function createFunctions<Settings>(
  connect: (context: HandlerContext<Settings>) => Promise<IdpClient>,
): Handlers<typeof idp, Settings>['functions'] {
  return {
    createUser: async (user, context) => (await connect(context)).createUser(user, callOptions(context)),
    getUser: async ({ userId }, context) => (await connect(context)).getUser(userId, callOptions(context)),
    listUsers: async (list, context) => (await connect(context)).listUsers(list, callOptions(context)),
    updateUser: async ({ userId, ...changes }, context) =>
      (await connect(context)).updateUser(userId, changes, callOptions(context)),
    deleteUser: async ({ userId }, context) =>
      (await connect(context)).deleteUser(userId, callOptions(context)),
    countUsers: async (filter, context) => ({
      count: await (await connect(context)).countUsers(filter, callOptions(context)),
    }),
    createOrganization: async (organization, context) =>
      (await connect(context)).createOrganization(organization, callOptions(context)),
    listOrganizations: async (list, context) =>
      (await connect(context)).listOrganizations(list, callOptions(context)),
  }
}

/** The functions of an application that was attached to. */
export const functions = createFunctions(connect)
