/**
 * Waits for the bodies of a message that are a function or a promise, and for its files that are a `Blob`.
 *
 * @module
 */
import type { ProviderClient } from '@org/core/http'
import { isBlob, readFiles } from './attachment.ts'
import { bodyNames, composeMessage, fieldNames, isPlain } from './compose.ts'
import { createEnding, orEnded } from './ending.ts'
import { isRecord } from './fields.ts'
import { invalidMessage, toMailError } from './mail-error.ts'
import type { MessageSettings } from './message.ts'
import { type SentEmail, sendComposed } from './single.ts'

/**
 * Resolves bodies and files, and checks nothing else.
 *
 * @throws {MailError} `invalid_arguments` with the path of the body or file that failed, and the cause
 */
export async function renderMessage(message: Record<string, unknown>): Promise<object> {
  const names = isPlain(message) ? Object.keys(message) : fieldNames
  const rendered = await attempt(
    '',
    (): Record<string, unknown> => Object.fromEntries(names.map((name) => [name, message[name]])),
  )
  const { attachments } = rendered
  const files: unknown[] = Array.isArray(attachments) ? attachments : []
  const [read] = await Promise.all([
    Promise.all(
      files.map((file, index) =>
        attempt(`attachments[${index}]`, async () => {
          if (!isRecord(file) || !isBlob(file.content)) return file
          const { name, contentType, contentId, content } = file
          return { name, contentType, contentId, content: await content.arrayBuffer() }
        }),
      ),
    ),
    ...bodyNames.map(async (name) => {
      const body = rendered[name]
      rendered[name] = await attempt(name, () => (typeof body === 'function' ? body() : body))
    }),
  ])
  return files.length > 0 ? { ...rendered, attachments: read } : rendered
}

async function attempt<Value>(path: string, work: () => Value): Promise<Awaited<Value>> {
  try {
    return await work()
  } catch (cause) {
    throw invalidMessage([{ path, message: 'could not be rendered' }], cause)
  }
}

/** Sends a rich message, but does not wait for its bodies beyond the limits of its call. */
export async function sendRich(
  provider: ProviderClient,
  message: Record<string, unknown>,
  settings: MessageSettings,
  limits: ReturnType<ProviderClient['within']>,
): Promise<SentEmail> {
  const ending = createEnding(limits)
  try {
    const rendered = await orEnded(renderMessage(message), ending.signal)
    return await sendComposed(provider, composeMessage(rendered, settings, readFiles), limits)
  } catch (error) {
    throw toMailError(error)
  } finally {
    ending.close()
  }
}
