/**
 * What FUNCTION_CALL may run (specification §2.6).
 *
 * @module
 */
import { fieldErrors, type Handlers, type Progress } from '@org/core'
import * as z from 'zod'
import { failedResult, type MessageResult, toBatchResult } from './batch.ts'
import { callOptions, connect, type MailerSettings } from './connection.ts'
import { type mailer, messageArguments } from './integration.ts'
import type { BatchJournal } from './journal.ts'
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
      { ...callOptions(context), journal: context.progress && keepJournal(context.progress) },
    )
    const placed = batch.results.flatMap((result, at) => (fit[at] ? { ...result, index: fit[at].index } : []))
    return toBatchResult([...unfit, ...placed])
  },

  async getDeliveryStats(filter, context) {
    return (await connect(context)).getDeliveryStats(filter, callOptions(context))
  },
} satisfies Handlers<typeof mailer, MailerSettings>['functions']

const callRecord = z.union([
  z.literal('begun'),
  z.array(
    z.object({
      status: z.enum(['sent', 'failed', 'unknown']),
      messageId: z.string().nullable(),
      submittedAt: z.string().nullable(),
      rejected: z.array(z.int()),
      error: z.object({ code: z.string(), message: z.string(), retryable: z.boolean() }).nullable(),
    }),
  ),
])

/** A batch's journal in what is written down of its delivery. */
function keepJournal(progress: Progress): BatchJournal {
  const nameOf = (call: number) => `call ${call}`
  return {
    // What can't be read may have been sent.
    read(call) {
      const written = progress.read(nameOf(call))
      return written === undefined || written === null ? undefined : callRecord.catch('begun').parse(written)
    },
    write: (call, record) =>
      progress.write(nameOf(call), record === undefined ? null : callRecord.parse(record)),
  }
}
