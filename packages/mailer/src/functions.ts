/**
 * The functions of FUNCTION_CALL (specification §2.6).
 *
 * @module
 */
import type { Handlers } from '@org/core'
import { parseArguments } from '@org/core/internal'
import { connect, createRefusingClient, type HostSettings } from './connection.ts'
import { createJournal } from './delivery-journal.ts'
import { invalidMessage } from './faults.ts'
import { type mailer, messageArguments } from './integration.ts'
import { hasBody, NO_BODY } from './message.ts'

/** Makes the mailer’s functions, by name. */
export function createFunctions(settings: HostSettings) {
  return {
    async sendEmail(message, context) {
      if (!hasBody(message)) throw invalidMessage([NO_BODY])
      return (await connect(context, settings)).sendEmail(message, context)
    },

    async sendEmails({ messages, to = [], subject = '', ...content }, context) {
      const journal = context.progress && createJournal(context.progress)
      const client = await connect(context, settings).catch((error: unknown) => {
        // Mails that have left are reported, even if no other mail can leave.
        if (!journal || journal.isEmpty) throw error
        return createRefusingClient(error)
      })
      const parse = messages ? parseMessage : (to: unknown) => ({ ...content, subject, to })
      const { signal, deadline, gate, stopping } = context
      return client.sendEmails(messages ?? to, { signal, deadline, gate, stopping, journal, parse })
    },

    async getDeliveryStats(filter, context) {
      return (await connect(context, settings)).getDeliveryStats(filter, context)
    },
  } satisfies Handlers<typeof mailer>['functions']
}

/** Parses a message when its call is due: a batch has up to 10,000, and an invalid one fails alone. */
function parseMessage(item: unknown): unknown {
  const { data, errors } = parseArguments(messageArguments, item)
  if (data) return data
  throw invalidMessage(errors)
}
