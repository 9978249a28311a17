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
import { credentials, startHost } from './hosted.ts'

const { get, send, world } = startHost()
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
const isValid = (name: string, inputs: object) => validator.isValid(schemaOf(name), inputs, schemaOf(name))

it('a platform that has the integrations already gets 304', async () => {
  const { headers } = await get('/integrations')
  const again = await get('/integrations', { 'if-none-match': headers.get('etag') ?? '' })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

const form = z.looseObject({
  properties: z.record(
    z.string(),
    z.object({ title: z.string(), description: z.string(), order: z.number() }),
  ),
})

it('each field has a title, a description and an order', () => {
  expect([...manifests.keys()]).toEqual(['auth', 'idp', 'idp-server', 'mailer'])
  for (const { name, inputs } of manifests.values()) {
    if (name === 'auth') continue
    const { properties, ...rest } = form.parse(inputs)
    const all = Object.entries({ ...properties, ...form.parse(rest.then).properties })
    expect(all.map(([, { order }]) => order).toSorted()).toEqual(all.map((_, index) => index))
    for (const [field, { title }] of all) expect(title).not.toBe(field)
  }
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

it.each([
  ['mailer', { serverType: 'dedicated' }],
  ['mailer', { serverType: 'dedicated', apiToken: ' ' }],
  ['mailer', { fromEmail: 'nobody' }],
  ['idp', { serverType: 'dedicated' }],
  ['idp', { serverType: 'dedicated', publishableKey: 'sk_test_1', secretKey: 'pk_test_1' }],
  ['idp', { serverType: 'own' }],
  ['idp-server', {}],
  ['idp-server', { applicationName: ' ' }],
  ['idp-server', { applicationName: 'Shop', environmentType: 'production' }],
  ['idp-server', { applicationName: 'Shop', environmentType: 'production', domain: 'localhost' }],
])('the form of %s refuses %j, as the host does', async (name, inputs) => {
  expect(isValid(name, inputs)).toBe(false)
  const { status } = await send(name, { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } })
  expect(status).toBe(422)
})

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
  const dedicated = fc.constant('dedicated')
  const tenant = [...world.backend.instances.values()].at(-1)
  const urls = ['https://other.example.com/v1', 'https://u:p@other.example.com', 'ftp://x', 'https://a.b?c']

  it.each<[string, fc.Arbitrary<object>]>([
    ['mailer', fc.record({ fromEmail: odd, messageStream: odd }, optional)],
    [
      'mailer',
      fc.record({
        serverType: dedicated,
        apiToken: fc.constantFrom('', credentials.tenantMailToken),
        fromEmail: odd,
        baseUrl: fc.constantFrom(...urls, undefined),
      }),
    ],
    [
      'idp',
      fc.record({
        serverType: dedicated,
        publishableKey: fc.constantFrom('', 'pk_test_', ` ${tenant?.publishableKey}`, tenant?.publishableKey),
        secretKey: fc.constantFrom('', 'x', credentials.tenantSecretKey),
      }),
    ],
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
        const { body } = await send(name, { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } })
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
