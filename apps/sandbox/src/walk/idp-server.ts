/** The life of an application of its own: created once, used, and deleted with its deployment. */
import { platformNotEnabled } from '@org/idp-server/testing'
import type { World } from '../world/world.ts'
import { counted, gives, lifeOf, refused, running, type Step, type Walk } from './step.ts'

const inputs = { applicationName: 'Portal', template: 'b2b-saas' }
const portal = lifeOf('dep_portal', inputs)
const campus = lifeOf('dep_campus', { applicationName: 'Campus' })

const published = ({ platform }: World) => platform.deployments.get(portal.id)?.outputs ?? {}

const applications = ({ idpServer }: World, number: number) =>
  counted('in the workspace', idpServer.emulator?.applications.size, number)

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

const missing = { errors: [{ path: 'deployment.inputs.domain' }] }
const ids = { applicationId: /^app_/, instanceId: /^ins_/, frontendApiUrl: /^https:/ }
const created = { ...ids, publishableKey: /^pk_test_/, secretKey: /^sk_test_/ }
const metrics = Object.entries({ number_of_users: 1, number_of_organizations: 0 }).map(([name, value]) => ({
  name,
  value,
}))

const life: Step[] = [
  portal.created('It begins in development, from a template', (world) =>
    running('running, with five outputs', created, {
      changes: ['POST /v1/platform/applications 200'],
      sensitive: ['secretKey'],
      also: applications(world, 1),
    }),
  ),
  portal.created('It is deployed again', (world) => ({
    says: 'the same application',
    body: { status: 'running', outputs: { applicationId: published(world).applicationId } },
    changes: [],
    also: applications(world, 1),
  })),
  {
    ...portal.call(
      'Ada signs up',
      'createUser',
      ({ newcomer }) => ({ emailAddress: newcomer, firstName: 'Ada', skipPasswordRequirement: true }),
      ({ newcomer, idpServer }) => {
        const [application] = idpServer.emulator?.applications.values() ?? []
        const found = application?.instances[0]?.users.size
        const seen = counted('in the new instance', found, 1)
        return gives('created', { emailAddress: newcomer }, ['POST /v1/users 200'], seen)
      },
    ),
    skip: needsInstance,
  },
  { ...portal.healthy('A health check'), skip: needsInstance },
  { ...portal.metrics(() => metrics), skip: needsInstance },
  portal.download(
    'The keys for the frontend',
    '.env.local',
    (world) => new RegExp(String(published(world).publishableKey)),
  ),
  portal.deleted('The portal closes; the event has no outputs', 'stopped', (world) => ({
    changes: [`DELETE /v1/platform/applications/${published(world).applicationId} 200`],
    also: applications(world, 0),
  })),
  portal.deleted('It is closed again', 'stopped: a missing application counts as deleted', {
    changes: [],
  }),
  portal.late(),
]

/** The walk of `/idp-server/webhook`. */
export const idpServerWalk: Walk = {
  route: 'idp-server',
  title: 'An application for each deployment',
  steps: [
    portal.created(
      'A portal goes live without a domain',
      refused('refused, with the missing input', 'invalid_inputs', missing, { provider: [] }),
      { ...inputs, environmentType: 'production' },
    ),
    ...life.map((step) => ({ skip: needsApplication, ...step })),
    {
      ...campus.created(
        'A workspace without the beta',
        refused('refused, with what to ask for', 'provider_rejected', { detail: /Platform API beta/ }),
      ),
      skip: ({ idpServer }) =>
        idpServer.emulator ? undefined : 'The real workspace either has the beta or does not.',
      prepare: ({ idpServer }) =>
        idpServer.emulator?.faults.add({ path: /\/platform\//, ...platformNotEnabled() }),
    },
  ],
}
