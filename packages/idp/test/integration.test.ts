import type { HandlerDependencies } from '@org/core'
import { describeIntegration } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { createBackendApi } from '../src/testing/index.ts'
import { createHandler, integration } from '../src/webhook.ts'

const baseUrl = 'https://idp.test/v1'

function fixture() {
  const provider = createBackendApi({ instances: [{}, {}] })
  const instances = [...provider.instances.values()]
  const shared = instances[1]
  const { publishableKey, secretKey } = provider.instance
  const users = () => instances.flatMap((instance) => [...instance.users.values()])
  return {
    createHandler: (dependencies: HandlerDependencies) => createHandler({ ...dependencies, baseUrl, shared }),
    baseUrl,
    provider,
    inputs: { serverType: 'dedicated', publishableKey, secretKey },
    credentials: [secretKey, shared?.secretKey ?? ''],
    effectfulCall: {
      name: 'createUser',
      arguments: (number: number) => ({ emailAddress: `counted-${number}@example.org`, firstName: 'Ada' }),
      count: () => users().filter((user) => JSON.stringify(user).includes('counted-')).length,
    },
    prepare: () => void provider.instance.createUser({ id: 'user_2xPZv8ySAMPLEcQ4sKfT1b9d' }),
  }
}

describeIntegration(integration, fixture, { describe, expect, it })
