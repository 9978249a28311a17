/**
 * What FUNCTION_CALL may run (specification §2.6).
 *
 * @module
 */
import { fieldErrors, type Handlers } from '@org/core'
import { failedResult, type MessageResult, toBatchResult } from './batch.ts'
import { callOptions, connect, type MailerSettings } from './connection.ts'
import { type mailer, messageArguments } from './integration.ts'
import { invalidMessage, type Message } from './message.ts'

/** The mailer’s functions, by name. */
export const functions = {
  async sendEmail(message, context) {
    return (await connect(context)).sendEmail(message, callOptions(context))
  },

  async sendEmails({ messages, to = [], subject = '', ...content }, context) {
    const judged =
      messages ?? to.map((recipient) => messageArguments.safeParse({ ...content, subject, to: recipient }))
    const fit: { index: number; message: Message }[] = []
    const unfit: MessageResult[] = []
    for (const [index, { data, error }] of judged.entries()) {
      if (data) fit.push({ index, message: data })
      else
        unfit.push(
          failedResult(
            index,
            null,
            invalidMessage(fieldErrors(error, '', Object.keys(messageArguments.shape))),
          ),
        )
    }
    const client = await connect(context)
    const batch = await client.sendEmails(
      fit.map(({ message }) => message),
      callOptions(context),
    )
    const placed = batch.results.flatMap((result, at) => (fit[at] ? { ...result, index: fit[at].index } : []))
    return toBatchResult([...unfit, ...placed])
  },

  async getDeliveryStats(filter, context) {
    return (await connect(context)).getDeliveryStats(filter, callOptions(context))
  },
} satisfies Handlers<typeof mailer, MailerSettings>['functions']
