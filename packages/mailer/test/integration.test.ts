import type { HandlerDependencies } from '@org/core'
import { describeIntegration } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { createMailProvider } from '../src/testing/index.ts'
import { createHandler, integration } from '../src/webhook.ts'

const credentials = ['dedicated-token', 'shared-token'] as const

function fixture() {
  const provider = createMailProvider({ apiTokens: [...credentials] })
  return {
    createHandler: (dependencies: HandlerDependencies) =>
      createHandler({
        ...dependencies,
        baseUrl: 'https://mail.test',
        shared: { apiToken: 'shared-token', fromEmail: 'shop@example.com' },
      }),
    baseUrl: 'https://mail.test',
    provider,
    credentials,
    inputs: { serverType: 'dedicated', apiToken: 'dedicated-token', fromEmail: 'Shop <shop@example.com>' },
    effectfulCall: {
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
