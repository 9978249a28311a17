import { describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }

describe('the public names of', () => {
  it.each([
    [
      '.',
      () => import('@org/example-service'),
      ['IntegrationError', 'createExampleServiceClient', 'isIntegrationError'],
    ],
    ['./webhook', () => import('@org/example-service/webhook'), ['createHandler', 'integration']],
    ['./testing', () => import('@org/example-service/testing'), ['createExampleServiceProvider']],
  ])('%s are these', async (_entry, load, names) => {
    expect(Object.keys(await load()).toSorted()).toEqual(names.toSorted())
  })

  it('the package are in no other entry', () => {
    const entries = ['.', './webhook', './testing']
    expect(Object.keys(packageJson.exports)).toEqual(entries)
    expect(Object.keys(packageJson.publishConfig.exports)).toEqual(entries)
  })
})
