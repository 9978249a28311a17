/** `GET /integrations` is enough to draw a form: a well-kept form library draws every integration from it alone. */
import { type Manifest, manifestSchema } from '@org/core/internal'
import Form from '@rjsf/core'
import type { RJSFSchema } from '@rjsf/utils'
import validator from '@rjsf/validator-ajv8'
import fc from 'fast-check'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { beforeAll, describe, expect, it } from 'vitest'
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

let manifests: Map<string, Manifest>
beforeAll(async () => {
  const { integrations } = z
    .object({ integrations: z.array(manifestSchema) })
    .parse(await (await get('/integrations')).json())
  manifests = new Map(integrations.map((manifest) => [manifest.name, manifest]))
})

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

it.each(['/integrations', '/openapi.json', '/docs'])('a client that has %s gets 304', async (path) => {
  const { headers } = await get(path)
  const again = await get(path, { 'if-none-match': headers.get('etag') ?? '' })
  expect([again.status, await again.text()]).toEqual([304, ''])
  // A browser uses it for the page that it has.
  const policy = 'content-security-policy'
  expect(again.headers.get(policy)).toBe(headers.get(policy))
  const { paths } = Object(await (await get('/openapi.json')).json())
  expect(paths[path].get.responses).toHaveProperty('304')
})

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

it.each([
  ['auth', {}],
  ['idp', { serverType: 'shared' }],
  ['idp-server', { environmentType: 'development' }],
  ['mailer', { serverType: 'shared', messageStream: 'outbound' }],
])('the form of %s begins with the defaults of the contract alone', (name, defaults) => {
  expect(initialState(name)).toEqual(defaults)
})

describe('the form shows the fields of a choice with that choice alone', () => {
  it.each([
    ['mailer', {}, { serverType: 'dedicated' }, ['Server API Token', 'Base URL']],
    ['idp', { serverType: 'shared' }, { serverType: 'dedicated' }, ['Publishable key', 'Secret key']],
    ['idp-server', { environmentType: 'development' }, { environmentType: 'production' }, ['Domain']],
  ])('%s', (name, without, withChoice, fields) => {
    const always = draw(name, without)
    expect(draw(name, withChoice).filter((label) => !always.includes(label))).toEqual(fields)
  })
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

const deploy = (name: string, inputs: object, id = 'dep_1') =>
  send(name, { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } })

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
const tenantKeys = {
  serverType: 'dedicated',
  publishableKey: environment.TENANT_PUBLISHABLE_KEY,
  secretKey: credentials.tenantSecretKey,
}
const fields: { name: string; field: string; others: object; accepted: string[]; refused: string[] }[] = [
  {
    name: 'mailer',
    field: 'fromEmail',
    others: {},
    accepted: [
      ' a@b.co ',
      'A <a@b.co> ',
      'Shop, Inc. <a@b.co>',
      '"Shop, \\"Inc\\"" <a@b.co>',
      '"A <x>" <a@b.co>',
      'Jöß <a@exämple.com>',
      'a`b@b.co',
      'a@b',
      '',
      ' ',
    ],
    refused: [
      'nobody',
      'A <a@b.co> <c@d.co>',
      '"A" <a@b.co> "B" <c@d.co>',
      'a@b.co, c@d.co',
      'a@-b.co',
      'a@b.co-',
      'a@b..co',
      `${'a'.repeat(65)}@b.co`,
      `a@${'b'.repeat(64)}.co`,
      'A\nB <a@b.co>',
      '{{env.TENANT_TOKEN}}',
    ],
  },
  {
    name: 'mailer',
    field: 'apiToken',
    others: ownMail,
    accepted: [' token ', '{token}', '{{env.TENANT_TOKEN}}', ' {{ env.TENANT_TOKEN }}'],
    refused: [' ', 'a b', 'a\nb', 'ü', '{{env.}}', '{{env.A-B}}', '{{token}}', 'x{{'],
  },
  {
    name: 'mailer',
    field: 'baseUrl',
    others: ownMail,
    accepted: [
      'HTTPS://other.example.com',
      ' https://other.example.com:443/v1',
      'https://bücher.example',
      ' ',
    ],
    refused: [
      'https://',
      'https://:80',
      'https://u:p@b.example',
      'https://b.example?c',
      'ftp://b.example',
      'x',
    ],
  },
  {
    name: 'idp',
    field: 'publishableKey',
    others: tenantKeys,
    accepted: [tenantKeys.publishableKey.replaceAll('=', ''), '{{env.TENANT_PUBLISHABLE_KEY}}'],
    refused: ['x', 'pk_test_=', tenantKeys.publishableKey.slice(0, -4), `pk_test_${btoa('a.example.com')}`],
  },
  {
    name: 'idp',
    field: 'secretKey',
    others: tenantKeys,
    accepted: ['{{ env.TENANT_SECRET_KEY }}', 'sk_test_{{env.TENANT_REST}}'],
    refused: [
      'pk_test_1',
      'sk_test_a',
      `sk_test_${'a'.repeat(30)}=`,
      '{{env.}}',
      `sk_test_${'a '.repeat(20)}`,
    ],
  },
  {
    name: 'idp-server',
    field: 'platformApiKey',
    others: { applicationName: 'Shop' },
    accepted: ['', ' ', ` ${credentials.tenantAccessToken} `],
    refused: ['a b', 'ü', '{{env.}}'],
  },
  {
    name: 'idp-server',
    field: 'domain',
    others: { applicationName: 'Shop', environmentType: 'production' },
    accepted: [' example.com ', 'EXAMPLE.com'],
    refused: [' ', 'localhost', '-a.example', 'https://example.com'],
  },
]

describe.each(fields)(
  'the form and the host of $name agree on $field',
  ({ name, field, others, ...values }) => {
    it.each(values.accepted)('accepts %j', async (value) => {
      const inputs = { ...others, [field]: value }
      expect(isValid(name, inputs)).toBe(true)
      // The provider may still refuse it.
      expect(Object((await deploy(name, inputs)).body).code).toBeOneOf([
        undefined,
        'credentials_rejected',
        'provider_rejected',
        'provider_error',
      ])
    })

    it.each(values.refused)('refuses %j', async (value) => {
      const inputs = { ...others, [field]: value }
      expect(isValid(name, inputs)).toBe(false)
      expect(await deploy(name, inputs)).toMatchObject({
        status: 422,
        body: { errors: [{ path: `deployment.inputs.${field}` }] },
      })
    })
  },
)

describe('the host accepts what the form accepts', () => {
  const odd = fc.oneof(
    fc.constantFrom(
      '',
      '  ',
      null,
      undefined,
      'ada@example.com',
      'Ada <ada@example.com>',
      'Ada <>',
      '<a@b.c>',
    ),
    fc.constantFrom(
      'Ada\u2028 <ada@b.co>',
      'Ada (x) <ada@b.co>',
      'a@b.c>',
      '\u2028@b.c',
      'a@-b.c',
      'example.com',
      '-a.b',
      ' a.b ',
    ),
    fc.string(),
  )
  const optional = { requiredKeys: [] }

  it.each<[string, fc.Arbitrary<object>]>([
    // The token and the base URL may be left from another choice.
    ['mailer', fc.record({ fromEmail: odd, messageStream: odd, apiToken: odd, baseUrl: odd }, optional)],
    [
      'idp-server',
      fc.record(
        {
          applicationName: odd,
          environmentType: fc.constantFrom('development', 'production'),
          domain: odd,
          template: fc.constantFrom('waitlist', 'other'),
        },
        optional,
      ),
    ],
  ])('%s', async (name, arbitrary) => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(arbitrary, async (inputs) => {
        if (!isValid(name, inputs)) return
        accepted += 1
        const id = `dep_${name}_${accepted}`
        world.platform.addDeployment({ id })
        const { body } = await deploy(name, inputs, id)
        // The provider may still refuse, for example a domain that another application has.
        expect(z.object({ code: z.string() }).safeParse(body).data?.code).toBeOneOf([
          undefined,
          'provider_rejected',
        ])
      }),
      { numRuns: 200 },
    )
    // The property would also hold if everything was refused.
    expect(accepted).toBeGreaterThan(5)
  })
})
