/** `GET /integrations` is enough to draw a form: a well-kept form library draws every integration from it alone. */
import { manifestSchema } from '@org/core/internal'
import Form from '@rjsf/core'
import type { RJSFSchema } from '@rjsf/utils'
import validator from '@rjsf/validator-ajv8'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { integrations } from '../src/integrations.ts'
import { credentials, startHost } from './hosted.ts'

const environment = {
  TENANT_TOKEN: credentials.tenantMailToken,
  TENANT_PUBLISHABLE_KEY: `pk_test_${btoa('tenant.clerk.accounts.dev$')}`,
  TENANT_SECRET_KEY: credentials.tenantSecretKey,
  TENANT_REST: credentials.tenantSecretKey.slice('sk_test_'.length),
}
const { get, send, world } = startHost({ environment })

const listed = z.object({ integrations: z.array(manifestSchema) })
const received = listed.parse(await (await get('/integrations')).json())
const manifests = new Map(received.integrations.map((manifest) => [manifest.name, manifest]))

const schemaOf = (name: string): RJSFSchema => manifests.get(name)?.inputs ?? {}

/** The labels of the fields that the form shows, and the labels of their choices. */
function draw(name: string, formData: object): string[] {
  const page = renderToStaticMarkup(createElement(Form, { schema: schemaOf(name), formData, validator }))
  return [...page.matchAll(/<(?:label|option)[^>]*>([^<]+)/g)].map(([, words = '']) => words.replace('*', ''))
}
/** The values of a form before anybody fills it in. The host takes a blank field as absent. */
function initialState(name: string): object {
  const { formData } = new Form({ schema: schemaOf(name), validator }).state
  return Object.fromEntries(Object.entries(Object(formData)).filter(([, value]) => value !== ''))
}
const isValid = (name: string, inputs: object) => validator.isValid(schemaOf(name), inputs, schemaOf(name))

const form = z.looseObject({
  properties: z.record(
    z.string(),
    z.object({ title: z.string(), description: z.string(), order: z.number() }),
  ),
})

it('each field has a title, a description and an order', () => {
  expect([...manifests.keys()]).toEqual(integrations.map(({ name }) => name))
  for (const { name, inputs } of manifests.values()) {
    if (name === 'auth') continue
    const { properties, ...rest } = form.parse(inputs)
    const all = Object.entries({ ...properties, ...form.parse(rest.then).properties })
    expect(all.map(([, { order }]) => order).toSorted()).toEqual(all.map((_, index) => index))
    for (const [field, { title }] of all) expect(title).not.toBe(field)
  }
})

it.each<[name: string, defaults: object, choice: object, fields: string[]]>([
  [
    'mailer',
    { serverType: 'shared', messageStream: 'outbound' },
    { serverType: 'dedicated' },
    ['Server API Token', 'Base URL'],
  ],
  ['idp', { serverType: 'shared' }, { serverType: 'dedicated' }, ['Publishable key', 'Secret key']],
  ['idp-server', { environmentType: 'development' }, { environmentType: 'production' }, ['Domain']],
])('the form of %s begins with the defaults %j, and shows with %j the fields %j, too', (name, ...row) => {
  const [defaults, choice, fields] = row
  expect(initialState(name)).toEqual(defaults)
  const always = draw(name, defaults)
  expect(draw(name, choice).filter((label) => !always.includes(label))).toEqual(fields)
})

it('patterns are in the syntax that every engine and every mode reads', () => {
  const patterns = [...manifests.values()].flatMap(({ inputs }) => [
    ...JSON.stringify(inputs).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g),
  ])
  expect(patterns.length).toBeGreaterThan(5)
  for (const [, quoted = ''] of patterns) {
    const pattern: string = JSON.parse(quoted)
    for (const flags of ['', 'u', 'v']) expect(() => new RegExp(pattern, flags)).not.toThrow()
    expect(pattern).not.toMatch(/\\p\{/)
  }
})

function deploy(name: string, inputs: object, id = 'dep_1') {
  world.platform.addDeployment({ id })
  return send(name, { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } })
}

it.each([
  ['mailer', { serverType: 'dedicated' }],
  ['idp', { serverType: 'dedicated' }],
  ['idp', { serverType: 'own' }],
  ['idp-server', {}],
  ['idp-server', { applicationName: 'Shop', environmentType: 'production' }],
])('the form of %s refuses %j, as the host does', async (name, inputs) => {
  expect(isValid(name, inputs)).toBe(false)
  expect((await deploy(name, inputs)).status).toBe(422)
})

const ownMail = { serverType: 'dedicated', apiToken: credentials.tenantMailToken }
const keys = {
  serverType: 'dedicated',
  publishableKey: environment.TENANT_PUBLISHABLE_KEY,
  secretKey: credentials.tenantSecretKey,
}
const key = environment.TENANT_PUBLISHABLE_KEY
const shop = { applicationName: 'Shop' }
const onDomain = { ...shop, environmentType: 'production' }

type Verdict = 'accept' | 'refuse'
/** A field of a route with other inputs, and values of it; “|” separates them, because some have spaces at their ends. */
const fields: [name: string, field: string, others: object, Verdict, values: string][] = [
  [
    'mailer',
    'fromEmail',
    {},
    'accept',
    ' a@b.co |A <a@b.co> |Shop, Inc. <a@b.co>|"Shop, \\"Inc\\"" <a@b.co>',
  ],
  ['mailer', 'fromEmail', {}, 'accept', '"A <x>" <a@b.co>|Jöß <a@exämple.com>|a`b@b.co|a@b|| '],
  ['mailer', 'fromEmail', {}, 'refuse', 'nobody|A <a@b.co> <c@d.co>|"A" <a@b.co> "B" <c@d.co>'],
  ['mailer', 'fromEmail', {}, 'refuse', 'a@-b.co|a@b.co-|a@b..co|A\nB <a@b.co>|{{env.TENANT_TOKEN}}'],
  ['mailer', 'fromEmail', {}, 'refuse', `${'a'.repeat(65)}@b.co|a@${'b'.repeat(64)}.co|a@b.co, c@d.co`],
  ['mailer', 'apiToken', ownMail, 'accept', ' token |{token}|{{env.TENANT_TOKEN}}| {{ env.TENANT_TOKEN }}'],
  ['mailer', 'apiToken', ownMail, 'refuse', ' |a b|a\nb|ü|{{env.}}|{{env.A-B}}|{{token}}|x{{'],
  ['mailer', 'baseUrl', ownMail, 'accept', 'HTTPS://other.example.com| https://other.example.com:443/v1'],
  ['mailer', 'baseUrl', ownMail, 'accept', 'https://bücher.example| '],
  ['mailer', 'baseUrl', ownMail, 'refuse', 'https://|https://:80|https://u:p@b.example|ftp://b.example|x'],
  ['mailer', 'baseUrl', ownMail, 'refuse', 'https://b.example?c'],
  ['idp', 'publishableKey', keys, 'accept', `${key.replace(/=+$/, '')}|{{env.TENANT_PUBLISHABLE_KEY}}`],
  ['idp', 'publishableKey', keys, 'refuse', `x|pk_test_=|${key.slice(0, -4)}|pk_test_${btoa('a.b.com')}`],
  ['idp', 'secretKey', keys, 'accept', '{{ env.TENANT_SECRET_KEY }}|sk_test_{{env.TENANT_REST}}'],
  ['idp', 'secretKey', keys, 'refuse', `pk_test_1|sk_test_a|sk_test_${'a'.repeat(30)}=|{{env.}}`],
  ['idp', 'secretKey', keys, 'refuse', `sk_test_${'a '.repeat(20)}`],
  ['idp-server', 'platformApiKey', shop, 'accept', `| | ${credentials.tenantAccessToken} `],
  ['idp-server', 'platformApiKey', shop, 'refuse', 'a b|ü|{{env.}}'],
  ['idp-server', 'domain', onDomain, 'accept', ' example.com |EXAMPLE.com'],
  ['idp-server', 'domain', onDomain, 'refuse', ' |localhost|-a.example|https://example.com'],
]
/** The provider may still refuse what the host accepts. */
const accepted = [undefined, 'credentials_rejected', 'provider_rejected', 'provider_error']

it.each(fields)('the form and the host of %s on %s, with %j: both %s %j', async (...row) => {
  const [name, field, others, verdict, values] = row
  for (const value of values.split('|')) {
    const inputs = { ...others, [field]: value }
    expect([value, isValid(name, inputs)]).toEqual([value, verdict === 'accept'])
    const { status, body } = await deploy(name, inputs, crypto.randomUUID())
    const { code, errors } = Object(body)
    const refusal = { status: 422, errors: [{ path: `deployment.inputs.${field}` }] }
    if (verdict === 'refuse') expect({ status, errors }, value).toMatchObject(refusal)
    else expect(code, value).toBeOneOf(accepted)
  }
})
