/** The events of a deployment that attaches to an application, and of none. */
import { describe, expect, it } from 'vitest'
import {
  asFault,
  organizationsDisabled,
  parameterReason,
  Refusal,
  rateLimited,
  reason,
} from '../src/testing/index.ts'
import { runWebhook } from './support.ts'

const { backend, requests, platform, shared, own, ownInputs, ...world } = runWebhook()
const { handler, send, call, create, deployment, statuses, callers } = world

const ofDeployment = { deployment: { id: 'dep_1' } }
const ada = { emailAddress: 'ada@example.com', firstName: 'Ada', password: 'a long pass phrase' }

describe('a deployment', () => {
  const { publishableKey, secretKey } = shared
  const outputs = { publishableKey, secretKey, frontendApiUrl: `https://${shared.frontendHost}` }

  it('attaches to the shared application, publishes its keys, and leaves it unchanged at its end', async () => {
    expect((await create()).body).toEqual({ status: 'running', outputs })
    expect(deployment()).toMatchObject({ outputs, sensitive: ['secretKey'] })
    const message = `Connected to the development instance ${shared.id}.`
    expect(deployment().logs).toMatchObject([{ level: 'info', message }])
    const stopped = await send({ name: 'DEPLOYMENT_DELETED', ...ofDeployment })
    expect(stopped.body).toEqual({ status: 'stopped' })
    expect(statuses()).toEqual(['deploying', 'running', 'stopped'])
    expect(requests.map(({ method, path }) => method + path)).toEqual(['GET/instance', 'GET/domains'])
    expect(callers()).toEqual([shared.id, shared.id])
  })

  it('names the variables of a shared application that lacks a key', async () => {
    const detail = expect.stringMatching(/IDP_SHARED_PUBLISHABLE_KEY.*IDP_SHARED_SECRET_KEY/)
    const body = { code: 'missing_credentials', retryable: false, detail }
    const incomplete = handler({ shared: { publishableKey: 'pk_test_x', secretKey: '' } })
    expect(await create({}, incomplete)).toMatchObject({ status: 422, body })
    expect([statuses(), requests]).toEqual([['deploying', 'failed'], []])
  })

  it('that is shared warns about keys that it ignores', async () => {
    expect(await create({ secretKey: own.secretKey })).toMatchObject({ body: { outputs } })
    const warnings = deployment().logs.filter(({ level }) => level === 'warn')
    expect(warnings).toMatchObject([{ message: expect.stringContaining('dedicated') }])
  })
})

it('HEALTH_CHECK reports a revoked key and a missing key as unhealthy, with the reason', async () => {
  backend.removeInstance(shared.id)
  for (const [using, words] of [
    [handler(), 'revoked'],
    [handler({ shared: undefined }), 'IDP_SHARED_'],
  ] as const) {
    const checks = [{ healthy: false, message: expect.stringContaining(words) }]
    const unhealthy = { status: 200, body: { status: 'unhealthy', checks } }
    expect(await send({ name: 'HEALTH_CHECK' }, using)).toMatchObject(unhealthy)
  }
})

it('METRIC_UPDATE counts users and organizations, none if these are disabled, and fails if their count is refused', async () => {
  shared.createUsers(12)
  for (let count = 0; count < 11; count += 1) shared.createOrganization()
  const measure = () => send({ name: 'METRIC_UPDATE' })
  const metrics = (organizations: number) => [
    { name: 'number_of_users', value: 12 },
    { name: 'number_of_organizations', value: organizations },
  ]
  expect((await measure()).body).toEqual({ metrics: metrics(11) })
  backend.faults.add({ path: /organizations/, ...organizationsDisabled() })
  expect((await measure()).body).toEqual({ metrics: metrics(0) })
  const refusal = new Refusal(403, reason('plan_missing', 'not in the plan'))
  backend.faults.add({ path: /organizations$/, ...asFault(refusal) })
  const body = { code: 'provider_rejected', provider: { status: 403, code: 'plan_missing' } }
  expect(await measure()).toMatchObject({ status: 422, body })
  // Longer than the event may take, and shorter than a call may take by default.
  backend.faults.add({ path: /organizations$/, ...rateLimited(20) })
  const limited = { status: 429, body: { code: 'provider_rate_limited' } }
  expect(await send({ name: 'METRIC_UPDATE' }, handler({ timeoutMs: 10_000 }))).toMatchObject(limited)
})

describe('FUNCTION_CALL', () => {
  it('manages the users and organizations of the deployment’s application', async () => {
    platform.addDeployment({ id: 'dep_1', inputs: ownInputs })
    const run = async (name: string, given: object) =>
      Object((await call(name, given, ofDeployment)).body).result
    const user = await run('createUser', { ...ada, publicMetadata: { plan: 'free' } })
    const { id: userId } = user
    expect(own.users.get(userId)).toMatchObject({ first_name: 'Ada', password_enabled: true })
    expect(await run('getUser', { userId })).toEqual(user)
    expect(await run('listUsers', { limit: 1 })).toEqual({ data: [user], totalCount: 1, nextCursor: null })
    expect(await run('countUsers', { query: 'nobody' })).toEqual({ count: 0 })
    const changes = { firstName: 'Augusta', publicMetadata: { beta: true } }
    const publicMetadata = { plan: 'free', beta: true }
    const changed = { ...changes, publicMetadata, emailAddress: ada.emailAddress }
    expect(await run('updateUser', { userId, ...changes })).toMatchObject(changed)
    const organization = { name: 'Shop', createdBy: userId, maxAllowedMemberships: 0 }
    expect(await run('createOrganization', organization)).toMatchObject(organization)
    const listed = { data: [{ name: 'Shop', membersCount: 1 }], totalCount: 1 }
    const list = { includeMembersCount: true, orderBy: 'name' }
    expect(await run('listOrganizations', list)).toMatchObject(listed)
    expect(await run('deleteUser', { userId })).toEqual({ id: userId, deleted: true })
    expect([own.users.size, new Set(callers())]).toEqual([0, new Set([own.id])])
  })

  it.each([
    ['createUser', { emailAddress: 7 }, 'emailAddress', 'expected a text'],
    ['listUsers', { orderBy: 'created_at' }, 'orderBy', 'createdAt'],
    ['listUsers', { userId: Array(101).fill('user_1') }, 'userId', '100'],
  ])('refuses invalid arguments of %s: %j', async (name, given, path, words) => {
    const errors = expect.arrayContaining([{ path, message: expect.stringContaining(words) }])
    expect(await call(name, given)).toMatchObject({ body: { code: 'invalid_arguments', errors } })
    expect(requests).toEqual([])
  })

  it('tells every error of the provider at the argument’s own name, with the trace id', async () => {
    const words = 'ada@example.com is invalid.'
    const refusal = new Refusal(
      422,
      parameterReason('form_param_format_invalid', 'email_address', 'is invalid', words),
      parameterReason('form_password_pwned', 'password', 'is in a data breach'),
      parameterReason('form_param_nil', 'legal_accepted', 'Accept the terms.'),
      parameterReason('odd', 'ada@example.com', 'is a value, and not a name'),
      reason('no_parameter', 'The instance is read-only.'),
    )
    backend.faults.add(asFault(refusal))
    const message = '[address] is invalid.'
    const traceId = '5e1f0c2d4b6a79880f1e2d3c4b5a6978'
    const provider = { name: 'idp', status: 422, code: 'form_param_format_invalid', message, traceId }
    expect((await call('createUser', ada)).body).toMatchObject({
      code: 'provider_rejected',
      provider,
      errors: [
        { path: 'emailAddress', message },
        { path: 'password', message: 'is in a data breach' },
        { path: 'legal_accepted', message: 'Accept the terms.' },
        { path: '', message: 'is a value, and not a name' },
        { path: '', message: 'The instance is read-only.' },
      ],
    })
  })

  it.each([
    ['createUser', 'username', ada, 'find the user who has it with listUsers'],
    ['createOrganization', 'slug', { name: 'Shop' }, 'Choose another slug'],
  ])('has advice for a value of %s that is taken', async (name, path, given, advice) => {
    shared.createUser({ username: 'taken' })
    shared.createOrganization({ slug: 'taken' })
    const detail = expect.stringMatching(new RegExp(`is taken.*${advice}`))
    const problem = { detail, errors: [{ path }], provider: { code: 'form_identifier_exists' } }
    expect((await call(name, { ...given, [path]: 'taken' })).body).toMatchObject(problem)
  })
})
