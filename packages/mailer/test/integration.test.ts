import { describeIntegration } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { createMailProvider } from '../src/testing/index.ts'
import { createHandler, integration } from '../src/webhook.ts'

function fixture() {
  const provider = createMailProvider({ apiTokens: ['dedicated-token'] })
  return {
    createHandler,
    provider,
    inputs: { serverType: 'dedicated', apiToken: 'dedicated-token', fromEmail: 'Shop <shop@example.com>' },
    effect: {
      name: 'sendEmail',
      arguments: (number: number) => ({
        to: `ann-${number}@example.org`,
        subject: 'Your order',
        textBody: 'It is on its way.',
      }),
      count: () => provider.messages.length,
    },
  }
}

describeIntegration(integration, fixture, { describe, expect, it })
