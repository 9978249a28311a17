import { describeIntegration } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { createBackendApi } from '../src/testing/index.ts'
import { createHandler, integration } from '../src/webhook.ts'

function fixture() {
  const provider = createBackendApi()
  const { publishableKey, secretKey } = provider.instance
  return {
    createHandler,
    provider,
    inputs: { serverType: 'dedicated', publishableKey, secretKey },
    effect: {
      name: 'createUser',
      arguments: (number: number) => ({ emailAddress: `ada-${number}@example.org`, firstName: 'Ada' }),
      count: () => provider.users.size,
    },
  }
}

describeIntegration(integration, fixture, { describe, expect, it })
