import { describeIntegration } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { createExampleServiceProvider } from '../src/testing/index.ts'
import { createHandler, integration } from '../src/webhook.ts'

function createFixture() {
  const provider = createExampleServiceProvider({ apiTokens: ['dedicated-token'] })
  return {
    createHandler,
    provider,
    inputs: { serverType: 'dedicated', apiToken: 'dedicated-token' },
    effect: {
      name: 'createItem',
      arguments: (number: number) => ({ name: `Item ${number}` }),
      count: () => provider.items.size,
    },
  }
}

describeIntegration(integration, createFixture, { describe, expect, it })
