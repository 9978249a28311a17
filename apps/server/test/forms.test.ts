/** `GET /integrations` is enough to draw a form: it and `GET /openapi.json` accept and refuse the inputs that the host does. */
import { manifestSchema } from '@org/core/hosting'
import { createValidator } from '@org/openapi-checks/validate'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { builtin } from '../src/integrations.ts'
import { credentials, startHost } from './hosted.ts'

const environment = {
  TENANT_TOKEN: credentials.tenantMailToken,
  TENANT_PUBLISHABLE_KEY: `pk_test_${btoa('tenant.clerk.accounts.dev$')}`,
  TENANT_SECRET_KEY: credentials.tenantSecretKey,
  TENANT_REST: credentials.tenantSecretKey.slice('sk_test_'.length),
}
const { get, send, world } = startHost({ environment })

const received: unknown = await (await get('/integrations')).json()
const { integrations: manifests } = z.object({ integrations: z.array(manifestSchema) }).parse(received)
const schemas = Object.fromEntries(manifests.map(({ name, inputs }) => [name, inputs]))
const validate = createValidator(schemas)
const validateEvent = createValidator(await (await get('/openapi.json')).json())
const components: Record<string, string> = { mailer: 'Mailer', idp: 'Idp', 'idp-server': 'IdpServer' }

const field = z.object({ title: z.string(), description: z.string(), order: z.number() })
const form = z.looseObject({ properties: z.record(z.string(), field) })

it('each field has a title, a description and an order, and patterns are in the syntax of every engine', () => {
  expect(Object.keys(schemas)).toEqual(builtin.map(({ name }) => name))
  for (const [name, schema] of Object.entries(schemas)) {
    if (name === 'auth') continue
    const { properties, ...rest } = form.parse(schema)
    const all = Object.entries({ ...properties, ...form.parse(rest.then).properties })
    expect(all.map(([, { order }]) => order).toSorted()).toEqual(all.map((_, index) => index))
    for (const [field, { title }] of all) expect(title).not.toBe(field)
    for (const [, quoted = ''] of JSON.stringify(schema).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)) {
      const pattern: string = JSON.parse(quoted)
      for (const flags of ['', 'u', 'v']) expect(() => new RegExp(pattern, flags)).not.toThrow()
      expect(pattern).not.toMatch(/\\p\{/)
    }
  }
})

const ownMail = { serverType: 'dedicated', apiToken: credentials.tenantMailToken }
const key = environment.TENANT_PUBLISHABLE_KEY
const keys = { serverType: 'dedicated', publishableKey: key, secretKey: credentials.tenantSecretKey }
const shop = { applicationName: 'Shop' }
const onDomain = { ...shop, environmentType: 'production' }

/** A field of a route with other inputs, and values of it; “|” separates them, because some have spaces at their ends. */
const fields: [name: string, field: string, others: object, verdict: 'accept' | 'refuse', values: string][] =
  [
    [
      'mailer',
      'fromEmail',
      {},
      'accept',
      ' a@b.co |A <a@b.co> |Shop, Inc. <a@b.co>|"Shop, \\"Inc\\"" <a@b.co>',
    ],
    ['mailer', 'fromEmail', {}, 'accept', '"A <x>" <a@b.co>|Jöß <a@b.co>|a`b@b.co|a@b|| '],
    ['mailer', 'fromEmail', {}, 'refuse', 'nobody|a@ö.co|A <a@b.co> <c@d.co>|"A" <a@b.co> "B" <c@d.co>'],
    ['mailer', 'fromEmail', {}, 'refuse', 'a@-b.co|a@b.co-|a@b..co|A\nB <a@b.co>|{{env.TENANT_TOKEN}}'],
    ['mailer', 'fromEmail', {}, 'refuse', `${'a'.repeat(65)}@b.co|a@${'b'.repeat(64)}.co|a@b.co, c@d.co`],
    ['mailer', 'apiToken', ownMail, 'accept', ' token |{token}|{{env.TENANT_TOKEN}}| {{ env.TENANT_TOKEN }}'],
    ['mailer', 'apiToken', ownMail, 'refuse', ' |a b|a\nb|ü|{{env.}}|{{env.A-B}}|{{token}}|x{{'],
    ['mailer', 'apiToken', { serverType: 'dedicated' }, 'refuse', ''],
    ['mailer', 'baseUrl', ownMail, 'accept', 'HTTPS://other.example.com| https://other.example.com:443/v1'],
    ['mailer', 'baseUrl', ownMail, 'accept', 'https://bücher.example| '],
    ['mailer', 'baseUrl', ownMail, 'refuse', 'https://|https://:80|https://u:p@b.example|ftp://b.example|x'],
    ['mailer', 'baseUrl', ownMail, 'refuse', 'https://b.example?c'],
    ['mailer', 'baseUrl', { serverType: 'shared' }, 'accept', 'x'],
    ['idp', 'serverType', {}, 'refuse', 'own'],
    ['idp', 'publishableKey', keys, 'accept', `${key.replace(/=+$/, '')}|{{env.TENANT_PUBLISHABLE_KEY}}`],
    ['idp', 'publishableKey', keys, 'refuse', `x|pk_test_=|${key.slice(0, -4)}|pk_test_${btoa('a.b.com')}`],
    ['idp', 'secretKey', keys, 'accept', '{{ env.TENANT_SECRET_KEY }}|sk_test_{{env.TENANT_REST}}'],
    ['idp', 'secretKey', keys, 'refuse', `pk_test_1|sk_test_a|sk_test_${'a'.repeat(30)}=|{{env.}}|`],
    ['idp-server', 'applicationName', {}, 'refuse', ''],
    ['idp-server', 'platformApiKey', shop, 'accept', `| | ${credentials.tenantAccessToken} `],
    ['idp-server', 'platformApiKey', shop, 'refuse', 'a b|ü|{{env.}}'],
    ['idp-server', 'domain', onDomain, 'accept', ' example.com |EXAMPLE.com'],
    ['idp-server', 'domain', onDomain, 'refuse', ' |localhost|-a.example|https://example.com|'],
  ]
/** The provider may still refuse what the host accepts. */
const accepted = [undefined, 'credentials_rejected', 'provider_rejected', 'provider_error']

it.each(fields)('the form, the document and the host of %s on %s, with %j: all %s %j', async (...row) => {
  const [name, field, others, verdict, values] = row
  for (const value of values.split('|')) {
    const id = crypto.randomUUID()
    const inputs = { ...others, [field]: value }
    const event = `#/components/schemas/${components[name]}Inputs`
    const faults = { form: validate(`#/${name}`, inputs), event: validateEvent(event, inputs) }
    if (verdict === 'accept') expect(faults, value).toEqual({ form: [], event: [] })
    else for (const each of Object.values(faults)) expect(each, value).not.toEqual([])
    world.platform.addDeployment({ id })
    const { status, body } = await send(name, { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } })
    const { code, errors } = Object(body)
    const refusal = { status: 422, errors: [{ path: `deployment.inputs.${field}` }] }
    if (verdict === 'refuse') expect({ status, errors }, value).toMatchObject(refusal)
    else expect(code, value).toBeOneOf(accepted)
  }
})
