/** Packages from elsewhere, as integrations of this host. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRoutes } from '@org/core/hosting'
import * as mailer from '@org/mailer/webhook'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { builtin, importIntegrations } from '../src/integrations.ts'
import { startHost } from './hosted.ts'

const packages = join(import.meta.dirname, '../node_modules/@acme')
const webhook = (name: string) => `
  import { createWebhookHandler, defineIntegration } from '@org/core'
  import * as z from 'zod'
  const empty = { inputs: z.object({}), outputs: z.object({}), functions: {}, metrics: {}, downloads: [] }
  export const integration = defineIntegration({ name: '${name}', title: 'Twilio', description: 'Sends texts.', events: ['HEALTH_CHECK'], ...empty })
  export const createHandler = ({ given, ...dependencies }) =>
    createWebhookHandler(integration, { health: async () => given ? [{ name: given, healthy: true }] : [] }, dependencies)
  export const readSettings = (variables) => ({ given: Object.keys(variables).length > 0 && JSON.stringify(variables) })
`

beforeAll(() => {
  for (const [name, text] of Object.entries({
    twilio: webhook('twilio'),
    again: webhook('twilio'),
    wrong: webhook('No name'),
  })) {
    mkdirSync(join(packages, name), { recursive: true })
    writeFileSync(join(packages, name, 'webhook.js'), text)
    const manifest = { name: `@acme/${name}`, type: 'module', exports: { './webhook': './webhook.js' } }
    writeFileSync(join(packages, name, 'package.json'), JSON.stringify(manifest))
  }
})
afterAll(() => rmSync(packages, { recursive: true, force: true }))

it('a package of INTEGRATIONS has a webhook, a manifest and a part of the OpenAPI document', async () => {
  const { integrations, faults } = await importIntegrations('@acme/twilio')
  expect(faults).toEqual([])
  const { send, get } = startHost({ integrations })
  expect((await send('twilio', { name: 'HEALTH_CHECK' })).body).toEqual({ status: 'healthy', checks: [] })
  const { integrations: listed } = await (await get('/integrations')).json()
  expect(listed.map(({ name }: { name: string }) => name)).toEqual([
    ...builtin.map(({ name }) => name),
    'twilio',
  ])
  expect(Object.keys((await (await get('/openapi.json')).json()).paths)).toContain('/twilio/webhook')
})

it('a package makes its settings of the variables with its own name alone', async () => {
  const { integrations } = await importIntegrations('@acme/twilio')
  const environment = {
    INTEGRATION_TWILIO_API_BASE: 'https://twilio.test',
    INTEGRATION_TWILIO_TOKEN: ' ',
    INTEGRATION_TWIN_TOKEN: 'of another',
    PLATFORM_API_TOKEN: 'of the host',
  }
  const { send } = startHost({ integrations, environment })
  expect((await send('twilio', { name: 'HEALTH_CHECK' })).body).toMatchObject({
    checks: [{ name: '{"API_BASE":"https://twilio.test"}' }],
  })
})

it('a package of INTEGRATIONS that is none is a fault, which says what was expected and what was found', async () => {
  const { integrations, faults } = await importIntegrations(
    '@acme/twilio, @acme/again @acme/absent @acme/wrong @org/core',
  )
  expect(integrations).toHaveLength(builtin.length + 1)
  const [again, absent, wrong, core] = faults
  const expected = 'expected a package whose entry ./webhook exports integration and createHandler'
  expect(again).toBe(
    `INTEGRATIONS: @acme/again is no integration: ${expected}; the host has an integration “twilio” already`,
  )
  expect(absent).toMatch(
    /^INTEGRATIONS: @acme\/absent is no integration: .* Cannot find package '@acme\/absent/,
  )
  expect(wrong).toMatch(
    /^INTEGRATIONS: @acme\/wrong .*The integration “No name” has one fault:\s+name expected/s,
  )
  expect(core).toMatch(/^INTEGRATIONS: @org\/core is no integration/)
})

it('a host of one’s own refuses two integrations of one name, and one without a verifier', () => {
  const platform = {}
  expect(() => Reflect.apply(createRoutes, undefined, [[mailer, mailer], () => ({})])).toThrow(
    'Two integrations have the route /mailer/webhook',
  )
  expect(() => Reflect.apply(createRoutes, undefined, [[mailer], { platform }])).toThrow(
    /The host has 2 faults:\s+platform is no Platform/,
  )
})
