/** `GET /integrations` is enough to draw a form: it and `GET /openapi.json` accept and refuse the inputs that the host does. */
import { manifestSchema } from '@org/core/hosting'
import { createValidator } from '@org/openapi-checks/validate'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { builtin } from '../src/integrations.ts'
import { credentials, startHost } from './hosted.ts'

const key = `pk_test_${btoa('tenant.clerk.accounts.dev$')}`
const { tenantMailToken: TOKEN, tenantSecretKey: SECRET_KEY } = credentials
const environment = { TOKEN, KEY: key, SECRET_KEY, REST: SECRET_KEY.slice('sk_test_'.length) }
const { get, send, world } = startHost({ environment })

const received: unknown = await (await get('/integrations')).json()
const { integrations: manifests } = z.object({ integrations: z.array(manifestSchema) }).parse(received)
const schemas = Object.fromEntries(manifests.map(({ name, inputs }) => [name, inputs]))
const validate = createValidator(schemas)
const components: Record<string, string> = { mailer: 'Mailer', idp: 'Idp', 'idp-server': 'IdpServer' }
const validateEvent = createValidator(await (await get('/openapi.json')).json())

const field = z.object({ title: z.string(), description: z.string(), order: z.number() })
const form = z.looseObject({ properties: z.record(z.string(), field) })

it('each field has a title, a description and an order, and patterns are in the syntax of every engine', () => {
  expect(Object.keys(schemas)).toEqual(builtin.map(({ name }) => name))
  const { auth: _, ...others } = schemas
  for (const schema of Object.values(others)) {
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

const dedicated = { serverType: 'dedicated' }
const ownMail = { ...dedicated, apiToken: TOKEN }
const keys = { ...dedicated, publishableKey: key, secretKey: SECRET_KEY }
const shop = { applicationName: 'Shop' }
const onDomain = { ...shop, environmentType: 'production' }
const long = [`${'a'.repeat(65)}@b.co`, `a@${'b'.repeat(64)}.co`]

/** The provider may still refuse what the host accepts. */
const accepting = [undefined, 'credentials_rejected', 'provider_rejected', 'provider_error']

/** Whether the form, the document and the host accept the inputs; else the host refuses this field. */
async function judge(name: string, field: string, inputs: object) {
  const id = crypto.randomUUID()
  world.platform.addDeployment({ id })
  const { body } = await send(name, { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } })
  const { code, errors } = Object(body)
  const isRefused = errors?.[0]?.path === `deployment.inputs.${field}`
  return {
    byForm: validate(`#/${name}`, inputs).length === 0,
    byDocument: validateEvent(`#/components/schemas/${components[name]}Inputs`, inputs).length === 0,
    byHost: accepting.includes(code) || (isRefused ? false : body),
  }
}

// “|” separates values, because some have spaces at their ends.
it.each<[name: string, field: string, others: object, accepted: string, refused?: string]>([
  ['mailer', 'fromEmail', {}, ' a@b.co |A <a@b.co> |Shop, Inc. <a@b.co>', `nobody|a@ö.co|${long.join('|')}`],
  ['mailer', 'fromEmail', {}, '"Shop, \\"Inc\\"" <a@b.co>|"A <x>" <a@b.co>', 'a@b.co, c@d.co|{{env.TOKEN}}'],
  ['mailer', 'fromEmail', {}, 'Jöß <a@b.co>|a`b@b.co', 'A <a@b.co> <c@d.co>|"A" <a@b.co> "B" <c@d.co>'],
  ['mailer', 'fromEmail', {}, 'a@b|| ', 'a@-b.co|a@b.co-|a@b..co|A\nB <a@b.co>'],
  ['mailer', 'apiToken', ownMail, ' token |{token}|{{env.TOKEN}}', ' |a b|a\nb|ü|{{env.}}|{{env.A-B}}'],
  ['mailer', 'apiToken', dedicated, ' {{ env.TOKEN }}', '|x{{|{{token}}'],
  ['mailer', 'baseUrl', ownMail, 'HTTPS://other.example.com| ', 'https://|https://:80|ftp://b.example|x'],
  ['mailer', 'baseUrl', ownMail, ' https://a.test:443/v1|https://bücher.example', 'https://b.example?c'],
  ['mailer', 'baseUrl', ownMail, 'https://b.example', 'https://u:p@b.example'],
  ['mailer', 'baseUrl', { serverType: 'shared' }, 'x'],
  ['idp', 'serverType', {}, 'shared', 'own'],
  ['idp', 'publishableKey', keys, `${key.replace(/=+$/, '')}|{{env.KEY}}`, `x|pk_test_=|${key.slice(0, -4)}`],
  ['idp', 'publishableKey', keys, key, `pk_test_${btoa('a.b.com')}`],
  ['idp', 'secretKey', keys, '{{ env.SECRET_KEY }}|sk_test_{{env.REST}}', 'pk_test_1|sk_test_a|{{env.}}|'],
  ['idp', 'secretKey', keys, SECRET_KEY, `sk_test_${'a'.repeat(30)}=`],
  ['idp-server', 'applicationName', {}, 'Shop', ''],
  ['idp-server', 'platformApiKey', shop, `| | ${credentials.tenantAccessToken} `, 'a b|ü|{{env.}}'],
  ['idp-server', 'domain', onDomain, ' example.com |EXAMPLE.com', ' |localhost|-a.example|https://a.test|'],
])('the form, the document and the host agree about %s %s, with %j: %j, and not %j', async (...row) => {
  const [name, field, others, accepted, refused] = row
  async function expectAll(values: string[] = [], is: boolean): Promise<void> {
    const verdict = { byForm: is, byDocument: is, byHost: is }
    for (const value of values)
      expect(await judge(name, field, { ...others, [field]: value }), value).toEqual(verdict)
  }
  await expectAll(accepted.split('|'), true)
  await expectAll(refused?.split('|'), false)
})
