/** The events of a deployment that attaches to an application, and of none. */
import { describe, expect, it } from 'vitest'
import { asFault, organizationsDisabled, parameterReason, Refusal, reason } from '../src/testing/index.ts'
import { runWebhook } from './support.ts'

const { backend, requests, platform, shared, own, ownInputs, ...world } = runWebhook()
const { handler, send, call, create, deployment, statuses, callers } = world

const ofDeployment = { deployment: { id: 'dep_1' } }
const ada = { emailAddress: 'ada@example.com', firstName: 'Ada', password: 'a long pass phrase' }
const outputsOf = ({ publishableKey, secretKey, frontendHost }: typeof shared) => ({
  publishableKey,
  secretKey,
  frontendApiUrl: `https://${frontendHost}`,
})

describe('DEPLOYMENT_CREATED', () => {
  it.each([{}, { serverType: ' ', publishableKey: '', secretKey: null }])(
    'attaches to the shared application, and publishes its keys: %j',
    async (inputs) => {
      const outputs = outputsOf(shared)
      expect((await create(inputs)).body).toEqual({ status: 'running', outputs })
      expect(deployment()).toMatchObject({ outputs, sensitive: ['secretKey'] })
      expect(statuses()).toEqual(['deploying', 'running'])
      expect(requests.map(({ path }) => path)).toEqual(['/instance', '/domains'])
      expect(callers()).toEqual([shared.id, shared.id])
      const message = `Connected to the development instance ${shared.id}.`
      expect(deployment().logs).toMatchObject([{ level: 'info', message }])
    },
  )

  it('attaches to a dedicated application, whose keys may be variables of the host', async () => {
    const environment = (name: string) => ({
      value: name === 'TENANT_PK' ? own.publishableKey : own.secretKey,
    })
    const keys = { publishableKey: '{{env.TENANT_PK}}', secretKey: '{{ env.TENANT_SK }}' }
    const using = handler({ environment, shared: undefined })
    for (const inputs of [ownInputs, { serverType: 'dedicated', ...keys }])
      expect((await create(inputs, using)).body).toMatchObject({ outputs: outputsOf(own) })
    expect(new Set(callers())).toEqual(new Set([own.id]))
  })

  it.each([undefined, { publishableKey: 'pk_test_x' }, { secretKey: 'sk_x', publishableKey: '' }])(
    'names the variables of the missing shared application: %j',
    async (given) => {
      const detail = expect.stringMatching(/IDP_SHARED_PUBLISHABLE_KEY.*IDP_SHARED_SECRET_KEY/)
      const body = { code: 'missing_credentials', retryable: false, detail }
      expect(await create({}, handler({ shared: given }))).toMatchObject({ status: 422, body })
      expect([statuses(), requests]).toEqual([['deploying', 'failed'], []])
    },
  )

  it('warns about keys that a shared deployment ignores', async () => {
    expect(await create({ secretKey: own.secretKey })).toMatchObject({ body: { outputs: outputsOf(shared) } })
    const warnings = deployment().logs.filter(({ level }) => level === 'warn')
    expect(warnings).toMatchObject([{ message: expect.stringContaining('dedicated') }])
  })
})

it('DEPLOYMENT_DELETED leaves the application unchanged', async () => {
  await create(ownInputs)
  requests.length = 0
  expect((await send({ name: 'DEPLOYMENT_DELETED', ...ofDeployment })).body).toEqual({ status: 'stopped' })
  expect(requests).toEqual([])
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

describe('METRIC_UPDATE', () => {
  const metrics = (users: number, organizations: number) => ({
    metrics: [
      { name: 'number_of_users', value: users },
      { name: 'number_of_organizations', value: organizations },
    ],
  })

  it('counts the users and organizations of the deployment’s instance', async () => {
    await create()
    shared.createUsers(12)
    for (let count = 0; count < 11; count += 1) shared.createOrganization()
    own.createUsers(1)
    expect((await send({ name: 'METRIC_UPDATE', ...ofDeployment })).body).toEqual(metrics(12, 11))
    backend.faults.add({ path: /organizations/, ...organizationsDisabled() })
    expect((await send({ name: 'METRIC_UPDATE' })).body).toEqual(metrics(12, 0))
  })

  it('fails if the provider refuses a count for another reason', async () => {
    const refusal = new Refusal(403, reason('plan_missing', 'not in the plan'))
    backend.faults.add({ path: /organizations$/, ...asFault(refusal) })
    const body = { code: 'provider_rejected', provider: { status: 403, code: 'plan_missing' } }
    expect(await send({ name: 'METRIC_UPDATE' })).toMatchObject({ status: 422, body })
  })
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
    const changed = {
      ...changes,
      emailAddress: ada.emailAddress,
      publicMetadata: { plan: 'free', beta: true },
    }
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
    ['countUsers', { emailAddress: [''] }, 'emailAddress[0]', '>=1 characters'],
  ])('refuses invalid arguments of %s: %j', async (name, given, path, words) => {
    const errors = expect.arrayContaining([{ path, message: expect.stringContaining(words) }])
    const body = { code: 'invalid_arguments', retryable: false, errors }
    expect(await call(name, given)).toMatchObject({ status: 422, body })
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
    ['createUser', 'username', { ...ada, username: 'taken' }, 'find the user who has it with listUsers'],
    ['createOrganization', 'slug', { name: 'Shop', slug: 'taken' }, 'Choose another slug'],
  ])('has advice for a value of %s that is taken', async (name, path, given, advice) => {
    shared.createUser({ username: 'taken' })
    shared.createOrganization({ slug: 'taken' })
    const detail = expect.stringMatching(new RegExp(`is taken.*${advice}`))
    const problem = { detail, errors: [{ path }], provider: { code: 'form_identifier_exists' } }
    expect((await call(name, given)).body).toMatchObject(problem)
  })
})
