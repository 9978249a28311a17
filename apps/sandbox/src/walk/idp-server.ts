/**
 * The life of an application of its own: created once, used, and deleted with its deployment.
 *
 * @module
 */
import { platformNotEnabled } from '@org/idp-server/testing'
import type { World } from '../world/world.ts'
import {
  call,
  challenge,
  created,
  type FurtherCheck,
  healthy,
  metrics,
  type Step,
  type Walk,
} from './step.ts'

const portal = { id: 'dep_portal' }
const inputs = { applicationName: 'Portal', template: 'b2b-saas' }

const published = ({ platform }: World) => platform.deployments.get(portal.id)?.outputs ?? {}

/** The applications of the emulated workspace; nobody counts the real one’s. */
const applications = ({ idpServer }: World, number: number): FurtherCheck[] =>
  idpServer.emulator ? [[`${number} in the workspace`, idpServer.emulator.applications.size, number]] : []

const needsApplication = ({ idpServer }: World) =>
  idpServer.mayChange
    ? undefined
    : 'It needs an application in the real workspace; SANDBOX_REAL_EFFECTS=1 lets the walk create one.'

/** For steps that call the new application’s own instance. */
const needsInstance = (world: World) => {
  const bothEmulated = Boolean(world.idp.emulator) === Boolean(world.idpServer.emulator)
  const mixed = 'Half of the identity provider is emulated, and the real half does not know this instance.'
  return needsApplication(world) ?? (bothEmulated ? undefined : mixed)
}

const beginning: Step[] = [
  {
    title: 'A portal goes live without a domain',
    event: created(portal.id, { ...inputs, environmentType: 'production' }),
    expect: (world) => ({
      says: 'refused, with the missing input',
      status: 422,
      body: { code: 'invalid_inputs', errors: [{ path: 'deployment.inputs.domain' }] },
      provider: [],
      statuses: ['deploying', 'failed'],
      also: applications(world, 0),
    }),
  },
  {
    title: 'It begins in development, from a template',
    event: created(portal.id, inputs),
    skip: needsApplication,
    expect: (world) => ({
      says: 'running, with five outputs',
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
      changes: ['POST /v1/platform/applications 200'],
      statuses: ['deploying', 'running'],
      sensitive: ['secretKey'],
      also: applications(world, 1),
    }),
  },
  {
    title: 'It is deployed again',
    event: created(portal.id, inputs),
    skip: needsApplication,
    expect: (world) => ({
      says: 'the same application',
      body: { status: 'running', outputs: { applicationId: published(world).applicationId } },
      changes: [],
      also: applications(world, 1),
    }),
  },
]

const use: Step[] = [
  {
    title: 'Ada signs up',
    event: ({ newcomer }) =>
      call('createUser', { emailAddress: newcomer, firstName: 'Ada', skipPasswordRequirement: true }, portal),
    skip: needsInstance,
    expect: ({ idpServer, newcomer }) => {
      const [application] = idpServer.emulator?.applications.values() ?? []
      return {
        says: 'created',
        body: { result: { emailAddress: newcomer } },
        provider: ['POST /v1/users 200'],
        also: application ? [['in the new instance', application.instances[0]?.users.size, 1]] : [],
      }
    },
  },
  healthy('A health check', portal, needsInstance),
  metrics(
    portal,
    () => [
      { name: 'number_of_users', value: 1 },
      { name: 'number_of_organizations', value: 0 },
    ],
    needsInstance,
  ),
  {
    title: 'The keys for the frontend',
    event: { name: 'DOWNLOAD_STARTED', deployment: portal, download: { id: 'dl_keys', file: '.env.local' } },
    skip: needsApplication,
    expect: (world) => {
      const key = String(published(world).publishableKey)
      const [file] = world.platform.deployments.get(portal.id)?.downloads.get('dl_keys') ?? []
      return {
        says: 'one file',
        body: { files: [{ path: '.env.local' }] },
        also: [['with the key of the new instance', file?.content.includes(key), true]],
      }
    },
  },
]

const end: Step[] = [
  {
    title: 'The portal closes; the event has no outputs',
    event: { name: 'DEPLOYMENT_DELETED', deployment: portal },
    skip: needsApplication,
    expect: (world) => ({
      says: 'stopped',
      body: { status: 'stopped' },
      provider: [`DELETE /v1/platform/applications/${published(world).applicationId} 200`],
      recorded: 'stopped',
      also: applications(world, 0),
    }),
  },
  {
    title: 'It is closed again',
    event: { name: 'DEPLOYMENT_DELETED', deployment: portal },
    skip: needsApplication,
    expect: {
      says: 'stopped: a missing application counts as deleted',
      body: { status: 'stopped' },
      changes: [/^DELETE .* 404$/],
      statuses: ['stopped'],
    },
  },
  {
    title: 'An old event arrives late, out of order',
    event: created(portal.id, inputs),
    skip: needsApplication,
    expect: (world) => ({
      says: 'ignored, with a reason',
      body: { status: 'ignored', reason: /deleted/ },
      silent: true,
      also: applications(world, 0),
    }),
  },
  {
    title: 'A workspace without the beta',
    event: created('dep_campus', { applicationName: 'Campus' }),
    skip: ({ idpServer }) =>
      idpServer.emulator ? undefined : 'The real workspace either has the beta or does not.',
    prepare: ({ idpServer }) =>
      idpServer.emulator?.faults.add({ path: /\/platform\//, ...platformNotEnabled() }),
    expect: {
      says: 'refused, with what to ask for',
      status: 422,
      body: { code: 'provider_rejected', retryable: false, detail: /Platform API beta/ },
      statuses: ['deploying', 'failed'],
      recorded: 'failed',
    },
  },
]

/** The walk of `/idp-server/webhook`. */
export const idpServerWalk: Walk = {
  route: 'idp-server',
  title: 'An application for each deployment',
  steps: [challenge('idp-server'), ...beginning, ...use, ...end],
}
