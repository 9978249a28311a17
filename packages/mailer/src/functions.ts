/**
 * The functions of FUNCTION_CALL (specification §2.6).
 *
 * @module
 */
import { type Handlers, IntegrationError, isIntegrationError, parseArguments } from '@org/core'
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
      const options = { signal, deadline, gate, stopping, journal, parse }
      return client.sendEmails(messages ?? to, options).catch((error: unknown) => {
        throw journal ? forDelivery(error) : error
      })
    },

    async getDeliveryStats(filter, context) {
      return (await connect(context, settings)).getDeliveryStats(filter, context)
    },
  } satisfies Handlers<typeof mailer>['functions']
}

/** The mailer speaks of a batch and its journal; whoever sends events knows neither. */
function forDelivery(error: unknown): unknown {
  const isLeft = isIntegrationError(error) && (error.code === 'overloaded' || error.code === 'shutting_down')
  if (!isLeft) return error
  const hint = 'Deliver the event again with the same id to send the rest.'
  return new IntegrationError(error.code, error.message, { ...error, cause: error.cause, hint })
}

/** Parses a message when its call is due: a batch has up to 10,000, and an invalid one fails alone. */
function parseMessage(item: unknown): unknown {
  const { data, errors } = parseArguments(messageArguments, item)
  if (data) return data
  throw invalidMessage(errors)
}
