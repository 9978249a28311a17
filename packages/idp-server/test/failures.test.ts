import { inspect } from 'node:util'
import type { Fault } from '@org/core/testing'
import { rateLimited } from '@org/idp/testing'
import { describe, expect, it } from 'vitest'
import type { IdpPlatformClient, IdpPlatformClientOptions, IntegrationError } from '../src/index.ts'
import { platformNotEnabled } from '../src/testing/index.ts'
import { failureOf, hostToken, runPlatformApi } from './support.ts'

const fixture = runPlatformApi()
const { provider, requests, waits } = fixture
const always = { times: Number.POSITIVE_INFINITY }

/** Makes a failing call, and checks that its error does not contain the token. */
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
const rejected = { code: 'provider_rejected', status: 422, retryable: false, effect: 'none' }

it.each([402, 403, 404] as const)('a refusal with %i advises to check the beta', async (status) => {
  provider.faults.add({ ...platformNotEnabled(status), ...always })
  for (const call of everyCall) {
    expect(await fail(call)).toMatchObject({
      ...rejected,
      hint: expect.stringContaining('beta'),
      provider: { name: 'idp-server', status, code: expect.any(String) },
    })
  }
  expect(requests).toHaveLength(everyCall.length)
})

it('a refused token advises to check the token and the beta', async () => {
  provider.settings.accessTokens = ['ak_another']
  for (const call of everyCall) {
    expect(await fail(call)).toMatchObject({
      ...rejected,
      code: 'credentials_rejected',
      hint: expect.stringMatching(/access token.*secret key.*beta/),
      provider: { status: 401, code: 'authentication_invalid' },
    })
  }
  expect(requests).toHaveLength(everyCall.length)
})

describe('a create', () => {
  it('is retried after a rate limit within its time', async () => {
    provider.faults.add(rateLimited(2))
    await create(fixture.client())
    expect([waits, requests.length, provider.applications.size]).toEqual([[2_000], 2, 1])
  })

  it.each<[string, Fault, number | undefined, number]>([
    ['the connection broke', { cut: 'after' }, undefined, 1],
    ['no response came in time', { hang: 'after' }, undefined, 1],
    ['the status is 503 with Retry-After', { status: 503, headers: { 'retry-after': '5' } }, 503, 0],
    ['the response is of another endpoint', { status: 200, body: { hello: 'world' } }, 200, 0],
    ['the response has no id', { status: 200, body: { instances: [] }, takesEffect: true }, 200, 1],
  ])('has an unknown outcome and is not retried if %s', async (_what, fault, status, created) => {
    provider.faults.add(fault)
    expect(await fail(create, 'hang' in fault ? { timeoutMs: 1_000 } : {})).toMatchObject({
      code: 'outcome_unknown',
      status: 409,
      retryable: false,
      effect: 'unknown',
      retryAfter: undefined,
      message: expect.stringContaining('whether the application was created'),
      provider: { name: 'idp-server', status },
    })
    expect([requests.length, provider.applications.size, waits]).toEqual([1, created, []])
  })
})

it('every method takes a signal, and is aborted by it before it sends anything', async () => {
  const reason = new Error('the user went away')
  // As the context of an event has it.
  const options = new (class {
    get signal() {
      return AbortSignal.abort(reason)
    }
  })()
  const client = fixture.client()
  const calls = [
    client.createApplication({ name: 'Shop' }, options),
    client.getApplication('app_1', options),
    client.listApplications(options),
    client.deleteApplication('app_1', options),
  ]
  const aborted = { reason: { code: 'aborted', effect: 'none', cause: reason } }
  expect(await Promise.allSettled(calls)).toMatchObject(calls.map(() => aborted))
  expect(requests).toEqual([])
})
