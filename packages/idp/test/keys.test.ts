import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { isIntegrationError, parsePublishableKey } from '../src/index.ts'
import { publishableKeyOf } from '../src/testing/index.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { backend, requests, create, own, shared, deployment } = fixture

const pk = own.publishableKey
const sk = own.secretKey
const elsewhere = publishableKeyOf('clerk.elsewhere.example', 'production')
const live = (text: string) => `pk_live_${btoa(text)}`
const unknown = `sk_live_${'a1'.repeat(21)}`

const problem = z.object({
  detail: z.string(),
  code: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).min(1),
})

type Path = 'publishableKey' | 'secretKey'

/** The mistakes of people: its name, the keys that differ from the valid ones, the input at fault, and the code. */
const mistakes: [string, Record<string, unknown>, Path, string?][] = [
  ['a text instead of a publishable key', { publishableKey: 'hello' }, 'publishableKey'],
  ['a publishable key without its prefix', { publishableKey: pk.slice(8) }, 'publishableKey'],
  ['a secret key without its prefix', { secretKey: sk.slice(8) }, 'secretKey'],
  ['swapped keys', { publishableKey: sk, secretKey: pk }, 'publishableKey'],
  ['the publishable key twice', { secretKey: pk }, 'secretKey'],
  ['the secret key twice', { publishableKey: sk }, 'publishableKey'],
  ['a test key with a live key', { secretKey: shared.secretKey }, 'secretKey'],
  ['keys of two instances', { publishableKey: elsewhere }, 'publishableKey', 'credentials_rejected'],
  ['an unknown secret key', { secretKey: unknown }, 'secretKey', 'credentials_rejected'],
  ['an unknown kind of publishable key', { publishableKey: `pk_prod_${pk.slice(8)}` }, 'publishableKey'],
  ['an unknown kind of secret key', { secretKey: `sk_prod_${sk.slice(8)}` }, 'secretKey'],
  ['only a prefix', { publishableKey: 'pk_live_' }, 'publishableKey'],
  ['a truncated publishable key', { publishableKey: pk.slice(0, -7) }, 'publishableKey'],
  ['a truncated secret key', { secretKey: sk.slice(0, 20) }, 'secretKey'],
  ['a publishable key that is not base64', { publishableKey: `${pk.slice(0, -4)}~~~~` }, 'publishableKey'],
  ['a secret key with an invalid character', { secretKey: `${sk}%` }, 'secretKey'],
  ['a host without a dot', { publishableKey: live('localhost$') }, 'publishableKey'],
  ['an invalid host', { publishableKey: live('a b.c/d$') }, 'publishableKey'],
  ['white space in a key', { publishableKey: `${pk.slice(0, 12)} ${pk.slice(12)}` }, 'publishableKey'],
  ['quotes around a key', { publishableKey: `"${pk}"` }, 'publishableKey'],
  ['a line of an .env file', { secretKey: `CLERK_SECRET_KEY=${sk}` }, 'secretKey'],
  ['a masked secret key', { secretKey: 'sk_live_••••••••••••••••••••••' }, 'secretKey'],
  ['a publishable key from the documentation', { publishableKey: 'pk_live_xxxxx' }, 'publishableKey'],
  ['no secret key', { secretKey: undefined }, 'secretKey', 'missing_credentials'],
  ['no publishable key', { publishableKey: ' ' }, 'publishableKey', 'missing_credentials'],
  ['no keys', { publishableKey: '', secretKey: null }, 'publishableKey', 'missing_credentials'],
]

/** The problem of a deployment with such keys. */
async function refusalOf(keys: Record<string, unknown>) {
  const { status, body } = await create({ ...fixture.ownInputs, ...keys })
  expect(status).toBe(422)
  return problem.parse(body)
}

describe('a deployment is refused for', () => {
  it.each(mistakes)(
    '%s, with advice and without the key',
    async (what, keys, path, code = 'invalid_inputs') => {
      const refusal = await refusalOf(keys)
      expect(refusal.code).toBe(code)
      const fault = refusal.errors.find((error) => error.path === `deployment.inputs.${path}`)
      expect(fault?.message).toMatch(
        /copy|remove|swap|put it|keep only|is required with serverType dedicated/,
      )
      expect(refusal.detail).toContain(path)
      const reported = JSON.stringify([refusal, deployment().logs, deployment().statusHistory])
      for (const key of Object.values(keys)) {
        if (typeof key === 'string' && key.trim() !== '') expect(reported).not.toContain(key.trim())
      }
      expect(reported).not.toMatch(/[ps]k_(test|live)_\w/)
      expect(deployment()).toMatchObject({ status: 'failed', outputs: {} })
      if (code !== 'credentials_rejected') expect([what, requests]).toEqual([what, []])
    },
  )

  it('each of these mistakes with a different sentence', async () => {
    const details: string[] = []
    for (const [, keys] of mistakes) details.push((await refusalOf(keys)).detail)
    expect(new Set(details).size).toBe(mistakes.length)
  })

  it('two invalid keys, both in one response', async () => {
    const { errors, detail } = await refusalOf({ publishableKey: 'nonsense', secretKey: 'sk_live_short' })
    expect(errors.map(({ path }) => path)).toEqual([
      'deployment.inputs.publishableKey',
      'deployment.inputs.secretKey',
    ])
    for (const { message } of errors) expect(detail).toContain(message)
  })

  it('an instance without a domain', async () => {
    own.domains.length = 0
    expect(await refusalOf({})).toMatchObject({
      code: 'credentials_rejected',
      detail: expect.stringContaining('no domain'),
    })
  })
})

it('a deployment accepts keys with white space around them, and an odd secret key', async () => {
  const instance = backend.addInstance({ secretKey: `sk_test_${'aXxxXb'.repeat(7)}_x` })
  const { publishableKey, secretKey } = instance
  const keys = { publishableKey: ` ${publishableKey}\n`, secretKey: `\t${secretKey} ` }
  expect((await create({ serverType: 'dedicated', ...keys })).body).toMatchObject({
    status: 'running',
    outputs: { publishableKey, secretKey },
  })
})

it.each([
  ['malformed', { secretKey: ` ${shared.secretKey}` }, 'missing_credentials'],
  [
    'of two instances',
    { publishableKey: publishableKeyOf('a.example', 'development') },
    'credentials_rejected',
  ],
  ['unknown', { secretKey: `sk_test_${'a1'.repeat(21)}` }, 'credentials_rejected'],
])(
  'shared keys that are %s are reported as a fault of the host, not of an input',
  async (_what, keys, code) => {
    const { publishableKey, secretKey } = shared
    const response = await create({}, fixture.handler({ shared: { publishableKey, secretKey, ...keys } }))
    expect(response).toMatchObject({
      status: 422,
      body: { code, detail: expect.stringMatching(/this host.*IDP_SHARED_SECRET_KEY/) },
    })
    expect(response.body).not.toHaveProperty('errors')
  },
)

it.each([
  ['satellite domain', { frontend_api_url: 'https://clerk.elsewhere.example' }, elsewhere],
  ['domain without a scheme', { frontend_api_url: 'clerk.elsewhere.example' }, elsewhere],
  ['host in capitals', {}, live('CLERK.Example.com$')],
])('the publishable key of a %s is valid', async (_what, domain, publishableKey) => {
  own.domains.push({ ...(own.domains[0] ?? expect.fail()), ...domain })
  expect((await create({ ...fixture.ownInputs, publishableKey })).status).toBe(200)
})

describe('a publishable key', () => {
  const label = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}$/)
  const hosts = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'))
  const environments = fc.constantFrom('development' as const, 'production' as const)

  it('yields its host and environment, with and without padding', () => {
    fc.assert(
      fc.property(hosts, environments, (frontendHost, environment) => {
        const key = publishableKeyOf(frontendHost, environment)
        const expected = { environment, frontendHost, frontendApiUrl: `https://${frontendHost}` }
        expect(parsePublishableKey(key)).toEqual(expected)
        expect(parsePublishableKey(key.replace(/=+$/, ''))).toEqual(expected)
      }),
    )
  })

  it('is refused if it is truncated anywhere', () => {
    fc.assert(
      fc.property(hosts, environments, fc.nat(), (frontendHost, environment, cut) => {
        const key = publishableKeyOf(frontendHost, environment)
        const padding = key.length - key.replace(/=+$/, '').length
        const kept = key.slice(0, cut % (key.length - padding))
        expect(() => parsePublishableKey(kept)).toThrow(/publishableKey .*copy/)
        if (padding === 2) expect(() => parsePublishableKey(key.slice(0, -1))).toThrow(/cut off/)
      }),
    )
  })

  it('is parsed or refused, and an error never repeats it', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string().map((text) => `pk_test_${text}`),
      fc.base64String().map((text) => `pk_live_${text}`),
      fc.string().map((text) => `pk_test_${btoa(encodeURIComponent(text))}JA==`),
    )
    fc.assert(
      fc.property(anything, (key) => {
        try {
          parsePublishableKey(key)
        } catch (error) {
          if (!isIntegrationError(error)) throw error
          expect(error).toMatchObject({ code: 'invalid_inputs', errors: [{ path: 'publishableKey' }] })
          if (key.length > 20) expect(error.message).not.toContain(key)
        }
      }),
    )
  })
})
