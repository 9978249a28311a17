/** The handlers that attaching and provisioning share: health, metrics and downloads of an instance. */
import { checkHealth, type HandlerContext, type Handlers } from '@org/core'
import type { CallOptions } from '@org/core/http'
import type { IdpClient } from './client.ts'
import { generateFile } from './download.ts'
import { isOrganizationsDisabled } from './errors.ts'
import type { idp } from './integration.ts'
import type { InstanceKeys } from './keys.ts'

/** Access to the instance of an event. */
export interface InstanceAccess {
  connect(context: HandlerContext): Promise<IdpClient>
  keys(context: HandlerContext): Promise<InstanceKeys>
}

type InstanceHandlers = Pick<Handlers<typeof idp>, 'health' | 'metrics' | 'download'>

/** Makes the handlers of HEALTH_CHECK, METRIC_UPDATE and DOWNLOAD_STARTED. */
export function createInstanceHandlers({ connect, keys }: InstanceAccess): InstanceHandlers {
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

    async download(file, context) {
      return [generateFile(file, await keys(context))]
    },
  }
}

async function countOrganizations(client: IdpClient, options: CallOptions): Promise<number> {
  try {
    return (await client.listOrganizations({ limit: 1 }, options)).totalCount
  } catch (error) {
    // Organizations are disabled in a new instance: the provider refuses to list them, and there are none.
    if (isOrganizationsDisabled(error)) return 0
    throw error
  }
}
