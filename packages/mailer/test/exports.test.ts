import { expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }

const entries = ['.', './webhook', './testing']

it.each([
  ['.', () => import('@org/mailer'), ['IntegrationError', 'createMailer', 'isIntegrationError']],
  ['./webhook', () => import('@org/mailer/webhook'), ['createHandler', 'integration']],
  ['./testing', () => import('@org/mailer/testing'), ['createMailProvider']],
])('exports from %s only these names', async (_entry, load, names) => {
  expect(Object.keys(await load()).toSorted()).toEqual(names)
})

it('has no other entries', () => {
  expect(Object.keys(packageJson.exports)).toEqual(entries)
  expect(Object.keys(packageJson.publishConfig.exports)).toEqual(entries)
})
