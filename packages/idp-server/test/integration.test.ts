import { describeIntegration } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { createPlatformApi } from '../src/testing/index.ts'
import { createHandler, integration } from '../src/webhook.ts'

function fixture() {
  const provider = createPlatformApi({ accessTokens: ['ak_of_the_tenant'] })
  return {
    createHandler,
    provider,
    inputs: { applicationName: 'Shop', platformApiKey: 'ak_of_the_tenant' },
    effect: {
      name: 'createUser',
      arguments: (number: number) => ({ emailAddress: `ada-${number}@example.org`, firstName: 'Ada' }),
      count() {
        const instances = [...provider.applications.values()].flatMap((application) => application.instances)
        return instances.flatMap(({ users }) => [...users.keys()]).length
      },
    },
    provisioned: () => provider.applications.size,
  }
}

describeIntegration(integration, fixture, { describe, expect, it })
