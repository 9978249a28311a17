/**
 * The part of the mailer's walk in which mail is sent.
 *
 * @module
 */
import type { PlatformEvent } from '@org/core'
import { count } from '../brief.ts'
import { type Check, check, providerCalls } from '../check.ts'
import { at, listOf } from '../data.ts'
import type { World } from '../world.ts'
import type { Step } from './step.ts'

/** The deployment that the walk is about. */
export const shop = { id: 'dep_shop' }

/** What the provider takes in one call. */
const MESSAGES_PER_CALL = 500
/** Nobody reads their mail any more. */
const INACTIVE = ['gone@example.com', 'left@example.com', 'moved@example.com']

const firstOrder = 'evt_order_1'

const confirmOrder = ({ mail }: World) =>
  call('sendEmail', { to: mail.to, subject: 'Your order', textBody: 'It is on its way.', tag: 'order' }, shop)

/** What the emulated provider was given; the real one's mailbox is not ours to look into. */
const mailbox = ({ mail }: World, what: string, messages: number): Check[] =>
  mail.emulator ? [check(what, mail.emulator.messages.length, messages)] : []

/** With the emulated provider, some addresses of the batch are inactive. */
function batchRecipients({ mail }: World): string[] {
  const inactive = mail.emulator ? INACTIVE : []
  const active = Array.from({ length: mail.batchSize - inactive.length }, (_, index) =>
    mail.emulator ? `reader-${index + 1}@example.com` : mail.to,
  )
  return [...active.slice(0, 700), ...inactive, ...active.slice(700)]
}

/** Calls a function; without a deployment, with the shared server. */
export const call = (
  name: string,
  args: Record<string, unknown>,
  deployment?: { id: string },
): PlatformEvent => ({
  name: 'FUNCTION_CALL',
  functionCall: { name, arguments: args },
  deployment,
})

/** For steps that need a provider which does what it is told. */
export const onlyEmulated = (why: string) => (world: World) => (world.mail.emulator ? undefined : why)

/** One mail, one mail twice, one in vain, and a great many. */
export const sending: Step[] = [
  {
    title: 'One mail',
    event: confirmOrder,
    delivery: firstOrder,
    expect: (exchange, world) => [
      check('sent, with a message id', exchange.answer, {
        status: 200,
        body: { result: { messageId: /./, to: world.mail.to, rejected: [] } },
      }),
      check('one call', providerCalls(exchange), ['POST /email 200']),
      ...mailbox(world, 'one mail in the mailbox', 1),
      ...(world.mail.emulator
        ? [
            check('from the deployment’s sender', world.mail.emulator.messages[0], {
              from: world.mail.from,
              subject: 'Your order',
            }),
          ]
        : []),
    ],
  },
  {
    title: 'The same delivery again, as platforms do',
    event: confirmOrder,
    delivery: firstOrder,
    expect: (exchange, world) => [
      check('the recorded answer', exchange.answer, {
        status: 200,
        replayed: true,
        body: { result: { messageId: /./ } },
      }),
      check('no call', exchange.calls, []),
      ...mailbox(world, 'still one mail in the mailbox', 1),
    ],
  },
  {
    title: 'A mail to somebody whose mailbox bounced',
    event: call('sendEmail', { to: INACTIVE[0], subject: 'Hello?', textBody: 'Anybody there?' }, shop),
    skip: onlyEmulated('The real provider’s list of inactive recipients is left alone.'),
    prepare: ({ mail }) => {
      for (const address of INACTIVE) mail.emulator?.inactive.add(address)
    },
    expect: (exchange, world) => [
      check('refused, explained, and not worth a retry', exchange.answer, {
        status: 422,
        body: {
          code: 'provider_rejected',
          retryable: false,
          detail: /reactivate/,
          provider: { code: '406' },
        },
      }),
      ...mailbox(world, 'nothing was delivered', 1),
    ],
  },
  {
    title: 'A newsletter, each its own mail',
    event: (world) =>
      call('sendEmails', {
        messages: batchRecipients(world).map((to, index) => ({
          to,
          subject: 'News',
          textBody: `Copy no. ${index + 1} is yours.`,
        })),
      }),
    expect: (exchange, world) => {
      const { batchSize, emulator } = world.mail
      const failed = emulator ? INACTIVE.length : 0
      const results = listOf(at(exchange.answer.body, 'result', 'results'))
      const calls = Math.ceil(batchSize / MESSAGES_PER_CALL)
      return [
        check(`${count(batchSize - failed)} sent, ${failed} failed`, exchange.answer, {
          status: 200,
          body: { result: { sent: batchSize - failed, failed, unknown: 0 } },
        }),
        check('a result for each, in order', results.length, batchSize),
        check(
          'each failure says why',
          results.filter((result) => at(result, 'status') === 'failed'),
          Array.from({ length: failed }, (_, index) => ({
            to: INACTIVE[index],
            error: { code: 'provider_rejected', message: /reactivate/ },
          })),
        ),
        check(
          calls === 1 ? 'in one call' : `in ${calls} calls`,
          providerCalls(exchange),
          Array.from({ length: calls }, () => 'POST /email/batch 200'),
        ),
        ...mailbox(world, 'all of them in the mailbox', 1 + batchSize - failed),
      ]
    },
  },
]
