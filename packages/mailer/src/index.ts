/**
 * Transactional mail.
 *
 * @example
 * ```ts
 * import { createMailer } from '@org/mailer'
 *
 * const mailer = createMailer({ apiToken, fromEmail: 'Shop <shop@example.com>' })
 * await mailer.sendEmail({ to: 'ada@example.com', subject: 'Hello', textBody: 'Hi Ada' })
 * ```
 * @module
 */

export type { ErrorCode, FieldError, ProviderRefusal } from '@org/core/errors'
export { IntegrationError, isIntegrationError } from '@org/core/errors'
export type { CallOptions } from '@org/core/http'
export { type Address, isAddress } from './address.ts'
export type { Mailer, MailerOptions } from './client.ts'
export { createMailer } from './client.ts'
export type { BatchJournal, MessageRecord, RecordedOutcome } from './journal.ts'
export { isMailError, MailError } from './mail-error.ts'
export type { Attachment, Message, MessageBody, MessageDefaults } from './message.ts'
export type {
  BatchProgress,
  BatchResult,
  MessageError,
  MessageResult,
  SentResult,
  UnsentResult,
} from './result.ts'
export type { BatchOptions } from './run.ts'
export type { SentEmail } from './single.ts'
export type { DeliveryStats, StatsFilter } from './stats.ts'
export type { ServerDetails } from './wire.ts'
