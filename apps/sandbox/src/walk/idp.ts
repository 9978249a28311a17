/** The life of a deployment that attaches to an existing application, from swapped keys to its end. */
import { rateLimited } from '@org/idp/testing'
import { at } from '../world/json.ts'
import type { World } from '../world/world.ts'
import { counted, gives, lifeOf, refused, running, type Step, type Walk } from './step.ts'

const studio = lifeOf('dep_studio', { serverType: 'shared' })
/** Valid in shape only, and each in the field of the other. */
const swappedKeys = {
  serverType: 'dedicated',
  publishableKey: `sk_test_${'0123456789'.repeat(4)}ab`,
  secretKey: `pk_test_${btoa('happy-cat-12.clerk.accounts.dev$')}`,
}

const adaArrives = 'evt_idp_ada'
const adaId = ({ exchanges }: World) => String(at(exchanges.get(adaArrives)?.response.body, 'result', 'id'))

/** For steps that create or delete something. */
const changes = ({ idp }: World) =>
  idp.mayChange ? undefined : 'It would change the real application; SANDBOX_REAL_EFFECTS=1 allows that.'

const users = ({ idp }: World, number: number) => counted('at the provider', idp.emulator?.users.size, number)

const ada = { firstName: 'Ada', publicMetadata: { plan: 'reader' }, skipPasswordRequirement: true }
const grace = { emailAddress: 'grace@example.com', firstName: 'Grace' }
const id = (world: World) => ({ userId: adaId(world) })

const people: Step[] = [
  {
    ...studio.call(
      'Ada signs up',
      'createUser',
      ({ newcomer }) => ({ emailAddress: newcomer, ...ada }),
      (world) => {
        const made = { id: /^user_/, emailAddress: world.newcomer, firstName: 'Ada' }
        return gives('created', made, ['POST /v1/users 200'], users(world, 1))
      },
    ),
    delivery: adaArrives,
  },
  studio.call(
    'Ada takes the newsletter',
    'updateUser',
    (world) => ({ ...id(world), publicMetadata: { newsletter: true } }),
    gives('merged with the earlier metadata', { publicMetadata: { plan: 'reader', newsletter: true } }, [
      /^PATCH \/v1\/users\/user_\w+\/metadata 200$/,
    ]),
  ),
  studio.call(
    'An organization for Ada',
    'createOrganization',
    (world) => ({ name: 'Analytical Engines', createdBy: adaId(world) }),
    (world) => gives('created', { id: /^org_/, createdBy: adaId(world) }, ['POST /v1/organizations 200']),
  ),
  {
    ...studio.call('Grace signs up while the provider is busy', 'createUser', grace, (world) => {
      const calls = ['POST /v1/users 429', 'POST /v1/users 200']
      return gives(
        'created with the second attempt',
        { emailAddress: grace.emailAddress },
        calls,
        users(world, 2),
      )
    }),
    skip: ({ idp }) => (idp.emulator ? undefined : 'The real provider’s limits are left alone.'),
    prepare: ({ idp }) => idp.emulator?.faults.add({ method: 'POST', path: '/v1/users', ...rateLimited(0) }),
  },
  studio.call('Ada leaves again', 'deleteUser', id, (world) =>
    gives('deleted', { id: adaId(world), deleted: true }, [/^DELETE .* 200$/], users(world, 1)),
  ),
]

/** The walk of `/idp/webhook`. */
export const idpWalk: Walk = {
  route: 'idp',
  title: 'Users and organizations of an application that exists',
  steps: [
    studio.created(
      'A studio swaps its two keys',
      refused('refused, with what to do', 'invalid_inputs', { detail: /swap them/ }, { provider: [] }),
      swappedKeys,
    ),
    studio.created('The studio takes the shared application', ({ idp }) =>
      running(
        'running, with three outputs',
        { publishableKey: idp.publishableKey, secretKey: /^sk_/, frontendApiUrl: /^https:/ },
        { provider: ['GET /v1/instance 200', 'GET /v1/domains 200'], sensitive: ['secretKey'] },
      ),
    ),
    studio.healthy('A health check'),
    ...people.map((step) => ({ skip: changes, ...step })),
    studio.metrics(({ idp: { emulator } }) => [
      { name: 'number_of_users', ...(emulator && { value: emulator.users.size }) },
      { name: 'number_of_organizations', ...(emulator && { value: emulator.organizations.size }) },
    ]),
    studio.download('The keys for the frontend', '.env.local', () => /^NEXT_PUBLIC_.*\nCLERK_SECRET_KEY=/m),
    studio.download('Its middleware', 'middleware.ts', () => /^export default clerkMiddleware\(\)$/m),
    studio.deleted('The studio closes', 'stopped; the application stays', { provider: [] }),
  ],
}
