import { describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }

describe('the public names of', () => {
  it.each([
    ['.', () => import('@org/mailer'), ['IntegrationError', 'createMailer', 'isIntegrationError']],
    ['./webhook', () => import('@org/mailer/webhook'), ['createHandler', 'integration']],
    ['./testing', () => import('@org/mailer/testing'), ['createMailProvider']],
  ])('%s are these', async (_entry, load, names) => {
    expect(Object.keys(await load()).toSorted()).toEqual(names)
  })

  it('the package are in no other entry', () => {
    const entries = ['.', './webhook', './testing']
    expect(Object.keys(packageJson.exports)).toEqual(entries)
    expect(Object.keys(packageJson.publishConfig.exports)).toEqual(entries)
  })
})
