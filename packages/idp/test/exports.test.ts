import { describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }

describe('the public names of', () => {
  it.each([
    [
      '.',
      () => import('@org/idp'),
      ['IntegrationError', 'createIdpClient', 'isIntegrationError', 'parsePublishableKey'],
    ],
    [
      './webhook',
      () => import('@org/idp/webhook'),
      ['createHandler', 'createPlaceholderHandler', 'integration', 'placeholder'],
    ],
    [
      './instance',
      () => import('@org/idp/instance'),
      [
        'callOptions',
        'createFunctions',
        'createIdpClient',
        'createInstanceHandlers',
        'instanceDownloads',
        'instanceFunctions',
        'instanceMetrics',
        'instanceOutputs',
        'parsePublishableKey',
      ],
    ],
    [
      './testing',
      () => import('@org/idp/testing'),
      [
        'Refusal',
        'asFault',
        'createBackendApi',
        'internalError',
        'newId',
        'parameterReason',
        'publishableKeyOf',
        'rateLimited',
        'readBearer',
        'readBody',
        'reason',
        'refusals',
        'respond',
        'underMaintenance',
        'withUndocumented',
      ],
    ],
  ])('%s are stable', async (_entry, load, names) => {
    expect(Object.keys(await load()).toSorted()).toEqual(names)
  })

  it('the package are in these entries only', () => {
    const entries = ['.', './webhook', './instance', './testing']
    expect(Object.keys(packageJson.exports)).toEqual(entries)
    expect(Object.keys(packageJson.publishConfig.exports)).toEqual(entries)
  })
})
