/** Packages from elsewhere, as integrations of this host. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRoutes } from '@org/core/hosting'
import * as mailer from '@org/mailer/webhook'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { builtin, importIntegrations } from '../src/integrations.ts'
import { startHost } from './hosted.ts'

const packages = join(import.meta.dirname, '../node_modules/@acme')
const webhook = (name: string) => `
  import { createWebhookHandler, defineIntegration } from '@org/core'
  import * as z from 'zod'
  const empty = { inputs: z.object({}), outputs: z.object({}), functions: {}, metrics: {}, downloads: [] }
  export const integration = defineIntegration({ name: '${name}', title: 'Twilio', description: 'Sends texts.', events: ['HEALTH_CHECK'], ...empty })
  export const createHandler = ({ given, ...dependencies }) =>
    createWebhookHandler(integration, { health: async () => [{ name: given, healthy: true }] }, dependencies)
  export const readSettings = (variables) => ({ given: JSON.stringify(variables) })
`

beforeAll(() => {
  const names = { twilio: 'twilio', again: 'twilio', wrong: 'No name' }
  for (const [name, ofIntegration] of Object.entries(names)) {
    mkdirSync(join(packages, name), { recursive: true })
    writeFileSync(join(packages, name, 'webhook.js'), webhook(ofIntegration))
    const manifest = { name: `@acme/${name}`, type: 'module', exports: { './webhook': './webhook.js' } }
    writeFileSync(join(packages, name, 'package.json'), JSON.stringify(manifest))
  }
})
afterAll(() => rmSync(packages, { recursive: true, force: true }))

it('a package of INTEGRATIONS has a webhook, a manifest, and settings of the variables with its own name alone', async () => {
  const { integrations, faults } = await importIntegrations('@acme/twilio')
  expect(faults).toEqual([])
  const environment = {
    INTEGRATION_TWILIO_API_BASE: 'https://twilio.test',
    INTEGRATION_TWILIO_TOKEN: ' ',
    INTEGRATION_TWIN_TOKEN: 'of another',
    PLATFORM_API_TOKEN: 'of the host',
  }
  const { send, get } = startHost({ integrations, environment })
  const { body } = await send('twilio', { name: 'HEALTH_CHECK' })
  expect(body).toMatchObject({ checks: [{ name: '{"API_BASE":"https://twilio.test"}' }] })
  const { integrations: listed } = await (await get('/integrations')).json()
  const names = [...builtin, { name: 'twilio' }].map(({ name }) => name)
  expect(listed.map(({ name }: { name: string }) => name)).toEqual(names)
  expect((await (await get('/openapi.json')).json()).paths).toHaveProperty(['/twilio/webhook'])
})

it.each(['/integrations', '/openapi.json', '/docs'])('%s fails until each package loads', async (path) => {
  const load = vi.fn(async () => mailer).mockRejectedValueOnce(new Error('no descriptor is left'))
  const { get } = startHost({ integrations: [{ name: 'mailer', load }] })
  expect([(await get(path)).status, (await get(path)).status]).toEqual([500, 200])
})

it('a package of INTEGRATIONS that is none is a fault, which says what was expected and what was found', async () => {
  const names = '@acme/twilio, @acme/again @acme/absent @acme/wrong @org/core'
  const { integrations, faults } = await importIntegrations(names)
  expect(integrations).toHaveLength(builtin.length + 1)
  const expected =
    'is no integration: expected a package whose entry ./webhook exports integration and createHandler; '
  const wrong = /^INTEGRATIONS: @acme\/wrong The integration “No name” has one fault:\s+name expected/
  expect(faults.map((fault) => fault.replace(expected, ''))).toEqual([
    'INTEGRATIONS: @acme/again the host has an integration “twilio” already',
    expect.stringMatching(/^INTEGRATIONS: @acme\/absent Cannot find package '@acme\/absent/),
    expect.stringMatching(wrong),
    expect.stringMatching(/^INTEGRATIONS: @org\/core /),
  ])
})

it('a host of one’s own refuses two integrations of one name, and one without a platform', () => {
  const create = (...given: unknown[]) => Reflect.apply(createRoutes, undefined, given)
  const twice = 'Two integrations have the route /mailer/webhook'
  expect(() => create([mailer, mailer], () => ({}))).toThrow(twice)
  expect(() => create([mailer], { platform: {} })).toThrow(/The host has 2 faults:\s+platform is no Platform/)
})
