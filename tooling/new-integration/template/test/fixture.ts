import type { HandlerDependencies } from '@org/core'
import { createSample } from '../src/testing/index.ts'
import { createHandler } from '../src/webhook.ts'

const baseUrl = 'https://example.test'

/** The integration between emulators, as the suite for integrations wants it. */
export function createFixture() {
  const sample = createSample()
  const [, sharedToken] = sample.credentials
  return {
    ...sample,
    createHandler: (dependencies: HandlerDependencies) =>
      createHandler({ ...dependencies, baseUrl, shared: { apiToken: sharedToken } }),
    baseUrl,
    effectfulCall: {
      name: 'createItem',
      arguments: (number: number) => ({ name: `Item ${number}` }),
      count: () => [...sample.provider.items.values()].filter(({ name }) => name.startsWith('Item ')).length,
    },
  }
}
