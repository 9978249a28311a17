/**
 * The part of the walk of `/idp` in which people and organizations come and go.
 *
 * @module
 */
import type { PlatformEvent } from '@org/core'
import { rateLimited } from '@org/idp/testing'
import { type Check, check, providerCalls } from '../check.ts'
import { at } from '../data.ts'
import type { World } from '../world.ts'
import type { Step } from './step.ts'

/** The deployment that the walk is about. */
export const studio = { id: 'dep_studio' }

const adaArrives = 'evt_idp_ada'
const adaId = ({ exchanges }: World) => String(at(exchanges.get(adaArrives)?.answer.body, 'result', 'id'))

/** Calls a function of the deployment. */
export const call = (name: string, args: Record<string, unknown>): PlatformEvent => ({
  name: 'FUNCTION_CALL',
  functionCall: { name, arguments: args },
  deployment: studio,
})

const createAda = ({ newcomer }: World) =>
  call('createUser', {
    emailAddress: newcomer,
    firstName: 'Ada',
    lastName: 'Lovelace',
    publicMetadata: { plan: 'reader' },
    skipPasswordRequirement: true,
  })

/** For steps that leave something behind, or take something away. */
const changes = ({ idp }: World) =>
  idp.mayChange ? undefined : 'It would change the real application; SANDBOX_REAL_EFFECTS=1 allows that.'

/** What the emulated provider has; nobody counts the real one's. */
const users = ({ idp }: World, what: string, number: number): Check[] =>
  idp.emulator ? [check(what, idp.emulator.users.size, number)] : []

/** Two people come, one of them goes, and they get an organization. */
export const people: Step[] = [
  {
    title: 'Ada signs up',
    event: createAda,
    delivery: adaArrives,
    skip: changes,
    expect: (exchange, world) => [
      check('created', exchange.answer, {
        status: 200,
        body: { result: { id: /^user_/, emailAddress: world.newcomer, firstName: 'Ada' } },
      }),
      check('one call', providerCalls(exchange), ['POST /v1/users 200']),
      ...users(world, 'one user', 1),
    ],
  },
  {
    title: 'The same delivery again, as platforms do',
    event: createAda,
    delivery: adaArrives,
    skip: changes,
    expect: (exchange, world) => [
      check('the recorded answer', exchange.answer, {
        status: 200,
        replayed: true,
        body: { result: { id: /^user_/, emailAddress: world.newcomer } },
      }),
      check('no call', exchange.calls, []),
      ...users(world, 'still one user', 1),
    ],
  },
  {
    title: 'Who is there?',
    event: ({ newcomer }) => call('listUsers', { emailAddress: newcomer, limit: 5 }),
    skip: changes,
    expect: (exchange, world) => [
      check('Ada, and nobody else', exchange.answer, {
        status: 200,
        body: {
          result: { data: [{ id: adaId(world), lastName: 'Lovelace' }], totalCount: 1, nextCursor: null },
        },
      }),
    ],
  },
  {
    title: 'Ada takes the newsletter',
    event: (world) => call('updateUser', { userId: adaId(world), publicMetadata: { newsletter: true } }),
    skip: changes,
    expect: (exchange) => [
      check('merged into what was there', exchange.answer, {
        status: 200,
        body: { result: { publicMetadata: { plan: 'reader', newsletter: true } } },
      }),
      check('one call', providerCalls(exchange), [/^PATCH \/v1\/users\/user_\w+\/metadata 200$/]),
    ],
  },
  {
    title: 'An organization for her',
    event: (world) => call('createOrganization', { name: 'Analytical Engines', createdBy: adaId(world) }),
    skip: changes,
    expect: (exchange, world) => [
      check('created', exchange.answer, {
        status: 200,
        body: { result: { id: /^org_/, name: 'Analytical Engines', createdBy: adaId(world) } },
      }),
      check('one call', providerCalls(exchange), ['POST /v1/organizations 200']),
    ],
  },
  {
    title: 'Grace signs up while the provider is busy',
    event: call('createUser', { emailAddress: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper' }),
    skip: ({ idp }) => (idp.emulator ? undefined : 'The real provider’s limits are left alone.'),
    prepare: ({ idp }) => idp.emulator?.faults.add({ method: 'POST', path: '/v1/users', ...rateLimited(1) }),
    expect: (exchange, world) => [
      check('created, a second later', exchange.answer, {
        status: 200,
        body: { result: { emailAddress: 'grace@example.com' } },
      }),
      check('tried again, after the pause that the provider asked for', providerCalls(exchange), [
        'POST /v1/users 429',
        'POST /v1/users 200',
      ]),
      ...users(world, 'two users', 2),
    ],
  },
  {
    title: 'Ada leaves again',
    event: (world) => call('deleteUser', { userId: adaId(world) }),
    skip: changes,
    expect: (exchange, world) => [
      check('deleted', exchange.answer, {
        status: 200,
        body: { result: { id: adaId(world), deleted: true } },
      }),
      ...(world.idp.emulator ? [check('gone', world.idp.emulator.users.has(adaId(world)), false)] : []),
    ],
  },
]
