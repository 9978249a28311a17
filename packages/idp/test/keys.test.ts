/** The keys of a deployment: what is wrong with them, and for whom. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isIntegrationError, parsePublishableKey } from '../src/index.ts'
import { publishableKeyOf } from '../src/testing/index.ts'
import { runWebhook } from './support.ts'

const { backend, requests, create, handler, own, ownInputs, shared, deployment } = runWebhook()

const { publishableKey: pk, secretKey: sk } = own
const elsewhere = publishableKeyOf('clerk.elsewhere.example', 'production')
const unknown = `sk_live_${'a1'.repeat(21)}`
const live = (text: string) => `pk_live_${btoa(text)}`
const [missing, rejected] = ['missing_credentials', 'credentials_rejected']

/** The mistakes of people: the keys that differ from the valid ones, the input at fault, the advice, and the code. */
const mistakes: [string, Record<string, unknown>, string, string, string?][] = [
  ['a key without its prefix', { secretKey: sk.slice(8) }, 'secretKey', 'does not start with sk_test_'],
  ['swapped keys', { publishableKey: sk, secretKey: pk }, 'publishableKey', 'put it into secretKey'],
  ['the publishable key twice', { secretKey: pk }, 'secretKey', 'put it into publishableKey'],
  ['a test key with a live key', { secretKey: shared.secretKey }, 'secretKey', 'development instance'],
  ['keys of two', { publishableKey: elsewhere }, 'publishableKey', 'has clerk.example.com', rejected],
  ['an unknown key', { secretKey: unknown }, 'secretKey', 'copy the current key', rejected],
  ['a truncated publishable key', { publishableKey: pk.slice(0, -7) }, 'publishableKey', 'cut off'],
  ['a truncated secret key', { secretKey: sk.slice(0, 20) }, 'secretKey', 'too short'],
  ['no base64', { publishableKey: `${pk.slice(0, -4)}~~~~` }, 'publishableKey', 'is not base64'],
  ['an invalid character', { secretKey: `${sk}%` }, 'secretKey', 'characters that no key has'],
  ['an invalid host', { publishableKey: live('a b.c$') }, 'publishableKey', 'does not name a host'],
  ['a host with a path', { publishableKey: live('b.c/d$') }, 'publishableKey', 'does not name a host'],
  ['quotes', { publishableKey: `"${pk}"` }, 'publishableKey', 'without quotes'],
  ['a masked key', { secretKey: 'sk_live_••••••••••••••••••••••' }, 'secretKey', 'copy the real key'],
  ['no secret key', { secretKey: undefined }, 'secretKey', 'is missing', missing],
  ['no keys', { publishableKey: ' ', secretKey: null }, 'publishableKey', 'is missing', missing],
]

it.each(mistakes)(
  'a deployment is refused for %s, with advice and without the key',
  async (_what, keys, input, advice, code = 'invalid_inputs') => {
    const message = expect.stringContaining(advice)
    const errors = expect.arrayContaining([{ path: `deployment.inputs.${input}`, message }])
    const { status, body } = await create({ ...ownInputs, ...keys })
    expect([status, body]).toMatchObject([422, { code, errors, detail: message }])
    expect(deployment()).toMatchObject({ status: 'failed', outputs: {} })
    const reported = JSON.stringify([body, deployment().logs, deployment().statusHistory])
    for (const key of Object.values(keys)) if (`${key ?? ''}`.trim()) expect(reported).not.toContain(key)
    expect(reported).not.toMatch(/[ps]k_(test|live)_\w{5}/)
    if (code !== rejected) expect(requests).toEqual([])
  },
)

it('a deployment is refused for two invalid keys in one response, and for an instance without a domain', async () => {
  const { body } = await create({ ...ownInputs, publishableKey: 'nonsense', secretKey: 'sk_live_short' })
  const errors = ['publishableKey', 'secretKey'].map((name) => ({ path: `deployment.inputs.${name}` }))
  const detail = expect.stringMatching(/publishableKey does not start .*; secretKey is too short/)
  expect(body).toMatchObject({ errors, detail })
  own.domains.length = 0
  const refusal = { code: rejected, detail: expect.stringContaining('no domain') }
  expect((await create(ownInputs)).body).toMatchObject(refusal)
})

it('an outage of the provider is no fault of a key, and the next delivery connects', async () => {
  backend.faults.add({ status: 503, headers: { 'retry-after': '600' } })
  const { status, body } = await create(ownInputs)
  expect([status, body]).toMatchObject([502, { code: 'provider_error', retryable: true }])
  expect(body).not.toHaveProperty('errors')
  expect(JSON.stringify([body, deployment().logs])).not.toContain('revoked')
  expect(await create(ownInputs)).toMatchObject({ status: 200 })
})

it.each([
  ['malformed', { secretKey: ` ${shared.secretKey}` }, missing],
  ['of two instances', { publishableKey: publishableKeyOf('a.b', 'development') }, rejected],
  ['unknown', { secretKey: `sk_test_${'a1'.repeat(21)}` }, rejected],
])('shared keys that are %s are a fault of the host, and not of an input', async (_what, keys, code) => {
  const { publishableKey, secretKey } = shared
  const response = await create({}, handler({ shared: { publishableKey, secretKey, ...keys } }))
  const detail = expect.stringMatching(/this host.*IDP_SHARED_SECRET_KEY/)
  expect(response).toMatchObject({ status: 422, body: { code, detail } })
  expect(response.body).not.toHaveProperty('errors')
})

it('a deployment accepts the publishable key of every domain in any case, white space, and an odd secret key', async () => {
  const secretKey = `sk_live_${'aXxxXb'.repeat(7)}_x`
  const instance = backend.addInstance({ environmentType: 'production', secretKey })
  const [domain = expect.fail()] = instance.domains
  const frontend_api_url = 'clerk.elsewhere.example'
  instance.domains.push({ ...domain, frontend_api_url: `https://${frontend_api_url}/v1` })
  instance.domains.push({ ...domain, frontend_api_url: 'without.a.scheme' })
  for (const publishableKey of [elsewhere, live('Without.A.SCHEME$'), '{{env.PK}}']) {
    const keys = { publishableKey: ` ${publishableKey}\n`, secretKey: `\t${secretKey} ` }
    const using = handler({ environment: () => ({ value: instance.publishableKey }) })
    expect(await create({ serverType: 'dedicated', ...keys }, using)).toMatchObject({ status: 200 })
    expect(deployment().outputs).toMatchObject({ secretKey })
  }
})

it('a publishable key yields its host and environment, with and without padding, and is refused if it is truncated', () => {
  const label = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}$/)
  const hosts = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'))
  const environments = fc.constantFrom('development' as const, 'production' as const)
  fc.assert(
    fc.property(hosts, environments, fc.nat(), (frontendHost, environment, cut) => {
      const key = publishableKeyOf(frontendHost, environment)
      const bare = key.replace(/=+$/, '')
      const expected = { environment, frontendHost, frontendApiUrl: `https://${frontendHost}` }
      expect([key, bare].map(parsePublishableKey)).toEqual([expected, expected])
      expect(() => parsePublishableKey(bare.slice(0, cut % bare.length))).toThrow(/publishableKey .*copy/)
      if (key.endsWith('==')) expect(() => parsePublishableKey(key.slice(0, -1))).toThrow(/cut off/)
    }),
  )
})

it('a publishable key is parsed or refused, and an error never repeats it', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string().map((text) => `pk_test_${text}`),
    fc.base64String().map((text) => `pk_live_${text}`),
    fc.string().map((text) => `pk_test_${btoa(encodeURIComponent(text))}JA==`),
  )
  let refused = 0
  fc.assert(
    fc.property(anything, (key) => {
      try {
        parsePublishableKey(key)
      } catch (error) {
        refused += 1
        if (!isIntegrationError(error)) throw error
        expect(error).toMatchObject({ code: 'invalid_inputs', errors: [{ path: 'publishableKey' }] })
        if (key.length > 20) expect(error.message).not.toContain(key)
      }
    }),
  )
  expect(refused).toBeGreaterThan(0)
})
