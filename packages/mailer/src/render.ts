/**
 * Waits for the bodies of a message that are a function or a promise, and for its files that are a `Blob`.
 *
 * @module
 */
import { pause } from '@org/core/http'
import { isBlob, writeAttachments } from './attachment.ts'
import { bodyNames, type ComposedMessage, composeMessage, fieldNames, isPlain, readable } from './compose.ts'
import { isRecord, readField } from './fields.ts'
import { invalidMessage, MailError } from './mail-error.ts'
import type { MessageSettings } from './message.ts'
import { writeText } from './writing.ts'

/** The longest time that a timer takes; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Resolves bodies and files, and checks nothing else.
 *
 * @throws {MailError} `invalid_arguments` with the path of the body or file that failed, and the cause
 */
export async function renderMessage(message: Record<string, unknown>): Promise<object> {
  const names = isPlain(message) ? Object.keys(message) : fieldNames
  const rendered: Record<string, unknown> = {}
  for (const name of names) rendered[name] = readable(name, () => message[name])
  const files: unknown[] = Array.isArray(rendered.attachments) ? [...rendered.attachments] : []
  await Promise.all([
    ...bodyNames.map(async (name) => {
      const body = rendered[name]
      rendered[name] = await attempt(name, () => (typeof body === 'function' ? body() : body))
    }),
    ...files.map(async (file, index) => {
      const content = readable('attachments', () => readField(file, 'content'))
      if (!isRecord(file) || !isBlob(content)) return
      const { name, contentType, contentId } = file
      const bytes = await attempt(`attachments[${index}].content`, () => content.arrayBuffer())
      files[index] = { name, contentType, contentId, content: bytes }
    }),
  ])
  return files.length > 0 ? { ...rendered, attachments: files } : rendered
}

async function attempt(path: string, work: () => unknown): Promise<unknown> {
  try {
    return await work()
  } catch (cause) {
    throw invalidMessage([{ path, message: 'could not be rendered' }], { cause })
  }
}

/** Composes a rich message, but does not wait for its bodies beyond the limits of its call. */
export async function composeInTime(
  message: Record<string, unknown>,
  settings: MessageSettings,
  { signal, deadline }: { signal: AbortSignal | undefined; deadline: number },
): Promise<ComposedMessage> {
  const done = new AbortController()
  const end = signal ? AbortSignal.any([signal, done.signal]) : done.signal
  const isOver = pause(Math.min(deadline - Date.now(), LONGEST_TIMER_MS), end).then(() => {
    const code = signal?.aborted && signal.reason?.name !== 'TimeoutError' ? 'aborted' : 'provider_timeout'
    throw new MailError(code, 'The call ended before its message was rendered.', { cause: signal?.reason })
  })
  const rendered = await Promise.race([renderMessage(message), isOver]).finally(() => done.abort())
  return composeMessage(rendered, settings, { writeBody: writeText, writeFiles: writeAttachments })
}
