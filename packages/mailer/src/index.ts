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
export type { BatchProgress, BatchResult, MessageResult } from './batch.ts'
export type { BatchOptions, Mailer, MailerOptions, SentEmail, StatsFilter } from './client.ts'
export { createMailer } from './client.ts'
export type { BatchJournal, CallRecord, RecordedOutcome } from './journal.ts'
export type { Attachment, Message } from './message.ts'
export type { DeliveryStats, ServerDetails } from './wire.ts'
