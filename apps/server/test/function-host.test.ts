import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import { createFunctionHost } from '../src/runtimes/function-host.ts'

const production = {
  NODE_ENV: 'production',
  PLATFORM_API_URL: 'https://platform.test',
  PLATFORM_WEBHOOK_SECRET: `whsec_${btoa('a secret of the platform')}`,
  CORS_ORIGINS: 'https://app.example.com',
  DELIVERY_STORE: 'redis://default:hidden-word@redis.test',
}

let faults: MockInstance<typeof console.error>
let log: MockInstance<typeof console.log>
beforeEach(() => {
  faults = vi.spyOn(console, 'error').mockReturnValue()
  log = vi.spyOn(console, 'log').mockReturnValue()
})
afterEach(() => vi.restoreAllMocks())

const said = ({ mock }: MockInstance) => mock.calls.flat().join('\n')

/** Asks a function with these variables. */
async function ask(variables: Record<string, string | undefined>) {
  const { fetch } = createFunctionHost(variables, () => ({}))
  const response = await fetch(new Request('https://host.test/healthz'))
  return { status: response.status, body: await response.json() }
}

describe('a function', () => {
  it('starts without connecting to Redis', async () => {
    expect(await ask(production)).toEqual({ status: 200, body: { status: 'ok' } })
    expect(faults).not.toHaveBeenCalled()
    expect(log).not.toHaveBeenCalled()
  })

  it.each(['production', 'development'])(
    'refuses a file as its store in %s without repeating its name',
    async (env) => {
      const { status } = await ask({ ...production, NODE_ENV: env, DELIVERY_STORE: 'sqlite:/hidden-word.db' })
      expect(status).toBe(500)
      expect(said(faults)).toMatch(
        /^The configuration has one fault:\n {2}DELIVERY_STORE: this platform keeps no files/,
      )
      expect(said(faults)).not.toContain('hidden-word')
    },
  )

  it.each([
    ['if it is configured', { DELIVERY_STORE: 'memory:' }],
    ['outside production by default', { NODE_ENV: 'development', DELIVERY_STORE: ' ' }],
  ])('keeps deliveries in memory %s, with a warning', async (_, chosen) => {
    expect(await ask({ ...production, ...chosen })).toMatchObject({ status: 200 })
    expect(said(log)).toContain('an effect happens once within one instance only')
    expect(JSON.parse(said(log))).toMatchObject({ level: 'warn' })
  })

  it('is in production without NODE_ENV', async () => {
    const variables = { PLATFORM_API_URL: 'https://platform.test', DELIVERY_STORE: 'memory:' }
    expect(await ask({ ...variables, NODE_ENV: '' })).toMatchObject({ status: 500 })
    expect(said(faults)).toContain('PLATFORM_WEBHOOK_SECRET is required in production')
    expect(said(faults)).toContain('Without NODE_ENV, a function is in production.')
    expect(await ask({ ...variables, NODE_ENV: 'development' })).toMatchObject({ status: 200 })
  })

  it('answers every request with the same problem, and logs the faults once', async () => {
    const { fetch } = createFunctionHost({ ...production, PLATFORM_API_URL: 'nowhere' }, () => ({}))
    for (const path of ['/readyz', '/mailer/webhook', '/nowhere']) {
      const response = await fetch(new Request(`https://host.test${path}`, { method: 'POST', body: '{}' }))
      expect(response.status).toBe(500)
      expect(response.headers.get('content-type')).toBe('application/problem+json')
      expect(await response.json()).toMatchObject({ code: 'internal_error', retryable: true })
    }
    expect(faults).toHaveBeenCalledOnce()
  })
})
