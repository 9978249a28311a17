/**
 * The handlers of an instance, wherever its keys come from. `@org/idp-server` shares them: it provisions the
 * applications that this integration attaches to.
 */
import { checkHealth, type HandlerContext, type Handlers, isIntegrationError } from '@org/core'
import type { CallOptions } from '@org/core/http'
import type { IdpClient } from './client.ts'
import { generateFile } from './download.ts'
import { ORGANIZATIONS_DISABLED } from './errors.ts'
import type { idp } from './integration.ts'
import type { InstanceKeys } from './keys.ts'

export { createIdpClient, type IdpClient } from './client.ts'
export { instanceDownloads, instanceFunctions, instanceMetrics, instanceOutputs } from './integration.ts'
export { type Environment, parsePublishableKey } from './keys.ts'

/** Access to the instance of an event. */
export interface InstanceAccess {
  connect(context: HandlerContext): Promise<IdpClient>
  keys(context: HandlerContext): Promise<InstanceKeys>
}

type InstanceHandlers = Pick<Handlers<typeof idp>, 'health' | 'metrics' | 'download' | 'functions'>

/** Makes the handlers of HEALTH_CHECK, METRIC_UPDATE, DOWNLOAD_STARTED and FUNCTION_CALL (specification §2.5). */
export function createInstanceHandlers({ connect, keys }: InstanceAccess): InstanceHandlers {
  const run =
    <Arguments, Result>(
      call: (client: IdpClient, given: Arguments, options: CallOptions) => Promise<Result>,
    ) =>
    async (given: Arguments, context: HandlerContext) =>
      call(await connect(context), given, context)
  return {
    async health(context) {
      const probe = async () => (await connect(context)).getInstance(context)
      return [await checkHealth('provider', probe)]
    },

    async metrics(context) {
      const client = await connect(context)
      const [users, organizations] = await Promise.all([
        client.countUsers({}, context),
        countOrganizations(client, context),
      ])
      return { number_of_users: users, number_of_organizations: organizations }
    },

    download: async (file, context) => [generateFile(file, await keys(context))],

    functions: {
      createUser: run((client, user, options) => client.createUser(user, options)),
      getUser: run((client, { userId }, options) => client.getUser(userId, options)),
      listUsers: run((client, list, options) => client.listUsers(list, options)),
      updateUser: run((client, { userId, ...changes }, options) =>
        client.updateUser(userId, changes, options),
      ),
      deleteUser: run((client, { userId }, options) => client.deleteUser(userId, options)),
      countUsers: run(async (client, filter, options) => ({
        count: await client.countUsers(filter, options),
      })),
      createOrganization: run((client, given, options) => client.createOrganization(given, options)),
      listOrganizations: run((client, list, options) => client.listOrganizations(list, options)),
    },
  }
}

async function countOrganizations(client: IdpClient, options: CallOptions): Promise<number> {
  const { totalCount } = await client.listOrganizations({ limit: 1 }, options).catch((error: unknown) => {
    // Organizations are disabled in a new instance: the provider refuses to list them, and there are none.
    if (isIntegrationError(error) && error.provider?.code === ORGANIZATIONS_DISABLED) return { totalCount: 0 }
    throw error
  })
  return totalCount
}
