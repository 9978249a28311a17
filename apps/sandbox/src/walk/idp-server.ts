/**
 * The life of an application that is provisioned: created once, used, and deleted with its deployment.
 *
 * @module
 */
import type { PlatformEvent } from '@org/core'
import { platformNotEnabled } from '@org/idp-server/testing'
import { type Check, check, providerCalls, told, toldStatuses } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import type { World } from '../world.ts'
import { describeIdpCall } from './idp-calls.ts'
import type { Step, Walk } from './step.ts'

/** The deployment that the walk is about. */
const portal = { id: 'dep_portal' }
const inputs = { applicationName: 'Portal', template: 'b2b-saas' }

const created = (id: string, inputs: Record<string, unknown>): PlatformEvent => ({
  name: 'DEPLOYMENT_CREATED',
  deployment: { id, inputs },
})

/** What the host changed at the Platform API. */
const effects = (exchange: Exchange) => providerCalls(exchange).filter((call) => !call.startsWith('GET '))

const published = ({ platform }: World) => platform.deployments.get(portal.id)?.outputs ?? {}

/** What the emulated workspace has; nobody counts the real one's. */
const applications = ({ idpServer }: World, what: string, number: number): Check[] =>
  idpServer.emulator ? [check(what, idpServer.emulator.applications.size, number)] : []

/** For steps about an application that has to be created first. */
const needsApplication = ({ idpServer }: World) =>
  idpServer.mayChange
    ? undefined
    : 'It needs an application in the real workspace; SANDBOX_REAL_EFFECTS=1 lets the walk create one.'

/** For steps that speak to the new application's own instance. */
const needsInstance = (world: World) => {
  const bothEmulated = Boolean(world.idp.emulator) === Boolean(world.idpServer.emulator)
  const mixed = 'Half of the identity provider is emulated, and the real half does not know this instance.'
  return needsApplication(world) ?? (bothEmulated ? undefined : mixed)
}

const beginning: Step[] = [
  {
    title: 'The platform asks whether anybody is there',
    event: { name: 'WEBHOOK_CHALLENGE', challenge: 'c_idp_server' },
    expect: ({ answer }) => [
      check('the challenge comes back', answer, { status: 200, body: { challenge: 'c_idp_server' } }),
    ],
  },
  {
    title: 'A portal goes live, and names no domain',
    event: created(portal.id, { ...inputs, environmentType: 'production' }),
    expect: (exchange, world) => [
      check('refused, with the input that is missing', exchange.answer, {
        status: 422,
        body: { code: 'invalid_inputs', errors: [{ path: 'deployment.inputs.domain' }] },
      }),
      check('the provider was not asked', providerCalls(exchange), []),
      check('the platform saw it fail', toldStatuses(exchange), ['deploying', 'failed']),
      ...applications(world, 'no application', 0),
    ],
  },
  {
    title: 'It begins in development, from a template',
    event: created(portal.id, inputs),
    skip: needsApplication,
    expect: (exchange, world) => [
      check('running, with five outputs', exchange.answer, {
        status: 200,
        body: {
          status: 'running',
          outputs: {
            applicationId: /^app_/,
            instanceId: /^ins_/,
            publishableKey: /^pk_test_/,
            secretKey: /^sk_test_/,
            frontendApiUrl: /^https:/,
          },
        },
      }),
      check('one application was created', effects(exchange), ['POST /v1/platform/applications 200']),
      check('the platform saw it start', toldStatuses(exchange), ['deploying', 'running']),
      check('the key was published as sensitive', told(exchange, 'outputs'), [{ sensitive: ['secretKey'] }]),
      ...applications(world, 'one application', 1),
    ],
  },
  {
    title: 'It is deployed again',
    event: created(portal.id, inputs),
    skip: needsApplication,
    expect: (exchange, world) => [
      check('the same application', exchange.answer, {
        status: 200,
        body: { status: 'running', outputs: { applicationId: published(world).applicationId } },
      }),
      check('nothing was created', effects(exchange), []),
      ...applications(world, 'still one application', 1),
    ],
  },
]

const use: Step[] = [
  {
    title: 'Ada signs up',
    event: ({ newcomer }) => ({
      name: 'FUNCTION_CALL',
      functionCall: {
        name: 'createUser',
        arguments: { emailAddress: newcomer, firstName: 'Ada', skipPasswordRequirement: true },
      },
      deployment: portal,
    }),
    skip: needsInstance,
    expect: (exchange, { idpServer, newcomer }) => {
      const [application] = idpServer.emulator?.applications.values() ?? []
      return [
        check('created', exchange.answer, { status: 200, body: { result: { emailAddress: newcomer } } }),
        check('one call', providerCalls(exchange), ['POST /v1/users 200']),
        ...(application ? [check('in the new instance', application.instances[0]?.users.size, 1)] : []),
      ]
    },
  },
  {
    title: 'Is it well?',
    event: { name: 'HEALTH_CHECK', deployment: portal },
    skip: needsInstance,
    expect: (exchange) => [
      check('healthy', exchange.answer, { status: 200, body: { status: 'healthy' } }),
      check('the platform was told', toldStatuses(exchange), ['running']),
    ],
  },
  {
    title: 'The platform collects its metrics',
    event: { name: 'METRIC_UPDATE', deployment: portal },
    skip: needsInstance,
    expect: (exchange) => {
      const metrics = [
        { name: 'number_of_users', value: 1 },
        { name: 'number_of_organizations', value: 0 },
      ]
      return [
        check('two metrics, of this instance alone', exchange.answer, { status: 200, body: { metrics } }),
        check('reported to the platform', told(exchange, 'metrics'), [{ metrics }]),
      ]
    },
  },
  {
    title: 'The frontend’s keys',
    event: {
      name: 'DOWNLOAD_STARTED',
      deployment: portal,
      download: { id: 'dl_keys', file: '.env.local' },
    },
    skip: needsApplication,
    expect: (exchange, world) => {
      const key = String(published(world).publishableKey)
      const [file] = world.platform.deployments.get(portal.id)?.downloads.get('dl_keys') ?? []
      return [
        check('one file', exchange.answer, { status: 200, body: { files: [{ path: '.env.local' }] } }),
        check('with the key of the new instance', file?.content.includes(key), true),
      ]
    },
  },
]

const end: Step[] = [
  {
    title: 'The portal closes; no outputs come along',
    event: { name: 'DEPLOYMENT_DELETED', deployment: portal },
    skip: needsApplication,
    expect: (exchange, world) => [
      check('stopped', exchange.answer, { status: 200, body: { status: 'stopped' } }),
      check('the application was found, and deleted', providerCalls(exchange), [
        `DELETE /v1/platform/applications/${published(world).applicationId} 200`,
      ]),
      check('it is on record as stopped', world.platform.deployments.get(portal.id), { status: 'stopped' }),
      ...applications(world, 'no application is left', 0),
    ],
  },
  {
    title: 'It is closed again',
    event: { name: 'DEPLOYMENT_DELETED', deployment: portal },
    skip: needsApplication,
    expect: (exchange) => [
      check('stopped', exchange.answer, { status: 200, body: { status: 'stopped' } }),
      check('what is gone already counts as deleted', effects(exchange), [/^DELETE .* 404$/]),
      check('nobody was alarmed', toldStatuses(exchange), ['stopped']),
    ],
  },
  {
    title: 'An old event arrives late, out of order',
    event: created(portal.id, inputs),
    skip: needsApplication,
    expect: (exchange, world) => [
      check('ignored, with a reason', exchange.answer, {
        status: 200,
        body: { status: 'ignored', reason: /deleted/ },
      }),
      check('nobody was called', exchange.calls, []),
      ...applications(world, 'no application came back', 0),
    ],
  },
  {
    title: 'A workspace without the beta',
    event: created('dep_campus', { applicationName: 'Campus' }),
    skip: ({ idpServer }) => (idpServer.emulator ? undefined : 'The real workspace has it, or has not.'),
    prepare: ({ idpServer }) =>
      idpServer.emulator?.faults.add({ path: /\/platform\//, ...platformNotEnabled() }),
    expect: (exchange, { platform }) => [
      check('refused, with what to ask for', exchange.answer, {
        status: 422,
        body: { code: 'provider_rejected', retryable: false, detail: /Platform API beta/ },
      }),
      check('the platform saw it fail', toldStatuses(exchange), ['deploying', 'failed']),
      check('it is on record as failed', platform.deployments.get('dep_campus'), { status: 'failed' }),
    ],
  },
]

/** The walk of `/idp-server/webhook`. */
export const idpServerWalk: Walk = {
  route: 'idp-server',
  title: 'An application of one’s own, provisioned',
  steps: [...beginning, ...use, ...end],
  describeCall: describeIdpCall,
}
