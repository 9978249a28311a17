/**
 * The life of a deployment that attaches to an existing application, from swapped keys to its end.
 *
 * @module
 */
import { rateLimited } from '@org/idp/testing'
import { at } from '../world/json.ts'
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

const studio = { id: 'dep_studio' }
/** Valid in shape only. */
const madeUpSecretKey = `sk_test_${'0123456789'.repeat(4)}ab`
const madeUpPublishableKey = `pk_test_${btoa('happy-cat-12.clerk.accounts.dev$')}`

const adaArrives = 'evt_idp_ada'
const adaId = ({ exchanges }: World) => String(at(exchanges.get(adaArrives)?.response.body, 'result', 'id'))

/** For steps that create or delete something. */
const changes = ({ idp }: World) =>
  idp.mayChange ? undefined : 'It would change the real application; SANDBOX_REAL_EFFECTS=1 allows that.'

/** The users of the emulated provider; nobody counts the real one’s. */
const users = ({ idp }: World, number: number): FurtherCheck[] =>
  idp.emulator ? [[`${number} at the provider`, idp.emulator.users.size, number]] : []

const createAda = ({ newcomer }: World) =>
  call(
    'createUser',
    {
      emailAddress: newcomer,
      firstName: 'Ada',
      lastName: 'Lovelace',
      publicMetadata: { plan: 'reader' },
      skipPasswordRequirement: true,
    },
    studio,
  )

const people: Step[] = [
  {
    title: 'Ada signs up',
    event: createAda,
    delivery: adaArrives,
    expect: (world) => ({
      says: 'created',
      body: { result: { id: /^user_/, emailAddress: world.newcomer, firstName: 'Ada' } },
      provider: ['POST /v1/users 200'],
      also: users(world, 1),
    }),
  },
  {
    title: 'The same delivery again, as platforms do',
    event: createAda,
    delivery: adaArrives,
    expect: (world) => ({
      says: 'the recorded response',
      replayed: true,
      body: { result: { id: /^user_/, emailAddress: world.newcomer } },
      silent: true,
      also: users(world, 1),
    }),
  },
  {
    title: 'A search for Ada',
    event: ({ newcomer }) => call('listUsers', { emailAddress: newcomer, limit: 5 }, studio),
    expect: (world) => ({
      says: 'Ada, and nobody else',
      body: {
        result: { data: [{ id: adaId(world), lastName: 'Lovelace' }], totalCount: 1, nextCursor: null },
      },
    }),
  },
  {
    title: 'Ada takes the newsletter',
    event: (world) =>
      call('updateUser', { userId: adaId(world), publicMetadata: { newsletter: true } }, studio),
    expect: {
      says: 'merged with the earlier metadata',
      body: { result: { publicMetadata: { plan: 'reader', newsletter: true } } },
      provider: [/^PATCH \/v1\/users\/user_\w+\/metadata 200$/],
    },
  },
  {
    title: 'An organization for Ada',
    event: (world) =>
      call('createOrganization', { name: 'Analytical Engines', createdBy: adaId(world) }, studio),
    expect: (world) => ({
      says: 'created',
      body: { result: { id: /^org_/, name: 'Analytical Engines', createdBy: adaId(world) } },
      provider: ['POST /v1/organizations 200'],
    }),
  },
  {
    title: 'Grace signs up while the provider is busy',
    event: call(
      'createUser',
      { emailAddress: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper' },
      studio,
    ),
    skip: ({ idp }) => (idp.emulator ? undefined : 'The real provider’s limits are left alone.'),
    prepare: ({ idp }) => idp.emulator?.faults.add({ method: 'POST', path: '/v1/users', ...rateLimited(1) }),
    expect: (world) => ({
      says: 'created, after the pause that the provider asked for',
      body: { result: { emailAddress: 'grace@example.com' } },
      provider: ['POST /v1/users 429', 'POST /v1/users 200'],
      also: users(world, 2),
    }),
  },
  {
    title: 'Ada leaves again',
    event: (world) => call('deleteUser', { userId: adaId(world) }, studio),
    expect: (world) => ({
      says: 'deleted',
      body: { result: { id: adaId(world), deleted: true } },
      also: world.idp.emulator ? [['gone', world.idp.emulator.users.has(adaId(world)), false]] : [],
    }),
  },
]

function download(title: string, id: string, file: '.env.local' | 'middleware.ts', content: RegExp): Step {
  const files = [{ path: file, content }]
  return {
    title,
    event: { name: 'DOWNLOAD_STARTED', deployment: studio, download: { id, file } },
    expect: ({ platform }) => ({
      says: 'one file',
      body: { files },
      provider: [],
      also: [['the platform has it', platform.deployments.get(studio.id)?.downloads.get(id), files]],
    }),
  }
}

/** The walk of `/idp/webhook`. */
export const idpWalk: Walk = {
  route: 'idp',
  title: 'Users and organizations of an application that exists',
  steps: [
    challenge('idp'),
    {
      title: 'A studio swaps its two keys',
      event: created(studio.id, {
        serverType: 'dedicated',
        publishableKey: madeUpSecretKey,
        secretKey: madeUpPublishableKey,
      }),
      expect: {
        says: 'refused, with what to do',
        status: 422,
        body: { code: 'invalid_inputs', retryable: false, detail: /swap them/ },
        provider: [],
        statuses: ['deploying', 'failed'],
        recorded: 'failed',
      },
    },
    {
      title: 'The studio takes the shared application',
      event: created(studio.id, { serverType: 'shared' }),
      expect: ({ idp }) => ({
        says: 'running, with three outputs',
        body: {
          status: 'running',
          outputs: { publishableKey: idp.publishableKey, secretKey: /^sk_/, frontendApiUrl: /^https:/ },
        },
        provider: ['GET /v1/instance 200', 'GET /v1/domains 200'],
        statuses: ['deploying', 'running'],
        sensitive: ['secretKey'],
        recorded: 'running',
      }),
    },
    healthy('A health check', studio),
    ...people.map((step) => ({ skip: changes, ...step })),
    {
      title: 'The number of users',
      event: call('countUsers', {}, studio),
      expect: ({ idp }) => ({
        says: 'counted',
        body: { result: idp.emulator ? { count: idp.emulator.users.size } : {} },
        provider: ['GET /v1/users/count 200'],
      }),
    },
    metrics(studio, ({ idp: { emulator } }) => [
      { name: 'number_of_users', ...(emulator && { value: emulator.users.size }) },
      { name: 'number_of_organizations', ...(emulator && { value: emulator.organizations.size }) },
    ]),
    download(
      'The keys for the frontend',
      'dl_keys',
      '.env.local',
      /^NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY=.*\nCLERK_SECRET_KEY=/m,
    ),
    download(
      'The middleware for the frontend',
      'dl_middleware',
      'middleware.ts',
      /^export default clerkMiddleware\(\)$/m,
    ),
    {
      title: 'The studio closes',
      event: { name: 'DEPLOYMENT_DELETED', deployment: studio },
      expect: {
        says: 'stopped; the application stays',
        body: { status: 'stopped' },
        provider: [],
        recorded: 'stopped',
      },
    },
  ],
}
