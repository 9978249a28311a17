/**
 * The life of a deployment that attaches to an application, from keys in the wrong places to its end.
 *
 * @module
 */
import type { PlatformEvent } from '@org/core'
import { check, providerCalls, told, toldStatuses } from '../check.ts'

import { describeIdpCall } from './idp-calls.ts'
import { call, people, studio } from './idp-people.ts'
import type { Step, Walk } from './step.ts'

const created = (inputs: Record<string, unknown>): PlatformEvent => ({
  name: 'DEPLOYMENT_CREATED',
  deployment: { ...studio, inputs },
})

/** Keys that open nothing, of the right shape. */
const madeUpSecretKey = `sk_test_${'0123456789'.repeat(4)}ab`
const madeUpPublishableKey = `pk_test_${btoa('happy-cat-12.clerk.accounts.dev$')}`

const setUp: Step[] = [
  {
    title: 'The platform asks whether anybody is there',
    event: { name: 'WEBHOOK_CHALLENGE', challenge: 'c_idp' },
    expect: ({ answer }) => [
      check('the challenge comes back', answer, { status: 200, body: { challenge: 'c_idp' } }),
    ],
  },
  {
    title: 'A studio mixes up its two keys',
    event: created({
      serverType: 'dedicated',
      publishableKey: madeUpSecretKey,
      secretKey: madeUpPublishableKey,
    }),
    expect: (exchange, { platform }) => [
      check('refused, with what to do', exchange.answer, {
        status: 422,
        body: { code: 'invalid_inputs', retryable: false, detail: /swap them/ },
      }),
      check('the provider was not asked', providerCalls(exchange), []),
      check('the platform saw it fail', toldStatuses(exchange), ['deploying', 'failed']),
      check('it is on record as failed', platform.deployments.get(studio.id), { status: 'failed' }),
    ],
  },
  {
    title: 'It takes the shared application instead',
    event: created({ serverType: 'shared' }),
    expect: (exchange, { idp, platform }) => [
      check('running, with three outputs', exchange.answer, {
        status: 200,
        body: {
          status: 'running',
          outputs: { publishableKey: idp.publishableKey, secretKey: /^sk_/, frontendApiUrl: /^https:/ },
        },
      }),
      check('both keys were verified', providerCalls(exchange), [
        'GET /v1/instance 200',
        'GET /v1/domains 200',
      ]),
      check('the platform saw it start', toldStatuses(exchange), ['deploying', 'running']),
      check('the key was published as sensitive', told(exchange, 'outputs'), [{ sensitive: ['secretKey'] }]),
      check('it is on record as running', platform.deployments.get(studio.id), { status: 'running' }),
    ],
  },
  {
    title: 'Is it well?',
    event: { name: 'HEALTH_CHECK', deployment: studio },
    expect: (exchange) => [
      check('healthy', exchange.answer, {
        status: 200,
        body: { status: 'healthy', checks: [{ name: 'provider', healthy: true }] },
      }),
      check('the platform was told', toldStatuses(exchange), ['running']),
    ],
  },
]

const counting: Step[] = [
  {
    title: 'How many are they?',
    event: call('countUsers', {}),
    expect: (exchange, { idp }) => [
      check('counted', exchange.answer, {
        status: 200,
        body: { result: idp.emulator ? { count: idp.emulator.users.size } : {} },
      }),
      check('one call', providerCalls(exchange), ['GET /v1/users/count 200']),
    ],
  },
  {
    title: 'The platform collects its metrics',
    event: { name: 'METRIC_UPDATE', deployment: studio },
    expect: (exchange, { idp }) => {
      const { users, organizations } = idp.emulator ?? {}
      const metrics = [
        { name: 'number_of_users', ...(users && { value: users.size }) },
        { name: 'number_of_organizations', ...(organizations && { value: organizations.size }) },
      ]
      return [
        check('two metrics', exchange.answer, { status: 200, body: { metrics } }),
        check('reported to the platform', told(exchange, 'metrics'), [{ metrics }]),
      ]
    },
  },
]

const download = (
  title: string,
  id: string,
  file: '.env.local' | 'middleware.ts',
  content: RegExp,
): Step => ({
  title,
  event: { name: 'DOWNLOAD_STARTED', deployment: studio, download: { id, file } },
  expect: (exchange, { platform }) => {
    const files = [{ path: file, content }]
    return [
      check('one file', exchange.answer, { status: 200, body: { files } }),
      check('the provider was not asked', providerCalls(exchange), []),
      check('the platform has it', platform.deployments.get(studio.id)?.downloads.get(id), files),
    ]
  },
})

const downloads: Step[] = [
  download(
    'The frontend’s keys',
    'dl_keys',
    '.env.local',
    /^NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY=.*\nCLERK_SECRET_KEY=/m,
  ),
  download('The frontend’s gate', 'dl_gate', 'middleware.ts', /^export default clerkMiddleware\(\)$/m),
]

const end: Step[] = [
  {
    title: 'The studio closes',
    event: { name: 'DEPLOYMENT_DELETED', deployment: studio },
    expect: (exchange, { platform }) => [
      check('stopped', exchange.answer, { status: 200, body: { status: 'stopped' } }),
      check('the application stays as it is', providerCalls(exchange), []),
      check('it is on record as stopped', platform.deployments.get(studio.id), { status: 'stopped' }),
    ],
  },
]

/** The walk of `/idp/webhook`. */
export const idpWalk: Walk = {
  route: 'idp',
  title: 'Users and organizations of an application that exists',
  steps: [...setUp, ...people, ...counting, ...downloads, ...end],
  describeCall: describeIdpCall,
}
