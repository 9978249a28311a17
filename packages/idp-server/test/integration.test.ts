import type { HandlerDependencies } from '@org/core'
import { describeIntegration } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { createPlatformApi } from '../src/testing/index.ts'
import { createHandler, integration } from '../src/webhook.ts'

const baseUrl = 'https://idp.test/v1'

function fixture() {
  const provider = createPlatformApi({ accessTokens: ['ak_of_the_tenant', 'ak_of_the_host'] })
  const instances = () => [...provider.applications.values()].flatMap((application) => application.instances)
  const users = () => instances().flatMap((instance) => [...instance.users.values()])
  return {
    createHandler: (dependencies: HandlerDependencies) =>
      createHandler({ ...dependencies, baseUrl, platformBaseUrl: baseUrl, platformApiKey: 'ak_of_the_host' }),
    baseUrl,
    provider,
    inputs: { applicationName: 'Shop', platformApiKey: 'ak_of_the_tenant' },
    credentials: ['ak_of_the_tenant', 'ak_of_the_host'],
    effectfulCall: {
      name: 'createUser',
      arguments: (number: number) => ({ emailAddress: `counted-${number}@example.org`, firstName: 'Ada' }),
      count: () => users().filter((user) => JSON.stringify(user).includes('counted-')).length,
    },
    prepare() {
      for (const instance of instances()) instance.createUser({ id: 'user_2xPZv8ySAMPLEcQ4sKfT1b9d' })
    },
    provisioned: () => provider.applications.size,
  }
}

// The package idp has the same functions.
describeIntegration(integration, fixture, { describe, expect, it }, { functions: false })
