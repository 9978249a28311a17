/** The life of a mailer deployment, from the shared server to an event that comes too late. */
import { at, listOf } from '../world/json.ts'
import { count } from '../world/text.ts'
import { TENANT_TOKEN, type World } from '../world/world.ts'
import { counted, gives, lifeOf, refused, running, type Walk } from './step.ts'

const shop = lifeOf('dep_shop', { serverType: 'shared' })
const press = lifeOf('dep_press', { serverType: 'dedicated', apiToken: 'a-token-with-a-typo' })
/** The provider’s limit for one call. */
const MESSAGES_PER_CALL = 500
/** The provider has deactivated these recipients. */
const INACTIVE = ['gone@example.com', 'left@example.com', 'moved@example.com']
/** Without a pause between two attempts: there is nothing to see in one. */
const outage = { path: '/server', status: 503, headers: { 'retry-after': '0' }, times: 3 }

const onlyEmulated = (why: string) => (world: World) => (world.mail.emulator ? undefined : why)

const mailbox = ({ mail }: World, messages: number) =>
  counted('in the mailbox', mail.emulator?.messages.length, messages)

/** The same event with the same id makes a redelivery. */
const order = {
  ...shop.call(
    'One mail',
    'sendEmail',
    ({ mail }) => ({ to: mail.to, subject: 'Your order', textBody: 'It is on its way.', tag: 'order' }),
    (world) => {
      const sent = { messageId: /./, to: world.mail.to, rejected: [] }
      return gives('sent, with a message id', sent, ['POST /email 200'], mailbox(world, 1))
    },
  ),
  delivery: 'evt_order_1',
}

function newsletter({ mail }: World) {
  const inactive = mail.emulator ? INACTIVE : []
  const active = Array.from({ length: mail.batchSize - inactive.length }, (_, index) =>
    mail.emulator ? `reader-${index + 1}@example.com` : mail.to,
  )
  const copy = (to: string, index: number) => ({ to, subject: 'News', textBody: `Copy no. ${index + 1}.` })
  return { messages: active.toSpliced(700, 0, ...inactive).map(copy) }
}

/** The walk of `/mailer/webhook`. */
export const mailerWalk: Walk = {
  route: 'mailer',
  title: 'Transactional mail',
  steps: [
    shop.created('A shop gets mail, on the shared server', ({ mail }) =>
      running(
        'running, with the shared sender',
        { fromEmail: mail.from, messageStream: 'outbound' },
        { provider: ['GET /server 200'], sensitive: ['apiToken'] },
      ),
    ),
    shop.healthy('A health check'),
    order,
    {
      ...order,
      title: 'The same delivery again, as platforms do',
      expect: (world) => ({
        says: 'the recorded response',
        replayed: true,
        body: { result: { messageId: /./ } },
        calls: [],
        also: mailbox(world, 1),
      }),
    },
    {
      ...shop.call('A newsletter, one mail for each reader', 'sendEmails', newsletter, (world, exchange) => {
        const { batchSize, emulator } = world.mail
        const failed = emulator ? INACTIVE : []
        const sent = batchSize - failed.length
        const results = listOf(at(exchange.response.body, 'result', 'results'))
        const failures = results.filter((result) => at(result, 'status') === 'failed')
        const error = { code: 'provider_rejected', message: /inactive/ }
        const calls = Math.ceil(batchSize / MESSAGES_PER_CALL)
        return {
          says: `${count(sent)} sent, ${failed.length} failed`,
          body: { result: { sent, failed: failed.length, unknown: 0 } },
          provider: Array<string>(calls).fill('POST /email/batch 200'),
          also: [
            ['a result for each, in order', results.length, batchSize],
            ['each failure has a reason', failures, failed.map((to) => ({ to, error }))],
            ...mailbox(world, 1 + sent),
          ],
        }
      }),
      prepare: ({ mail }) => INACTIVE.forEach((address) => void mail.emulator?.inactive.add(address)),
    },
    shop.metrics(({ mail }) => [
      { name: 'emails_sent', ...(mail.emulator && { value: mail.emulator.messages.length }) },
      { name: 'emails_bounced' },
      { name: 'bounce_rate', unit: 'percent' },
      { name: 'spam_complaints' },
    ]),
    press.created(
      'The press office brings a wrong token',
      refused(
        'refused, with what to do',
        'credentials_rejected',
        { detail: /API Tokens/ },
        { sensitive: [] },
      ),
    ),
    press.created(
      'The press office corrects the token',
      ({ platform, mail }) => {
        const outputs = { apiToken: /^[^{]+$/, fromEmail: mail.from }
        const found = platform.deployments.get(press.id)?.outputs
        return running('running', undefined, { also: [['the reference became a token', found, outputs]] })
      },
      ({ mail: { from: fromEmail } }) => ({
        serverType: 'dedicated',
        apiToken: `{{env.${TENANT_TOKEN}}}`,
        fromEmail,
      }),
    ),
    {
      ...shop.healthy('The provider is down'),
      skip: onlyEmulated('The real provider can’t be switched off.'),
      prepare: ({ mail }) => mail.emulator?.faults.add(outage),
      expect: {
        says: 'unhealthy, which is a result and not an error',
        body: { status: 'unhealthy', checks: [{ healthy: false, message: /503/ }] },
        provider: ['GET /server 503', 'GET /server 503', 'GET /server 503'],
        statuses: ['unhealthy'],
      },
    },
    { ...shop.healthy('The provider is back', ['running']), skip: onlyEmulated('It was never away.') },
    shop.deleted('The shop closes', 'stopped', { provider: [] }),
    shop.late(),
  ],
}
