import { describe, expect, it } from 'vitest'
import { ConfigurationError, configurationNames, readConfig } from '../src/config.ts'
import { createEnvironmentLookup } from '../src/environment.ts'

const required = { PLATFORM_API_URL: 'https://platform.example.com/api' }
const SECRET = `whsec_${btoa('a secret of the platform')}`

function faultsOf(environment: Record<string, string>): string {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message
    throw error
  }
  return 'none'
}

describe('the configuration', () => {
  it('needs PLATFORM_API_URL only, and has defaults for variables that are not set or empty', () => {
    expect(readConfig({ ...required, MAILER_SHARED_API_TOKEN: ' ', PORT: '' })).toMatchObject({
      production: false,
      port: 3009,
      logLevel: 'info',
      bodyLimit: 10 * 1024 * 1024,
      requestTimeoutMs: 25_000,
      webhookSecrets: [],
      corsOrigins: [],
      mailer: { shared: { apiToken: undefined } },
    })
  })

  it('reports all faults at once, each with the variable and the expected value', () => {
    const faults = faultsOf({
      PORT: 'abc',
      BODY_LIMIT: '12 MB',
      LOG_LEVEL: 'loud',
      CORS_ORIGINS: 'example.com',
      MAILER_API_BASE: 'ftp://mail.example.com',
      IDP_SHARED_SECRET_KEY: 'pk_test_swapped',
      DELIVERY_STORE: 'mongo://x',
      WEBHOOK_AUTH: 'basic',
      PLATFORM_WEBHOOK_SECRET: 'whsec_???',
    })
    expect(faults.split('\n')).toEqual([
      'The configuration has 10 faults:',
      '  PORT: expected a port from 0 to 65535',
      '  LOG_LEVEL: expected debug, info, warn or error',
      '  BODY_LIMIT: expected a whole number of bytes from 1024 to 1073741824',
      '  PLATFORM_API_URL is required: expected an http:// or https:// URL',
      '  PLATFORM_WEBHOOK_SECRET: expected one or more whsec_… (base64), separated by spaces',
      '  WEBHOOK_AUTH: expected none; leave it empty otherwise',
      '  CORS_ORIGINS: expected origins such as https://app.example.com, separated by commas',
      '  DELIVERY_STORE: expected memory:, sqlite:<file> or redis://…',
      '  MAILER_API_BASE: expected an http:// or https:// URL',
      '  IDP_SHARED_SECRET_KEY: expected a secret key, sk_…',
    ])
  })

  it('repeats no value, because it may be a secret in the wrong place', () => {
    const canary = 'canary-4f1c9b'
    const faults = faultsOf(Object.fromEntries(configurationNames.map((name) => [name, canary])))
    expect(faults).toContain('PLATFORM_WEBHOOK_SECRET')
    expect(faults).not.toContain(canary)
  })

  it.each(['PLATFORM_API_URL', 'MAILER_API_BASE', 'IDP_API_BASE', 'IDP_PLATFORM_API_BASE'])(
    'refuses a password in %s without repeating it',
    (name) => {
      const faults = faultsOf({ ...required, [name]: 'https://user:hidden-word@api.example.com' })
      expect(faults).toContain(`${name}: must not contain a user name or password`)
      expect(faults).not.toContain('hidden-word')
    },
  )

  it('lists every secret of the host, to keep it out of the log', () => {
    const secrets = {
      PLATFORM_API_TOKEN: 'platform-token',
      PLATFORM_WEBHOOK_SECRET: `${SECRET} whsec_${btoa('the next one')}`,
      MAILER_SHARED_API_TOKEN: 'mail-token',
      IDP_SHARED_SECRET_KEY: 'sk_test_shared',
      IDP_PLATFORM_API_KEY: 'ak_workspace',
    }
    const store = { DELIVERY_STORE: 'rediss://user:store%20password@redis.example.com' }
    const config = readConfig({ ...required, ...secrets, ...store })
    expect(config.webhookSecrets).toHaveLength(2)
    const { PLATFORM_WEBHOOK_SECRET: several, ...single } = secrets
    const keys = several.split(' ').flatMap((secret) => [secret, secret.replace('whsec_', '')])
    expect(config.secrets.toSorted()).toEqual(
      [...Object.values(single), ...keys, 'store password'].toSorted(),
    )
  })

  it('needs a webhook secret and the allowed origins in production, and names both ways out', () => {
    const production = { ...required, NODE_ENV: 'production' }
    const faults = faultsOf(production)
    expect(faults).toContain('set WEBHOOK_AUTH=none if a proxy in front of the host authenticates')
    expect(faults).toContain('CORS_ORIGINS is required')
    for (const authentication of [{ WEBHOOK_AUTH: 'none' }, { PLATFORM_WEBHOOK_SECRET: SECRET }])
      expect(faultsOf({ ...production, ...authentication, CORS_ORIGINS: 'https://a.example' })).toBe('none')
  })

  it('warns that webhooks are open unless WEBHOOK_AUTH=none is set', () => {
    expect(readConfig(required).warnings).toHaveLength(1)
    expect(readConfig({ ...required, WEBHOOK_AUTH: 'none' }).warnings).toEqual([])
    expect(readConfig({ ...required, PLATFORM_WEBHOOK_SECRET: SECRET }).warnings).toEqual([])
  })
})

describe('a reference to the environment', () => {
  const environment = { TENANT_TOKEN: 'value-1', TENANT_B: 'value-2', PLATFORM_API_TOKEN: 'the host’s own' }

  it('may name any variable outside production but those of the host and inherited properties', () => {
    const lookup = createEnvironmentLookup(environment, { production: false, environmentReferences: [] })
    expect(lookup('TENANT_TOKEN')).toEqual({ value: 'value-1' })
    expect(lookup('PLATFORM_API_TOKEN')).toEqual({
      problem: 'names PLATFORM_API_TOKEN, which this host does not let deployments use',
    })
    for (const name of ['ABSENT', 'constructor', '__proto__', 'toString', 'hasOwnProperty'])
      expect(lookup(name)).toEqual({ problem: `names ${name}, which is not set on this host` })
  })

  it('may name only listed variables in production', () => {
    const environmentReferences = ['TENANT_B*', 'X']
    const lookup = createEnvironmentLookup(environment, { production: true, environmentReferences })
    expect(lookup('TENANT_B')).toEqual({ value: 'value-2' })
    expect(lookup('TENANT_TOKEN')).toHaveProperty('problem')
    expect(lookup('PLATFORM_API_TOKEN')).toHaveProperty('problem')
  })
})
