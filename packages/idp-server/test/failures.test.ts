import { inspect } from 'node:util'
import { type Fault, serve } from '@org/core/testing'
import { rateLimited } from '@org/idp/testing'
import { describe, expect, it } from 'vitest'
import type { IdpPlatformClient, IdpPlatformClientOptions, IntegrationError } from '../src/index.ts'
import { platformNotEnabled } from '../src/testing/index.ts'
import { applicationsPath, failureOf, hostToken, runPlatformApi } from './support.ts'

const fixture = runPlatformApi()
const { provider, requests, waits } = fixture
const always = { times: Number.POSITIVE_INFINITY }

/** Calls a method, and looks at the error for what must never be in one, with everything that it holds. */
async function fail(
  call: (client: IdpPlatformClient) => Promise<unknown>,
  options: Partial<IdpPlatformClientOptions> = {},
): Promise<IntegrationError> {
  const error = await failureOf(call(fixture.client(options)))
  expect(inspect(error, { depth: null })).not.toContain(hostToken)
  return error
}

const create = (client: IdpPlatformClient) => client.createApplication({ name: 'Shop' })
const read = (client: IdpPlatformClient) => client.getApplication('app_1')
const list = (client: IdpPlatformClient) => client.listApplications()
const remove = (client: IdpPlatformClient) => client.deleteApplication('app_1')
const everyCall = [create, read, list, remove]

describe('a Platform API that is not enabled for the workspace', () => {
  it.each([402, 403, 404] as const)('and says so with %i is explained as that', async (status) => {
    provider.faults.add({ ...platformNotEnabled(status), ...always })
    for (const call of everyCall) {
      expect(await fail(call)).toMatchObject({
        code: 'provider_rejected',
        status: 422,
        retryable: false,
        sent: 'no',
        hint: expect.stringContaining('beta'),
        provider: { name: 'idp-server', status, code: expect.any(String) },
      })
    }
    expect(requests).toHaveLength(everyCall.length)
  })

  it('or a token that it does not take is explained as either', async () => {
    provider.settings.accessTokens = ['ak_another']
    for (const call of everyCall) {
      expect(await fail(call)).toMatchObject({
        code: 'credentials_rejected',
        status: 422,
        retryable: false,
        sent: 'no',
        hint: expect.stringMatching(/access token.*secret key.*beta/),
        provider: { status: 401, code: 'authentication_invalid' },
      })
    }
    expect(requests).toHaveLength(everyCall.length)
  })
})

describe('a create that the provider refuses', () => {
  it('says why in the provider’s words', async () => {
    provider.addApplication({ name: 'Shop', domain: 'example.com', environment_types: ['production'] })
    const production = { name: 'Blog', domain: 'example.com', environmentTypes: ['production'] } as const
    expect(await fail((client) => client.createApplication(production))).toMatchObject({
      code: 'provider_rejected',
      status: 422,
      retryable: false,
      sent: 'no',
      message: expect.stringContaining('already in use by another application'),
      provider: { name: 'idp-server', status: 422, code: 'home_url_taken' },
    })
    expect(requests).toHaveLength(1)
  })

  it.each<[string, Fault, number]>([
    ['a page with 403', { html: true, status: 403 }, 403],
    ['nothing but 404', { status: 404 }, 404],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, 302],
  ])('with %s, points at the base URL', async (_what, fault, status) => {
    provider.faults.add(fault)
    expect(await fail(create)).toMatchObject({
      code: 'provider_rejected',
      sent: 'no',
      message: expect.stringContaining('base URL'),
      provider: { status, code: undefined },
    })
    expect(requests).toHaveLength(1)
  })
})

it('a redirect is not followed: the token reaches nobody else', async () => {
  let reached = 0
  const elsewhere = await serve(async () => {
    reached += 1
    return Response.json({})
  })
  for (const status of [301, 302, 303, 307, 308]) {
    provider.faults.add({ status, headers: { location: elsewhere.url } })
    expect(await fail(create)).toMatchObject({ code: 'provider_rejected' })
  }
  await elsewhere.close()
  expect(reached).toBe(0)
})

describe('a create that is asked to slow down', () => {
  it('waits as long as it was told, and succeeds', async () => {
    provider.faults.add(rateLimited(2))
    await create(fixture.client())
    expect([waits, requests.length, provider.applications.size]).toEqual([[2_000], 2, 1])
  })

  it('gives up at once where the wait would outlast its time, and says how long', async () => {
    provider.faults.add(rateLimited(120))
    expect(await fail(create)).toMatchObject({
      code: 'provider_rate_limited',
      status: 429,
      retryable: true,
      sent: 'no',
      retryAfter: 120,
    })
    expect([waits, requests.length]).toEqual([[], 1])
  })
})

describe('a create of which nobody knows whether it happened is never sent twice:', () => {
  it.each<[string, Fault, number | undefined, number]>([
    ['the connection broke before the provider took it', { cut: 'before' }, undefined, 0],
    ['the connection broke after the provider took it', { cut: 'after' }, undefined, 1],
    ['the connection broke during the answer', { cut: 'during' }, 200, 1],
    ['no answer in time, and nothing created', { hang: true }, undefined, 0],
    ['no answer in time, and it is there', { hang: 'after' }, undefined, 1],
    ['408', { status: 408 }, 408, 0],
    ['500', { status: 500 }, 500, 0],
    ['502', { status: 502 }, 502, 0],
    ['503 with a time to wait', { status: 503, headers: { 'retry-after': '5' } }, 503, 0],
    ['504, and it is there', { status: 504, takesEffect: true }, 504, 1],
    ['a page with 200', { html: true }, 200, 0],
    ['nothing with 200', { empty: true }, 200, 1],
    ['half an answer', { truncate: true }, 200, 1],
    ['an answer to something else', { status: 200, body: { hello: 'world' } }, 200, 0],
    ['an answer without an id', { status: 200, body: { instances: [] }, takesEffect: true }, 200, 1],
  ])('%s', async (_what, fault, status, created) => {
    provider.faults.add(fault)
    expect(await fail(create, 'hang' in fault ? { timeoutMs: 100 } : {})).toMatchObject({
      code: 'outcome_unknown',
      status: 409,
      retryable: false,
      sent: 'unknown',
      retryAfter: undefined,
      message: expect.stringContaining('It is not known whether the application was created'),
      provider: { name: 'idp-server', status },
    })
    expect([requests.length, provider.applications.size, waits]).toEqual([1, created, []])
  })

  it('its caller ended it', async () => {
    provider.faults.add({ hang: 'after' })
    const controller = new AbortController()
    fixture.atRequest(() => controller.abort())
    const { signal } = controller
    const failure = await fail((client) => client.createApplication({ name: 'Shop' }, { signal }))
    expect(failure).toMatchObject({ code: 'outcome_unknown', sent: 'unknown' })
    expect(requests).toHaveLength(1)
  })
})

describe('a create that ends before anything left', () => {
  it('rejects with its caller’s reason', async () => {
    const reason = new Error('the user went away')
    const signal = AbortSignal.abort(reason)
    await expect(fixture.client().createApplication({ name: 'Shop' }, { signal })).rejects.toBe(reason)
    expect(requests).toEqual([])
  })

  it('may be tried later where it was the time that ran out', async () => {
    const failure = await fail((client) => client.createApplication({ name: 'Shop' }, { timeoutMs: 0 }))
    expect(failure).toMatchObject({ code: 'provider_timeout', status: 504, retryable: true, sent: 'no' })
    expect(requests).toEqual([])
  })

  it('or finds nobody to speak to, is tried three times', async () => {
    const server = await serve(async () => new Response())
    await server.close()
    expect(await fail(create, { baseUrl: `${server.url}/v1` })).toMatchObject({
      code: 'provider_error',
      status: 502,
      retryable: true,
      sent: 'no',
    })
    expect(waits).toHaveLength(2)
  })
})

describe.each([
  ['reading', read],
  ['listing', list],
  ['deleting', remove],
] as const)('%s', (_what, call) => {
  it.each<[string, Fault, object, number]>([
    ['500, three times', { status: 500, times: 3 }, { code: 'provider_error', retryable: true }, 3],
    ['408, three times', { status: 408, times: 3 }, { code: 'provider_timeout', retryable: true }, 3],
    ['cut connections', { cut: 'before', times: 3 }, { code: 'provider_error', retryable: true }, 3],
    ['pages', { html: true, times: 3 }, { code: 'provider_error', retryable: true }, 3],
    ['something else', { status: 200, body: {} }, { code: 'provider_error', hint: 'Check the base URL.' }, 1],
    ['a page with 404', { html: true, status: 404 }, { code: 'provider_rejected', retryable: false }, 1],
  ])('fails for %s, and may be done again', async (_fault, fault, expected, calls) => {
    provider.faults.add(fault)
    expect(await fail(call)).toMatchObject({ ...expected, sent: 'no' })
    expect(requests).toHaveLength(calls)
  })
})

it('a delete whose answer got lost is repeated, and then finds the application gone', async () => {
  const { applicationId } = provider.addApplication({ name: 'Shop' })
  provider.faults.add({ method: 'DELETE', path: `${applicationsPath}/${applicationId}`, cut: 'after' })
  expect(await fail((client) => client.deleteApplication(applicationId))).toMatchObject({
    provider: { status: 404, code: 'resource_not_found' },
  })
  expect([requests.length, provider.applications.size]).toEqual([2, 0])
})
