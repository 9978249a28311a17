import { describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }

describe('the public names of', () => {
  it.each([
    [
      '.',
      () => import('@org/idp-server'),
      ['IntegrationError', 'createIdpPlatformClient', 'isIntegrationError'],
    ],
    ['./webhook', () => import('@org/idp-server/webhook'), ['createHandler', 'integration']],
    ['./testing', () => import('@org/idp-server/testing'), ['createPlatformApi', 'platformNotEnabled']],
  ])('%s are stable', async (_entry, load, names) => {
    expect(Object.keys(await load()).toSorted()).toEqual(names)
  })

  it('the package are in these entries only', () => {
    const entries = ['.', './webhook', './testing']
    expect(Object.keys(packageJson.exports)).toEqual(entries)
    expect(Object.keys(packageJson.publishConfig.exports)).toEqual(entries)
  })
})
