/**
 * The functions of FUNCTION_CALL (specification §2.6).
 *
 * @module
 */
import type { Handlers, Progress } from '@org/core'
import { fieldErrors } from '@org/core/internal'
import * as z from 'zod'
import { failedResult, type MessageResult, toBatchResult } from './batch.ts'
import { connect, type MailerSettings } from './connection.ts'
import { type mailer, messageArguments, messageResult } from './integration.ts'
import type { BatchJournal } from './journal.ts'
import { invalidMessage, type Message } from './message.ts'

/** Makes the mailer’s functions, by name. */
export function createFunctions(settings: MailerSettings) {
  return {
    async sendEmail(message, context) {
      return (await connect(context, settings)).sendEmail(message, context)
    },

    async sendEmails({ messages, to = [], subject = '', ...content }, context) {
      const parsed =
        messages ?? to.map((recipient) => messageArguments.safeParse({ ...content, subject, to: recipient }))
      const valid: { index: number; message: Message }[] = []
      const invalid: MessageResult[] = []
      for (const [index, { data, error }] of parsed.entries()) {
        if (data) valid.push({ index, message: data })
        else {
          const errors = fieldErrors(error, '', Object.keys(messageArguments.shape))
          invalid.push(failedResult(index, null, invalidMessage(errors)))
        }
      }
      const client = await connect(context, settings)
      const journal = context.progress && createJournal(context.progress)
      const batch = await client.sendEmails(
        valid.map(({ message }) => message),
        { signal: context.signal, deadline: context.deadline, journal },
      )
      const sent = batch.results.flatMap((result, at) =>
        valid[at] ? { ...result, index: valid[at].index } : [],
      )
      return toBatchResult([...invalid, ...sent])
    },

    async getDeliveryStats(filter, context) {
      return (await connect(context, settings)).getDeliveryStats(filter, context)
    },
  } satisfies Handlers<typeof mailer>['functions']
}

const callRecord = z.union([
  z.literal('begun'),
  z.array(messageResult.omit({ index: true, to: true }).extend({ rejected: z.array(z.int()) })),
])

/** Keeps a batch’s journal in the record of its delivery. */
function createJournal(progress: Progress): BatchJournal {
  const nameOf = (call: number) => `call ${call}`
  return {
    read(call) {
      const record = progress.read(nameOf(call))
      // A call whose record is invalid may have been sent.
      return record === undefined || record === null ? undefined : callRecord.catch('begun').parse(record)
    },
    write: (call, record) =>
      progress.write(nameOf(call), record === undefined ? null : callRecord.parse(record)),
  }
}
