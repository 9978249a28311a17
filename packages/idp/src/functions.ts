/** The functions of FUNCTION_CALL (specification §2.5), the same for every instance. */
import type { HandlerContext, Handlers } from '@org/core'
import type { CallOptions } from '@org/core/http'
import type { IdpClient } from './client.ts'
import type { idp } from './integration.ts'

/**
 * Makes the functions.
 *
 * @param connect returns a client for the instance of the event
 */
export function createFunctions(
  connect: (context: HandlerContext) => Promise<IdpClient>,
): Handlers<typeof idp>['functions'] {
  const run =
    <Arguments, Result>(
      call: (client: IdpClient, given: Arguments, options: CallOptions) => Promise<Result>,
    ) =>
    async (given: Arguments, context: HandlerContext) =>
      call(await connect(context), given, context)
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
