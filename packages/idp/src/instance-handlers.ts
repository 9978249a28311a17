/**
 * What any instance can do, whoever made its application: the health check, metrics and downloads that
 * attaching and provisioning share.
 *
 * @module
 */
import { checkHealth, type HandlerContext, type Handlers } from '@org/core'
import type { CallOptions, IdpClient } from './client.ts'
import { generateFile } from './download.ts'
import { isWithoutOrganizations } from './errors.ts'
import type { idp } from './integration.ts'
import type { InstanceKeys } from './keys.ts'

/** Where the shared handlers get the instance of an event from. */
export interface InstanceAccess<Settings> {
  connect(context: HandlerContext<Settings>): Promise<IdpClient>
  keys(context: HandlerContext<Settings>): Promise<InstanceKeys>
}

type Shared<Settings> = Pick<Handlers<typeof idp, Settings>, 'health' | 'metrics' | 'download'>

/** The handlers of everything that happens to an instance after it is there. */
export function createInstanceHandlers<Settings>({
  connect,
  keys,
}: InstanceAccess<Settings>): Shared<Settings> {
  return {
    async health(context) {
      const probe = async () => (await connect(context)).getInstance(callOptions(context))
      return [await checkHealth('provider', probe)]
    },

    async metrics(context) {
      const client = await connect(context)
      const [users, organizations] = await Promise.all([
        client.countUsers({}, callOptions(context)),
        countOrganizations(client, callOptions(context)),
      ])
      return { number_of_users: users, number_of_organizations: organizations }
    },

    async download(file, context) {
      return [generateFile(file, await keys(context))]
    },
  }
}

async function countOrganizations(client: IdpClient, options: CallOptions): Promise<number> {
  try {
    return (await client.listOrganizations({ limit: 1 }, options)).totalCount
  } catch (error) {
    // An instance that does not use organizations, as every new one, refuses to list them: it has none.
    if (isWithoutOrganizations(error)) return 0
    throw error
  }
}

/** An event's deadline, for a call of the client. */
export function callOptions<Settings>({ signal, deadline }: HandlerContext<Settings>): CallOptions {
  return { signal, timeoutMs: deadline - Date.now() }
}
