import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { isIntegrationError, parsePublishableKey } from '../src/index.ts'
import { publishableKeyOf } from '../src/testing/index.ts'
import { runWebhook } from './webhook-support.ts'

const arrangement = runWebhook()
const { backend, requests, create, own, shared, deployment } = arrangement

const pk = own.publishableKey
const sk = own.secretKey
const elsewhere = publishableKeyOf('clerk.elsewhere.example', 'production')
const live = (text: string) => `pk_live_${btoa(text)}`

const problem = z.object({
  detail: z.string(),
  code: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).min(1),
})

type Path = 'publishableKey' | 'secretKey'

/** What people paste: what is wrong, both keys, which of them is at fault, and the code. */
const mistakes: [string, Record<string, unknown>, Path, string?][] = [
  ['no publishable key at all', { publishableKey: 'hello', secretKey: sk }, 'publishableKey'],
  ['a publishable key without its prefix', { publishableKey: pk.slice(8), secretKey: sk }, 'publishableKey'],
  ['a secret key without its prefix', { publishableKey: pk, secretKey: sk.slice(8) }, 'secretKey'],
  ['both keys swapped', { publishableKey: sk, secretKey: pk }, 'publishableKey'],
  ['the publishable key twice', { publishableKey: pk, secretKey: pk }, 'secretKey'],
  ['the secret key twice', { publishableKey: sk, secretKey: sk }, 'publishableKey'],
  ['a test key with a live one', { publishableKey: pk, secretKey: shared.secretKey }, 'secretKey'],
  [
    'keys of two instances',
    { publishableKey: elsewhere, secretKey: sk },
    'publishableKey',
    'credentials_rejected',
  ],
  [
    'a key that the provider does not know',
    { publishableKey: pk, secretKey: `sk_live_${'a1'.repeat(21)}` },
    'secretKey',
    'credentials_rejected',
  ],
  [
    'an unknown kind of publishable key',
    { publishableKey: `pk_prod_${pk.slice(8)}`, secretKey: sk },
    'publishableKey',
  ],
  ['an unknown kind of secret key', { publishableKey: pk, secretKey: `sk_prod_${sk.slice(8)}` }, 'secretKey'],
  ['a prefix alone', { publishableKey: 'pk_live_', secretKey: sk }, 'publishableKey'],
  ['a publishable key that is cut off', { publishableKey: pk.slice(0, -7), secretKey: sk }, 'publishableKey'],
  ['a secret key that is cut off', { publishableKey: pk, secretKey: sk.slice(0, 20) }, 'secretKey'],
  [
    'a publishable key that is not base64',
    { publishableKey: `${pk.slice(0, -4)}~~~~`, secretKey: sk },
    'publishableKey',
  ],
  ['a secret key with a wrong character', { publishableKey: pk, secretKey: `${sk}%` }, 'secretKey'],
  ['a host without a dot', { publishableKey: live('localhost$'), secretKey: sk }, 'publishableKey'],
  ['no host at all', { publishableKey: live('a b.c/d$'), secretKey: sk }, 'publishableKey'],
  ['white space around a key', { publishableKey: pk, secretKey: `${sk}\n` }, 'secretKey'],
  [
    'white space in a key',
    { publishableKey: `${pk.slice(0, 12)} ${pk.slice(12)}`, secretKey: sk },
    'publishableKey',
  ],
  ['quotes around a key', { publishableKey: `"${pk}"`, secretKey: sk }, 'publishableKey'],
  ['a whole line of a file', { publishableKey: pk, secretKey: `CLERK_SECRET_KEY=${sk}` }, 'secretKey'],
  ['a masked secret key', { publishableKey: pk, secretKey: 'sk_live_••••••••••••••••••••••' }, 'secretKey'],
  [
    'a publishable key from the documentation',
    { publishableKey: 'pk_live_xxxxx', secretKey: sk },
    'publishableKey',
  ],
  ['no secret key', { publishableKey: pk }, 'secretKey', 'missing_credentials'],
  ['no publishable key', { publishableKey: ' ', secretKey: sk }, 'publishableKey', 'missing_credentials'],
  ['no key at all', { publishableKey: '', secretKey: null }, 'publishableKey', 'missing_credentials'],
]

/** The answer to a deployment with such keys. */
async function refusalOf(keys: Record<string, unknown>) {
  const { status, body } = await create({ serverType: 'dedicated', ...keys })
  expect(status).toBe(422)
  return problem.parse(body)
}

describe('a deployment is refused where its keys are', () => {
  it.each(mistakes)('%s', async (_what, keys, path, code = 'invalid_inputs') => {
    const refusal = await refusalOf(keys)
    expect(refusal.code).toBe(code)
    const fault = refusal.errors.find((error) => error.path === `deployment.inputs.${path}`)
    // What to do, beside what is wrong.
    expect(fault?.message).toMatch(
      /copy|remove|swap|put it|keep only|take both|is required where serverType is dedicated/,
    )
    expect(refusal.detail).toContain(path)
    const told = JSON.stringify([refusal, deployment().logs, deployment().statusHistory])
    for (const key of Object.values(keys)) {
      if (typeof key === 'string' && key.trim() !== '') expect(told).not.toContain(key.trim())
    }
    expect(told).not.toMatch(/[ps]k_(test|live)_\w/)
    expect(deployment()).toMatchObject({ status: 'failed', outputs: {} })
  })

  it('all these, each with a sentence of its own', async () => {
    const details: string[] = []
    for (const [, keys] of mistakes) details.push((await refusalOf(keys)).detail)
    expect(new Set(details).size).toBe(mistakes.length)
    expect(mistakes.length).toBeGreaterThan(15)
  })

  it('both wrong, and told of both at once', async () => {
    const { errors, detail } = await refusalOf({ publishableKey: 'nonsense', secretKey: 'sk_live_short' })
    expect(errors.map(({ path }) => path)).toEqual([
      'deployment.inputs.publishableKey',
      'deployment.inputs.secretKey',
    ])
    for (const { message } of errors) expect(detail).toContain(message)
  })

  it('faulty, before anything is sent', async () => {
    const asking = new Set(['keys of two instances', 'a key that the provider does not know'])
    for (const [what, keys] of mistakes) if (!asking.has(what)) await refusalOf(keys)
    expect(requests).toEqual([])
  })

  it('revoked', async () => {
    own.settings.secretKeyRevoked = true
    expect(await create(arrangement.ownInputs)).toMatchObject({
      status: 422,
      body: {
        code: 'credentials_rejected',
        retryable: false,
        errors: [{ path: 'deployment.inputs.secretKey', message: expect.stringContaining('revoked') }],
        provider: { name: 'idp', status: 401, code: 'clerk_key_invalid' },
      },
    })
    expect(deployment().statusHistory.at(-1)?.message).toContain('secretKey')
  })

  it('of an instance without any domain', async () => {
    own.domains.length = 0
    expect(await refusalOf({ publishableKey: pk, secretKey: sk })).toMatchObject({
      code: 'credentials_rejected',
      detail: expect.stringContaining('no domain'),
    })
  })
})

describe('where the shared keys of the host are at fault', () => {
  it.each([
    [
      'malformed',
      { publishableKey: shared.publishableKey, secretKey: ` ${shared.secretKey}` },
      'missing_credentials',
    ],
    [
      'of two instances',
      { publishableKey: publishableKeyOf('a.example', 'development'), secretKey: shared.secretKey },
      'credentials_rejected',
    ],
    [
      'unknown',
      { publishableKey: shared.publishableKey, secretKey: `sk_test_${'a1'.repeat(21)}` },
      'credentials_rejected',
    ],
  ])('(%s), the deployer is told whose they are, and blamed for no input', async (_what, keys, code) => {
    const answer = await create({}, arrangement.handler({ shared: keys }))
    expect(answer).toMatchObject({
      status: 422,
      body: { code, detail: expect.stringMatching(/of this host.*IDP_SHARED_SECRET_KEY/) },
    })
    expect(answer.body).not.toHaveProperty('errors')
  })
})

it.each([
  [
    'satellite',
    () =>
      own.domains.push({
        ...(own.domains[0] ?? expect.fail()),
        frontend_api_url: 'https://clerk.elsewhere.example',
      }),
    elsewhere,
  ],
  [
    'domain without a scheme',
    () => Object.assign(own.domains[0] ?? {}, { frontend_api_url: 'clerk.example.com' }),
    pk,
  ],
  ['host in capitals', () => {}, live('CLERK.Example.com$')],
])('the key of a %s of the instance is good', async (_what, arrange, publishableKey) => {
  arrange()
  const { status } = await create({ serverType: 'dedicated', publishableKey, secretKey: sk })
  Object.assign(own.domains[0] ?? {}, { frontend_api_url: 'https://clerk.example.com' })
  expect(status).toBe(200)
})

it('a real secret key may hold a few equal letters in a row', async () => {
  const secretKey = `sk_live_${'aXxxXb'.repeat(7)}`
  const instance = backend.addInstance({ environmentType: 'production', secretKey })
  const inputs = { serverType: 'dedicated', publishableKey: instance.publishableKey, secretKey }
  expect((await create(inputs)).status).toBe(200)
})

describe('a publishable key', () => {
  const label = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}$/)
  const hosts = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'))
  const environments = fc.constantFrom('development' as const, 'production' as const)

  it('says the host and the environment that it was made of, with and without padding', () => {
    fc.assert(
      fc.property(hosts, environments, (frontendHost, environment) => {
        const key = publishableKeyOf(frontendHost, environment)
        const expected = { environment, frontendHost, frontendApiUrl: `https://${frontendHost}` }
        expect(parsePublishableKey(key)).toEqual(expected)
        expect(parsePublishableKey(key.replace(/=+$/, ''))).toEqual(expected)
      }),
    )
  })

  it('that lost its end is refused, wherever it was cut', () => {
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

  it('is read or refused, whatever text it is, and never repeated', () => {
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
