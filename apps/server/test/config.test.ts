import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ConfigurationError, readConfig } from '../src/config.ts'
import { createEnvironmentLookup } from '../src/environment.ts'
import { variables } from '../src/variables.ts'

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
      bodyLimit: 4 * 1024 * 1024,
      requestTimeoutMs: 25_000,
      webhookSecrets: [],
      corsOrigins: [],
      mailer: { shared: { apiToken: undefined } },
    })
  })

  it('has each of its variables in the README', () => {
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
    for (const name of Object.keys(variables.shape)) expect(readme).toContain(`| \`${name}\` |`)
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
      '  BODY_LIMIT: expected a whole number of bytes, of which each 1048576 take 20 ms of the event loop, from 1024 to 33554432',
      '  PLATFORM_API_URL is required: expected an http:// or https:// URL',
      '  PLATFORM_WEBHOOK_SECRET: expected one or more whsec_… (base64 of at least 24 bytes), separated by spaces',
      '  WEBHOOK_AUTH: expected none; leave it empty otherwise',
      '  CORS_ORIGINS: expected origins such as https://app.example.com, separated by commas',
      '  DELIVERY_STORE: expected memory:, sqlite:<file> or redis://host:port/database',
      '  MAILER_API_BASE: expected an http:// or https:// URL',
      '  IDP_SHARED_SECRET_KEY: expected a secret key, sk_…',
    ])
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
      OPERATOR_TOKEN: 'operator-token-of-this-host',
      PLATFORM_WEBHOOK_SECRET: `${SECRET} whsec_${btoa('the next secret of the platform')}`,
      MAILER_SHARED_API_TOKEN: 'mail-token',
      IDP_SHARED_SECRET_KEY: 'sk_test_shared',
      IDP_PLATFORM_API_KEY: 'ak_new ak_earlier',
    }
    const store = { DELIVERY_STORE: 'rediss://user:store%20password@a.example/2' }
    const config = readConfig({ ...required, ...secrets, ...store })
    expect(config.webhookSecrets).toHaveLength(2)
    const { PLATFORM_WEBHOOK_SECRET: several, IDP_PLATFORM_API_KEY: tokens, ...single } = secrets
    const keys = several.split(' ').flatMap((secret) => [secret, secret.replace('whsec_', '')])
    expect(config.secrets.toSorted()).toEqual(
      [...Object.values(single), ...tokens.split(' '), ...keys, 'store password'].toSorted(),
    )
  })

  it('accepts hosts by name, with a port, by address and with a full stop at the end', () => {
    const EGRESS_ALLOW = 'mail.internal,mail_server:8443,[::1]:25,10.0.0.1,a.internal.'
    const PLATFORM_API_URL = 'http://münchen.example.:8080/api/'
    expect(readConfig({ PLATFORM_API_URL, EGRESS_ALLOW })).toMatchObject({
      platform: { baseUrl: PLATFORM_API_URL },
      egressAllow: EGRESS_ALLOW.split(','),
    })
  })

  it('needs a webhook secret and the allowed origins in production, and names both ways out', () => {
    const production = { ...required, NODE_ENV: 'production' }
    const faults = faultsOf(production)
    expect(faults).toContain('set WEBHOOK_AUTH=none if a proxy in front of the host authenticates')
    expect(faults).toContain('CORS_ORIGINS is required')
    for (const authentication of [{ WEBHOOK_AUTH: 'none' }, { PLATFORM_WEBHOOK_SECRET: SECRET }])
      expect(faultsOf({ ...production, ...authentication, CORS_ORIGINS: 'https://a.example' })).toBe('none')
  })

  it.each([
    ['HOST', 'example.com | 0.0.0.0:80 | [::1] | 127.1'],
    ['PORT', '0x50 | 1e3 | 80.0 | -1 | 65536 | ８０'],
    ['BODY_LIMIT', '0 | 1e6 | 10 MiB | 33554433 | 99999999999999999999'],
    ['REQUEST_TIMEOUT_MS', '25s | 0 | Infinity'],
    ['PLATFORM_API_URL', 'https://a.example?x=1 | https://a.example/api#x | https://a.example? | a.example'],
    ['PLATFORM_API_URL', 'https://a.example/a b | https://a.ex\nample | https://a.example\\api'],
    ['PLATFORM_API_URL', 'https://. | https://a..b'],
    ['MAILER_API_BASE', 'https://a.example?x | //a.example'],
    ['PLATFORM_API_TOKEN', 'token\n | to\r\nken | to ken | tok\u0000en | “token”'],
    [
      'OPERATOR_TOKEN',
      'operator-token-of-this-host\n |  operator-token-of-this-host | twenty-three-characters',
    ],
    ['MAILER_SHARED_API_TOKEN', 'token\r'],
    ['MAILER_SHARED_FROM_EMAIL', 'shop | a@b.example\r\nBcc: c@d.example | a@b.example, c@d.example'],
    ['MAILER_SHARED_FROM_EMAIL', 'A\u2028B <a@b.example>'],
    ['IDP_PLATFORM_API_KEY', 'ak\n | ak_1\nak_2 | ak_ä'],
    ['IDP_SHARED_SECRET_KEY', 'sk_test_x\n | pk_test_x | sk_'],
    ['PLATFORM_WEBHOOK_SECRET', ` ,  | whsec_${btoa('23 bytes are too few...')} | ${btoa(SECRET)}`],
    ['CORS_ORIGINS', ', | * | https://. | https://*.example | https://a.example/ | ftp://a.example'],
    ['CORS_ORIGINS', 'https://a.example,null'],
    ['EGRESS_ALLOW', ', | * | *.internal | https://a.example | a.example/x | A.example | ::1 | 443 | a b'],
    ['EGRESS_ALLOW', '- | . | .a | a..b | -a.b | a-.b | a.example,-'],
    ['ENV_REFERENCE_ALLOW', ', | A-B | A*B | {{env.A}} | 1A'],
    ['DELIVERY_STORE', 'sqlite: | sqlite:a\u0000b | sqlite::memory: | sqlite:file:x?mode=memory | memory'],
    ['DELIVERY_STORE', 'redis: | redis:// | redis://:%zz@a.example | redis://u:p\n@a | redis://a,b'],
    ['DELIVERY_STORE', 'redis://a:70000 | redis://a/x | redis://a/1/2 | redis://a?tls=1 | redis://a?x=x'],
    ['DELIVERY_STORE', 'redis+cluster://a | redis+sentinel://a/name | redis:a | redis:///0'],
    ['WEBHOOK_AUTH', 'None | basic'],
    ['LOG_LEVEL', 'INFO | trace'],
  ])('refuses every odd value of %s by its name: %j', (name, values) => {
    for (const value of values.split(' | ')) {
      const faults = faultsOf({ ...required, [name]: value }).split('\n')
      expect([value, faults.length, faults[1]]).toEqual([value, 2, expect.stringContaining(`${name}: `)])
    }
  })

  it.each(['prod', 'Production', 'production ', 'production\r', 'Development', 'dev', 'staging'])(
    'is that of production with NODE_ENV “%s”',
    (NODE_ENV) => expect(faultsOf({ ...required, NODE_ENV })).toContain('is required in production'),
  )

  it.each(['development', ' test\r\n', ' '])('is that of development with NODE_ENV “%s”', (NODE_ENV) =>
    expect(readConfig({ ...required, NODE_ENV }).production).toBe(false),
  )

  it('warns once if webhooks are open, and then listens on the loopback interface alone', () => {
    const open = readConfig({ ...required, HOST: '0.0.0.0' })
    expect(open.warnings).toEqual([expect.stringMatching(/not authenticated.*loopback.*HOST is ignored/)])
    expect(open.hostname).toBe('127.0.0.1')
    const unguarded = { ...required, NODE_ENV: 'production', CORS_ORIGINS: 'https://a.example' }
    const behindProxy = readConfig({ ...unguarded, WEBHOOK_AUTH: 'none' })
    expect(behindProxy.warnings).toEqual([
      expect.stringContaining('A proxy must check them'),
      expect.stringContaining('records have no key'),
    ])
    expect(behindProxy.hostname).toBe('0.0.0.0')
    const guarded = readConfig({ ...required, PLATFORM_WEBHOOK_SECRET: SECRET })
    expect([guarded.warnings, guarded.hostname]).toEqual([[], '127.0.0.1'])
    expect(readConfig({ ...required, PLATFORM_WEBHOOK_SECRET: SECRET, HOST: '::' }).hostname).toBe('::')
  })

  it('warns of a wildcard for every variable, of its own ones, and of records in Redis without a key', () => {
    const { warnings } = readConfig({
      ...required,
      ENV_REFERENCE_ALLOW: 'TENANT_*,*,OPERATOR_TOKEN',
      DELIVERY_STORE: 'redis://redis.test',
    })
    expect(warnings).toEqual([
      expect.stringContaining('not authenticated'),
      expect.stringContaining('ENV_REFERENCE_ALLOW lists OPERATOR_TOKEN:'),
      expect.stringContaining('ENV_REFERENCE_ALLOW is *'),
      expect.stringContaining('records have no key'),
    ])
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

  it('may name only listed variables in production, and none of the host whatever is listed', () => {
    const environmentReferences = ['TENANT_B*', 'X']
    const lookup = createEnvironmentLookup(environment, { production: true, environmentReferences })
    expect(lookup('TENANT_B')).toEqual({ value: 'value-2' })
    expect(lookup('TENANT_TOKEN')).toHaveProperty('problem')
    for (const pattern of ['*', 'PLATFORM_*', 'PLATFORM_API_TOKEN']) {
      const all = createEnvironmentLookup(environment, { production: true, environmentReferences: [pattern] })
      for (const name of ['PLATFORM_API_TOKEN', 'platform_api_token'])
        expect(all(name)).toEqual({ problem: `names ${name}, which this host does not let deployments use` })
    }
  })
})
