/**
 * The mail provider as an emulator, for tests and the sandbox.
 *
 * @module
 */
export type { AcceptedMessage } from './messages.ts'
export { createMailProvider, type MailProvider } from './provider.ts'
export type { MailProviderSettings } from './settings.ts'
export type { WireMessage } from './wire-message.ts'
