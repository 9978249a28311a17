/**
 * The functions of FUNCTION_CALL (specification §2.5), the same for every instance.
 *
 * @module
 */
import type { HandlerContext, Handlers } from '@org/core'
import type { CallOptions, IdpClient } from './client.ts'
import { connect } from './connection.ts'
import { callOptions } from './instance-handlers.ts'
import type { idp } from './integration.ts'

/**
 * Makes the functions.
 *
 * @param connect returns a client for the instance of the event
 */
export function createFunctions<Settings>(
  connect: (context: HandlerContext<Settings>) => Promise<IdpClient>,
): Handlers<typeof idp, Settings>['functions'] {
  const run =
    <Arguments, Result>(
      call: (client: IdpClient, given: Arguments, options: CallOptions) => Promise<Result>,
    ) =>
    async (given: Arguments, context: HandlerContext<Settings>) =>
      call(await connect(context), given, callOptions(context))
  return {
    createUser: run((client, user, options) => client.createUser(user, options)),
    getUser: run((client, { userId }, options) => client.getUser(userId, options)),
    listUsers: run((client, list, options) => client.listUsers(list, options)),
    updateUser: run((client, { userId, ...changes }, options) => client.updateUser(userId, changes, options)),
    deleteUser: run((client, { userId }, options) => client.deleteUser(userId, options)),
    countUsers: run(async (client, filter, options) => ({ count: await client.countUsers(filter, options) })),
    createOrganization: run((client, given, options) => client.createOrganization(given, options)),
    listOrganizations: run((client, list, options) => client.listOrganizations(list, options)),
  }
}

/** The functions of an existing application. */
export const functions = createFunctions(connect)
