/**
 * The functions of FUNCTION_CALL (specification §2.6).
 *
 * @module
 */
import type { HandlerContext, Handlers } from '@org/core'
import { parseArguments } from '@org/core/authoring'
import { connect, createRefusingClient, type HostSettings } from './connection.ts'
import { createJournal } from './delivery-journal.ts'
import { hasControlCharacter } from './headers.ts'
import { type mailer, messageArguments } from './integration.ts'
import { invalidMessage } from './mail-error.ts'

/** How a batch goes on, for those that send events. */
const REST = {
  hint: 'Deliver the event again with the same id to send the rest.',
  stopped: 'shutting_down',
  // The delivery has a journal, and may come again.
  effect: 'none',
} as const

/** Makes the mailer’s functions, by name. */
export function createFunctions(settings: HostSettings) {
  return {
    async sendEmail(message, context) {
      return (await connect(context, settings)).sendEmail(findable(message, context), context)
    },

    async sendEmails({ messages, to = [], subject = '', ...content }, context) {
      const journal = context.progress && createJournal(context.progress)
      const client = await connect(context, settings).catch((error: unknown) => {
        // Mails that have left are reported, even if no other mail can leave.
        if (!journal || journal.isEmpty) throw error
        return createRefusingClient(error)
      })
      let position = 0
      const parse = (item: unknown) => {
        // A delivery comes again with the same messages.
        const key = String(position)
        position += 1
        const message = messages ? parseMessage(item) : { ...content, subject, to: item }
        return { ...findable(message, context), key }
      }
      const { signal, deadline, gate, stopping } = context
      const options = { signal, deadline, gate, stop: journal && stopping, journal, parse, rest: REST }
      return client.sendEmails(messages ?? to, options)
    },

    async getDeliveryStats(filter, context) {
      return (await connect(context, settings)).getDeliveryStats(filter, context)
    },
  } satisfies Handlers<typeof mailer>['functions']
}

/** What the provider stores with a mail. */
const METADATA = { most: 10, longest: 80 }

/** Gives a mail the id of its delivery, by which it is found at the provider, unless the sender needs the place. */
function findable<Mail extends { metadata?: Record<string, string> | undefined }>(
  mail: Mail,
  { deliveryId }: Pick<HandlerContext, 'deliveryId'>,
): Mail {
  const { metadata = {} } = mail
  const isFull = 'delivery' in metadata || Object.keys(metadata).length >= METADATA.most
  if (deliveryId === undefined || isFull || hasControlCharacter(deliveryId)) return mail
  return { ...mail, metadata: { ...metadata, delivery: deliveryId.slice(0, METADATA.longest) } }
}

/** Parses a message when its call is due: a batch has up to 10,000, and an invalid one fails alone. */
function parseMessage(item: unknown): { metadata?: Record<string, string> | undefined } {
  const { data, errors } = parseArguments(messageArguments, item)
  if (data) return data
  throw invalidMessage(errors)
}
