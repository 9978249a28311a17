/** The life of a mailer deployment, from the first challenge to an event that comes too late. */
import { at, listOf } from '../world/json.ts'
import { count } from '../world/text.ts'
import { TENANT_TOKEN, type World } from '../world/world.ts'
import { call, type FurtherCheck, lifeOf, type Step, type Walk } from './step.ts'

const shop = lifeOf('dep_shop', { serverType: 'shared' })
const press = lifeOf('dep_press', { serverType: 'dedicated', apiToken: 'a-token-with-a-typo' })
/** The provider’s limit for one call. */
const MESSAGES_PER_CALL = 500
/** The provider has deactivated these recipients. */
const INACTIVE = ['gone@example.com', 'left@example.com', 'moved@example.com']
/** Without a pause between two attempts: there is nothing to see in one. */
const outage = { path: '/server', status: 503, headers: { 'retry-after': '0' }, times: 3 }

const onlyEmulated = (why: string) => (world: World) => (world.mail.emulator ? undefined : why)

/** The mailbox of the emulated provider; the real one is not ours to look into. */
const mailbox = ({ mail }: World, messages: number): FurtherCheck[] =>
  mail.emulator ? [[`${count(messages)} in the mailbox`, mail.emulator.messages.length, messages]] : []

const fromShop = ({ mail: { emulator, from } }: World): FurtherCheck[] =>
  emulator ? [['from the deployment’s sender', emulator.messages[0], { from, subject: 'Your order' }]] : []

const confirmOrder = ({ mail }: World) =>
  shop.call('sendEmail', { to: mail.to, subject: 'Your order', textBody: 'It is on its way.', tag: 'order' })

function newsletterRecipients({ mail }: World): string[] {
  const inactive = mail.emulator ? INACTIVE : []
  const active = Array.from({ length: mail.batchSize - inactive.length }, (_, index) =>
    mail.emulator ? `reader-${index + 1}@example.com` : mail.to,
  )
  return active.toSpliced(700, 0, ...inactive)
}

const sending: Step[] = [
  {
    title: 'One mail',
    event: confirmOrder,
    delivery: 'evt_order_1',
    expect: (world) => ({
      says: 'sent, with a message id',
      body: { result: { messageId: /./, to: world.mail.to, rejected: [] } },
      provider: ['POST /email 200'],
      also: [...mailbox(world, 1), ...fromShop(world)],
    }),
  },
  {
    title: 'The same delivery again, as platforms do',
    event: confirmOrder,
    delivery: 'evt_order_1',
    expect: (world) => ({
      says: 'the recorded response',
      replayed: true,
      body: { result: { messageId: /./ } },
      silent: true,
      also: mailbox(world, 1),
    }),
  },
  {
    title: 'A newsletter, one mail for each reader',
    event: (world) => {
      const messages = newsletterRecipients(world).map((to, index) => ({
        to,
        subject: 'News',
        textBody: `Copy no. ${index + 1} is yours.`,
      }))
      return call('sendEmails', { messages })
    },
    prepare: ({ mail }) => {
      for (const address of INACTIVE) mail.emulator?.inactive.add(address)
    },
    expect: (world, { response }) => {
      const { batchSize, emulator } = world.mail
      const failed = emulator ? INACTIVE : []
      const sent = batchSize - failed.length
      const results = listOf(at(response.body, 'result', 'results'))
      const failures = results.filter((result) => at(result, 'status') === 'failed')
      const error = { code: 'provider_rejected', message: /Reactivate/ }
      return {
        says: `${count(sent)} sent, ${failed.length} failed`,
        body: { result: { sent, failed: failed.length, unknown: 0 } },
        provider: Array.from(
          { length: Math.ceil(batchSize / MESSAGES_PER_CALL) },
          () => 'POST /email/batch 200',
        ),
        also: [
          ['a result for each, in order', results.length, batchSize],
          ['each failure has a reason', failures, failed.map((to) => ({ to, error }))],
          ...mailbox(world, 1 + sent),
        ],
      }
    },
  },
]

/** The walk of `/mailer/webhook`. */
export const mailerWalk: Walk = {
  route: 'mailer',
  title: 'Transactional mail',
  steps: [
    shop.created('A shop gets mail, on the shared server', ({ mail }) => ({
      says: 'running, with the shared sender',
      body: { status: 'running', outputs: { fromEmail: mail.from, messageStream: 'outbound' } },
      provider: ['GET /server 200'],
      statuses: ['deploying', 'running'],
      sensitive: ['apiToken'],
    })),
    shop.healthy('A health check'),
    ...sending,
    shop.metrics(({ mail }) => [
      { name: 'emails_sent', ...(mail.emulator && { value: mail.emulator.messages.length }) },
      { name: 'emails_bounced' },
      { name: 'bounce_rate', unit: 'percent' },
      { name: 'spam_complaints' },
    ]),
    press.created('The press office brings a wrong token', {
      says: 'refused, with what to do',
      status: 422,
      body: { code: 'credentials_rejected', retryable: false, detail: /API Tokens/ },
      statuses: ['deploying', 'failed'],
      sensitive: [],
    }),
    {
      ...press.created('The press office corrects the token', ({ platform, mail }) => ({
        says: 'running',
        body: { status: 'running' },
        statuses: ['deploying', 'running'],
        also: [
          [
            'the reference became a token',
            platform.deployments.get(press.id)?.outputs,
            { apiToken: /^[^{]+$/, fromEmail: mail.from },
          ],
        ],
      })),
      event: ({ mail: { from: fromEmail } }) => ({
        name: 'DEPLOYMENT_CREATED',
        deployment: {
          id: press.id,
          inputs: { serverType: 'dedicated', apiToken: `{{env.${TENANT_TOKEN}}}`, fromEmail },
        },
      }),
    },
    {
      title: 'The provider is down',
      event: { name: 'HEALTH_CHECK', deployment: { id: shop.id } },
      skip: onlyEmulated('The real provider can’t be switched off.'),
      prepare: ({ mail }) => mail.emulator?.faults.add(outage),
      expect: {
        says: 'unhealthy, which is a result and not an error',
        body: { status: 'unhealthy', checks: [{ healthy: false, message: /503/ }] },
        provider: ['GET /server 503', 'GET /server 503', 'GET /server 503'],
        statuses: ['unhealthy'],
      },
    },
    {
      ...shop.healthy('The provider is back', ['running']),
      skip: onlyEmulated('It was never away.'),
    },
    shop.deleted('The shop closes', 'stopped', { provider: [] }),
    shop.late(),
  ],
}
