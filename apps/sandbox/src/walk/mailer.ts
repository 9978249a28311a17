/**
 * The life of a mailer deployment, from the first challenge to an event that comes too late.
 *
 * @module
 */
import type { PlatformEvent } from '@org/core'
import { check, providerCalls, told, toldStatuses } from '../check.ts'
import { TENANT_TOKEN } from '../world.ts'
import { describeMailCall } from './mailer-calls.ts'
import { call, onlyEmulated, sending, shop } from './mailer-sending.ts'
import type { Step, Walk } from './step.ts'

const created = (id: string, inputs: Record<string, unknown>): PlatformEvent => ({
  name: 'DEPLOYMENT_CREATED',
  deployment: { id, inputs },
})

/** Asks for no pause between two tries: there is nothing to see in one. */
const outage = { status: 503, headers: { 'retry-after': '0' } }

const setUp: Step[] = [
  {
    title: 'The platform asks whether anybody is there',
    event: { name: 'WEBHOOK_CHALLENGE', challenge: 'c_mailer' },
    expect: ({ answer }) => [
      check('the challenge comes back', answer, { status: 200, body: { challenge: 'c_mailer' } }),
    ],
  },
  {
    title: 'A shop gets mail, on the shared server',
    event: created('dep_shop', { serverType: 'shared' }),
    expect: (exchange, { mail, platform }) => [
      check('running, with the shared sender', exchange.answer, {
        status: 200,
        body: { status: 'running', outputs: { fromEmail: mail.from, messageStream: 'outbound' } },
      }),
      check('the token was verified', providerCalls(exchange), ['GET /server 200']),
      check('the platform saw it start', toldStatuses(exchange), ['deploying', 'running']),
      check('the token was published as sensitive', told(exchange, 'outputs'), [{ sensitive: ['apiToken'] }]),
      check('it is on record as running', platform.deployments.get('dep_shop'), { status: 'running' }),
    ],
  },
  {
    title: 'Is it well?',
    event: { name: 'HEALTH_CHECK', deployment: shop },
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
    title: 'What became of the mail',
    event: call('getDeliveryStats', {}),
    expect: (exchange, { mail }) => [
      check('totals', exchange.answer, {
        status: 200,
        body: { result: mail.emulator ? { sent: mail.emulator.messages.length, bounced: 0 } : {} },
      }),
      check('one call', providerCalls(exchange), ['GET /stats/outbound 200']),
    ],
  },
  {
    title: 'The platform collects its metrics',
    event: { name: 'METRIC_UPDATE', deployment: shop },
    expect: (exchange, { mail }) => {
      const sent = mail.emulator ? { value: mail.emulator.messages.length } : {}
      const metrics = [
        { name: 'emails_sent', ...sent },
        { name: 'emails_bounced' },
        { name: 'bounce_rate', unit: 'percent' },
        { name: 'spam_complaints' },
      ]
      return [
        check('four metrics', exchange.answer, { status: 200, body: { metrics } }),
        check('reported to the platform', told(exchange, 'metrics'), [{ metrics }]),
      ]
    },
  },
]

const trouble: Step[] = [
  {
    title: 'The press office brings a wrong token',
    event: created('dep_press', { serverType: 'dedicated', apiToken: 'a-token-with-a-typo' }),
    expect: (exchange, { platform }) => [
      check('refused, with what to do', exchange.answer, {
        status: 422,
        body: { code: 'credentials_rejected', retryable: false, detail: /API Tokens/ },
      }),
      check('the platform saw it fail', toldStatuses(exchange), ['deploying', 'failed']),
      check('nothing was published', told(exchange, 'outputs'), []),
      check('it is on record as failed', platform.deployments.get('dep_press'), { status: 'failed' }),
    ],
  },
  {
    title: 'The token is repaired, and deployed again',
    event: ({ mail }) =>
      created('dep_press', {
        serverType: 'dedicated',
        apiToken: `{{env.${TENANT_TOKEN}}}`,
        fromEmail: mail.from,
      }),
    expect: (exchange, { platform, mail }) => [
      check('running', exchange.answer, { status: 200, body: { status: 'running' } }),
      check('the platform saw it start', toldStatuses(exchange), ['deploying', 'running']),
      check('the reference became a token', platform.deployments.get('dep_press'), {
        status: 'running',
        outputs: { apiToken: /^[^{]+$/, fromEmail: mail.from },
      }),
    ],
  },
  {
    title: 'The provider is down',
    event: { name: 'HEALTH_CHECK', deployment: shop },
    skip: onlyEmulated('The real provider can’t be switched off.'),
    prepare: ({ mail }) => mail.emulator?.faults.add({ path: '/server', ...outage, times: 3 }),
    expect: (exchange) => [
      check('unhealthy, which is a finding and no failure', exchange.answer, {
        status: 200,
        body: { status: 'unhealthy', checks: [{ healthy: false, message: /503/ }] },
      }),
      check(
        'after three tries',
        providerCalls(exchange),
        [1, 2, 3].map(() => 'GET /server 503'),
      ),
      check('the platform was told', toldStatuses(exchange), ['unhealthy']),
    ],
  },
  {
    title: 'The provider is back',
    event: { name: 'HEALTH_CHECK', deployment: shop },
    skip: onlyEmulated('It was never away.'),
    prepare: ({ mail }) => mail.emulator?.faults.clear(),
    expect: (exchange) => [
      check('healthy', exchange.answer, { status: 200, body: { status: 'healthy' } }),
      check('the platform was told', toldStatuses(exchange), ['running']),
    ],
  },
]

const end: Step[] = [
  {
    title: 'The shop closes',
    event: { name: 'DEPLOYMENT_DELETED', deployment: shop },
    expect: (exchange, { platform }) => [
      check('stopped', exchange.answer, { status: 200, body: { status: 'stopped' } }),
      check('nothing at the provider to tear down', providerCalls(exchange), []),
      check('it is on record as stopped', platform.deployments.get('dep_shop'), { status: 'stopped' }),
    ],
  },
  {
    title: 'An old event arrives late, out of order',
    event: created('dep_shop', { serverType: 'shared' }),
    expect: (exchange, { platform }) => [
      check('ignored, with a reason', exchange.answer, {
        status: 200,
        body: { status: 'ignored', reason: /deleted/ },
      }),
      check('nobody was called', exchange.calls, []),
      check('it stays stopped', platform.deployments.get('dep_shop'), { status: 'stopped' }),
    ],
  },
]

/** The walk of `/mailer/webhook`. */
export const mailerWalk: Walk = {
  route: 'mailer',
  title: 'Transactional mail',
  steps: [...setUp, ...sending, ...counting, ...trouble, ...end],
  describeCall: describeMailCall,
}
