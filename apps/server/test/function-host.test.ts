import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import { createFunctionHost } from '../src/runtimes/function-host.ts'

const production = {
  NODE_ENV: 'production',
  PLATFORM_API_URL: 'https://platform.test',
  PLATFORM_WEBHOOK_SECRET: `whsec_${btoa('a secret of the platform')}`,
  CORS_ORIGINS: 'https://app.example.com',
  DELIVERY_STORE: 'redis://default:hidden-word@redis.test',
}

let errors: MockInstance<typeof console.error>
let log: MockInstance<typeof console.log>
beforeEach(() => {
  errors = vi.spyOn(console, 'error').mockReturnValue()
  log = vi.spyOn(console, 'log').mockReturnValue()
})
afterEach(() => vi.restoreAllMocks())

/** The lines of the log but the first one, which says that the host starts. */
const linesOf = ({ mock }: MockInstance) => mock.calls.slice(1).map(([line]) => JSON.parse(line))
const textOf = ({ mock }: MockInstance) => mock.calls.flat().join('\n')

/** The status of a function with these variables. */
async function start(variables: Record<string, string | undefined>): Promise<number> {
  const { fetch } = createFunctionHost(variables, () => ({}))
  return (await fetch(new Request('https://host.test/healthz'))).status
}

describe('a function', () => {
  it('starts without connecting to Redis', async () => {
    expect(await start(production)).toBe(200)
    expect(textOf(log)).toContain('The host starts.')
    expect([textOf(errors), linesOf(log)]).toEqual(['', []])
  })

  it.each(['production', 'development'])(
    'refuses a file as its store in %s without repeating its name',
    async (NODE_ENV) => {
      expect(await start({ ...production, NODE_ENV, DELIVERY_STORE: 'sqlite:/hidden-word.db' })).toBe(500)
      expect(textOf(errors)).toContain('one fault:\n  DELIVERY_STORE: this platform keeps no files')
      expect(textOf(errors)).not.toContain('hidden-word')
    },
  )

  it.each([
    ['if it is configured', { DELIVERY_STORE: 'memory:' }],
    ['outside production by default', { NODE_ENV: 'development', DELIVERY_STORE: ' ' }],
  ])('keeps deliveries in memory %s, with a warning', async (_, chosen) => {
    expect(await start({ ...production, ...chosen })).toBe(200)
    const message = expect.stringContaining('an effect happens once within one instance only')
    expect(linesOf(log)).toMatchObject([{ level: 'warn', message }])
  })

  it('is in production without NODE_ENV', async () => {
    const variables = { PLATFORM_API_URL: 'https://platform.test', DELIVERY_STORE: 'memory:' }
    expect(await start({ ...variables, NODE_ENV: '' })).toBe(500)
    expect(textOf(errors)).toContain('PLATFORM_WEBHOOK_SECRET is required in production')
    expect(textOf(errors)).toContain('Without NODE_ENV, a function is in production.')
    expect(await start({ ...variables, NODE_ENV: 'development' })).toBe(200)
  })
})
