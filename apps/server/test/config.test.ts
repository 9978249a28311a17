import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ConfigurationError, readConfig } from '../src/config.ts'
import { createEnvironmentLookup } from '../src/environment.ts'
import { createFunctionHost } from '../src/runtimes/function-host.ts'
import { variables } from '../src/variables.ts'

const required = { PLATFORM_API_URL: 'https://platform.example.com/api' }
const secretOf = (text: string) => `whsec_${btoa(text)}`
const SECRET = secretOf('a secret of the platform')
const operatorToken = 'operator-token-of-this-host'
const signed = { PLATFORM_WEBHOOK_SECRET: SECRET }
const inProduction = { ...required, NODE_ENV: 'production', CORS_ORIGINS: 'https://a.example' }

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
      ...{ production: false, port: 3009, logLevel: 'info', bodyLimit: 4 * 1024 * 1024 },
      ...{ requestTimeoutMs: 25_000, leaseMs: 30_000, keepAliveMs: 65_000 },
      ...{ webhookSecrets: [], corsOrigins: [], mailer: { shared: { apiToken: undefined } } },
    })
  })

  it('has each of its variables in the README', () => {
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
    for (const name of Object.keys(variables.shape)) expect(readme).toContain(`| \`${name}\` |`)
  })

  it('reports all faults at once, in production the missing secret with both ways out', () => {
    expect(faultsOf({ NODE_ENV: 'production', LOG_LEVEL: 'loud' }).split('\n')).toEqual([
      'The configuration has 4 faults:',
      '  LOG_LEVEL: expected debug, info, warn or error',
      expect.stringContaining('  PLATFORM_API_URL is required: expected an http:// or https:// URL without'),
      expect.stringMatching(/^ {2}PLATFORM_WEBHOOK_SECRET is required .*or set WEBHOOK_AUTH=none if a proxy/),
      '  CORS_ORIGINS is required in production: the allowed origins, separated by commas',
    ])
    for (const wayOut of [{ WEBHOOK_AUTH: 'none' }, signed])
      expect(faultsOf({ ...inProduction, ...wayOut })).toBe('none')
  })

  // A “|” separates values.
  it.each([
    ['HOST', 'example.com | 0.0.0.0:80 | [::1] | 127.1'],
    ['PORT', '0x50 | 1e3 | 80.0 | -1 | 65536 | ８０'],
    ['BODY_LIMIT', '0 | 1e6 | 10 MiB | 33554433 | 99999999999999999999'],
    ['LOG_LEVEL', 'INFO | trace'],
    ['PLATFORM_API_URL', 'a.example | ftp://a.example | https://. | https://a..b | https://u:word@a.test'],
    ['PLATFORM_API_URL', 'https://a.test? | https://a.test/a b | https://a.te\nst | https://a.test\\api'],
    ['PLATFORM_API_URL', 'https://a.test?x=1 | https://a.test#x'],
    ['PLATFORM_API_TOKEN', 'token\n | to\r\nken | to ken | tok\u0000en | “token”'],
    ['OPERATOR_TOKEN', `${operatorToken}\n | ${operatorToken} x | 23-characters-are-short`],
    ['MAILER_SHARED_FROM_EMAIL', 'shop | a@b.test\r\nBcc: c@d.test | a@b.test, c@d.test | a@bücher.test'],
    ['IDP_PLATFORM_API_KEY', 'ak\n | ak_1\nak_2 | ak_ä'],
    ['IDP_SHARED_SECRET_KEY', 'sk_test_x\n | pk_test_x | sk_'],
    ['PLATFORM_WEBHOOK_SECRET', ` ,  | whsec_??? | ${btoa(SECRET)} | ${secretOf('23 bytes are too few...')}`],
    ['WEBHOOK_AUTH', 'None | basic'],
    [
      'CORS_ORIGINS',
      ', | * | https://. | https://*.a | https://a.test/ | ftp://a.test | https://a.test,null | https://bücher.test',
    ],
    ['EGRESS_ALLOW', ', | * | *.internal | https://a.test | a.test/x | A.test | ::1 | 443 | bücher.test'],
    ['EGRESS_ALLOW', 'a b | - | . | .a | a..b | -a.b | a-.b | a.test,-'],
    ['ENV_REFERENCE_ALLOW', ', | A-B | A*B | {{env.A}} | 1A'],
    ['DELIVERY_STORE', 'sqlite: | sqlite:a\u0000b | sqlite::memory: | sqlite:file:x?mode=memory'],
    ['DELIVERY_STORE', 'memory | mongo://x | redis+cluster://a | redis://a/1/2 | redis://a?tls=1'],
    ['DELIVERY_STORE', 'redis: | redis:// | redis://:%zz@a.test | redis://u:p\n@a | redis://a,b | redis:a'],
    ['DELIVERY_STORE', 'redis://a:70000 | redis://a/x'],
  ])('refuses an odd value of %s by its name, and repeats no password of it: %j', (name, values) => {
    for (const value of values.split(' | ')) {
      const [, fault, ...others] = faultsOf({ ...required, [name]: value }).split('\n')
      expect([value, fault, others]).toEqual([value, expect.stringContaining(`${name}: expected `), []])
      expect(fault).not.toContain('u:word')
      if (value.includes('ü')) expect(fault).toContain('as punycode, xn--…')
    }
  })

  it('lists every secret of the host, to keep it out of the log', () => {
    const single = {
      ...{ PLATFORM_API_TOKEN: 'platform-token', OPERATOR_TOKEN: operatorToken },
      ...{ MAILER_SHARED_API_TOKEN: 'mail-token', IDP_SHARED_SECRET_KEY: 'sk_test_shared' },
    }
    const webhookSecrets = [SECRET, secretOf('the next secret of the platform')]
    const config = readConfig({
      ...{ ...required, ...single, PLATFORM_WEBHOOK_SECRET: webhookSecrets.join(' ') },
      IDP_PLATFORM_API_KEY: 'ak_new ak_earlier',
      DELIVERY_STORE: 'rediss://user:store%20password@a.example/2',
    })
    expect(config.webhookSecrets).toEqual(webhookSecrets)
    const keys = webhookSecrets.flatMap((secret) => [secret, secret.replace('whsec_', '')])
    const all = [...Object.values(single), ...keys, 'ak_new', 'ak_earlier', 'store password']
    expect(config.secrets.toSorted()).toEqual(all.toSorted())
  })

  it('accepts hosts by name, with a port, by address and with a full stop at the end', () => {
    const EGRESS_ALLOW = 'mail.internal,mail_server:8443,[::1]:25,10.0.0.1,a.internal.'
    const PLATFORM_API_URL = 'http://münchen.example.:8080/api/'
    const expected = { platform: { baseUrl: PLATFORM_API_URL }, egressAllow: EGRESS_ALLOW.split(',') }
    expect(readConfig({ PLATFORM_API_URL, EGRESS_ALLOW })).toMatchObject(expected)
  })

  it('is that of production with any NODE_ENV but development, test and none', () => {
    for (const NODE_ENV of ['prod', 'Production', 'production\r', 'Development', 'dev', 'staging'])
      expect(faultsOf({ ...required, NODE_ENV })).toContain('is required in production')
    for (const NODE_ENV of ['development', ' test\r\n', ' '])
      expect(readConfig({ ...required, NODE_ENV }).production).toBe(false)
  })

  const careless = {
    ...{ ...inProduction, ...signed, WEBHOOK_AUTH: 'none', PLATFORM_API_URL: 'http://a.example' },
    ...{ HTTPS_PROXY: 'http://proxy', http_proxy: 'http://proxy', MAILER_SHARED_FROM_EMAIL: 'a@b.co' },
    ...{ IDP_SHARED_SECRET_KEY: 'sk_test_x', ENV_REFERENCE_ALLOW: 'TENANT_*,OPERATOR_TOKEN' },
  }
  const ofCareless = [
    ...['HTTPS_PROXY, http_proxy: not used', 'PLATFORM_API_URL is not encrypted', 'one is missing'],
    ...['MAILER_SHARED_FROM_EMAIL has no effect', 'WEBHOOK_AUTH has no effect', 'lists OPERATOR_TOKEN:'],
  ]
  const careful = {
    ...{ ...signed, HOST: '::', MAILER_SHARED_API_TOKEN: 'x', MAILER_SHARED_FROM_EMAIL: 'a@b.co' },
    ...{ IDP_SHARED_PUBLISHABLE_KEY: 'pk_test_x', IDP_SHARED_SECRET_KEY: 'sk_test_x', INTEGRATION_X: 'x' },
  }
  const own = '127.0.0.1'
  it.each<[Record<string, string>, hostname: string, warnings: string[]]>([
    [{ HOST: '0.0.0.0' }, own, ['so the host listens on the loopback interface alone. HOST is ignored']],
    [{ ...inProduction, WEBHOOK_AUTH: 'none' }, '0.0.0.0', ['A proxy must check', 'no key of the host']],
    [signed, own, []],
    [careful, '::', []],
    [{ ...signed, ENV_REFERENCE_ALLOW: 'TENANT_*,*' }, own, ['ENV_REFERENCE_ALLOW is *']],
    [{ ...signed, IDP_SHARED_PUBLISHABLE_KEY: 'pk_test_x' }, own, ['one is missing']],
    [{ DELIVERY_STORE: 'redis://a' }, own, ['not authenticated', 'no key of the host']],
    [careless, '0.0.0.0', ofCareless],
  ])('with %j listens on %s, and warns: %j', (given, hostname, warnings) => {
    const config = readConfig({ ...required, ...given })
    const expected = { hostname, warnings: warnings.map((text) => expect.stringContaining(text)) }
    expect(config).toMatchObject(expected)
  })

  it('warns of a variable that begins as those of the host, or nearly has one of its names', () => {
    const misspelt = {
      ...{ MAILER_SHARED_TOKEN: 'MAILER_SHARED_API_TOKEN', LOGLEVEL: 'LOG_LEVEL', LEASE_SM: 'LEASE_MS' },
      ...{ KEEPALIVE_MS: 'KEEP_ALIVE_MS', ENV_REFRENCE_ALLOW: 'ENV_REFERENCE_ALLOW', PORTS: 'PORT' },
      ...{ DELIVERYSTORE: 'DELIVERY_STORE', EGRES_ALLOW: 'EGRESS_ALLOW', CORS_ORIGIN: 'CORS_ORIGINS' },
    }
    const ofOthers = ['PATH', 'HOME', 'NODE_PATH', 'SECRET_KEY', 'PWD', 'INTEGRATION_SMS_TOKEN']
    const given = Object.fromEntries([...Object.keys(misspelt), ...ofOthers].map((name) => [name, 'x']))
    const warnings = Object.entries(misspelt).map(
      ([name, nearest]) => `${name} is no variable of this host; the nearest name is “${nearest}”.`,
    )
    expect(readConfig({ ...required, ...signed, ...given }).warnings).toEqual(warnings)
  })
})

describe('the configuration of a function', () => {
  const unsigned = { ...inProduction, DELIVERY_STORE: 'redis://redis.test' }
  const onRedis = { ...unsigned, ...signed }
  const development = { ...onRedis, NODE_ENV: 'development' }
  const start = 'The host starts.'
  const oneInstance = 'an effect happens once within one instance only'
  const noFiles = 'one fault:\n  DELIVERY_STORE: this platform keeps no files'
  const noSecret = 'PLATFORM_WEBHOOK_SECRET is required in production'

  it.each<[string, Record<string, string>, status: number, written: string[]]>([
    ['takes Redis, and does not connect to it', onRedis, 200, [start]],
    ['takes memory, and warns', { ...onRedis, DELIVERY_STORE: 'memory:' }, 200, [oneInstance, start]],
    ['takes memory in development', { ...development, DELIVERY_STORE: ' ' }, 200, [oneInstance, start]],
    ['takes no file', { ...development, DELIVERY_STORE: 'sqlite:/deliveries.db' }, 500, [noFiles]],
    ['is that of production without NODE_ENV', { ...unsigned, NODE_ENV: '' }, 500, [noSecret]],
  ])('%s', async (_, environment, status, written) => {
    const write = vi.spyOn(console, 'log').mockReturnValue()
    vi.spyOn(console, 'error').mockImplementation(write)
    onTestFinished(() => void vi.restoreAllMocks())
    const answer = createFunctionHost(environment, () => ({}))
    expect((await answer(new Request('https://host.test/healthz'))).status).toBe(status)
    expect(write.mock.calls).toEqual(written.map((text) => [expect.stringContaining(text)]))
  })
})

describe('a reference to the environment', () => {
  const environment = { TENANT_TOKEN: 'value-1', TENOR: 'value-2', PLATFORM_API_TOKEN: 'the host’s own' }
  const isClosed = (name: string) => ({
    problem: `names ${name}, which this host does not let deployments use`,
  })

  it('may name any variable outside production but those of the host and inherited properties', () => {
    const lookup = createEnvironmentLookup(environment, { production: false, environmentReferences: [] })
    expect(lookup('TENANT_TOKEN')).toEqual({ value: 'value-1' })
    expect(lookup('PLATFORM_API_TOKEN')).toEqual(isClosed('PLATFORM_API_TOKEN'))
    for (const name of ['ABSENT', 'constructor', '__proto__'])
      expect(lookup(name)).toEqual({ problem: `names ${name}, which is not set on this host` })
  })

  it('may name only listed variables in production, and none of the host whatever is listed', () => {
    const ownNames = ['PLATFORM_API_TOKEN', 'platform_api_token', 'INTEGRATION_SMS_TOKEN']
    const environmentReferences = ['TENANT_*', 'TEN', ...ownNames]
    const lookup = createEnvironmentLookup(environment, { production: true, environmentReferences })
    expect(lookup('TENANT_TOKEN')).toEqual({ value: 'value-1' })
    for (const name of ['TENOR', ...ownNames]) expect(lookup(name)).toEqual(isClosed(name))
  })
})
