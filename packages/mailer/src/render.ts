import type { Message } from './message.ts'
export type RenderedMessage = Message
export function renderMessage(message: unknown): RenderedMessage | Promise<RenderedMessage> {
  return message as Message
}
