import { describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }

const entries = {
  '.': [
    'IntegrationError',
    'callbackBodies',
    'checkHealth',
    'createGate',
    'createJsonLogger',
    'createRedactor',
    'createVerifier',
    'createWebhookHandler',
    'defineIntegration',
    'environmentReference',
    'errorCodes',
    'escapeInvisible',
    'eventNames',
    'eventSchemas',
    'explainDelivery',
    'explanationSchema',
    'fieldErrors',
    'functionArguments',
    'isIntegrationError',
    'manifestSchema',
    'memoryStore',
    'namedHostsOnly',
    'platformEvent',
    'problemSchema',
    'secret',
    'secretNames',
    'sign',
    'suggestion',
    'toJsonSchema',
    'toManifest',
    'toOpenApi',
    'toProblem',
    'toProblemResponse',
  ],
  './errors': ['IntegrationError', 'errorCodes', 'isIntegrationError', 'toIntegrationError'],
  './http': [
    'HttpFailure',
    'createHttpClient',
    'maskAddresses',
    'readAnswer',
    'toFailure',
    'toProviderError',
    'toRefusal',
    'unknownOutcome',
  ],
  './testing': [
    'ConnectionCut',
    'connectPlatform',
    'createEmulator',
    'createFaults',
    'createPlatformEmulator',
    'deliver',
    'describeDeliveryStore',
    'describeIntegration',
    'isConnectionCut',
    'keepNewest',
    'serve',
    'withFaults',
  ],
  './stores/sqlite': ['sqliteStore'],
  './stores/redis': ['redisStore'],
}

describe('the public names of', () => {
  it.each([
    ['.', () => import('@org/core')],
    ['./errors', () => import('@org/core/errors')],
    ['./http', () => import('@org/core/http')],
    ['./testing', () => import('@org/core/testing')],
    ['./stores/sqlite', () => import('@org/core/stores/sqlite')],
    ['./stores/redis', () => import('@org/core/stores/redis')],
  ] as const)('%s are these', async (entry, load) => {
    expect(Object.keys(await load()).toSorted()).toEqual(entries[entry])
  })

  it('the package are in no other entry', () => {
    expect(Object.keys(packageJson.exports)).toEqual(Object.keys(entries))
    expect(Object.keys(packageJson.publishConfig.exports)).toEqual(Object.keys(entries))
  })
})
