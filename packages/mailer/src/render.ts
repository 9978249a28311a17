import { isBlob } from './attachment.ts'
import { invalidMessage } from './faults.ts'
import { isRecord, readField } from './fields.ts'
import type { Attachment, Message, MessageBody, PlainAttachment, PlainMessage } from './message.ts'

/** A promise only if there is something to wait for. */
type Pending<Value> = Value | Promise<Value>

/**
 * Resolves the bodies of a message that are a function or a promise, and its files that are a `Blob`. It checks
 * nothing else.
 *
 * @returns no promise if there is nothing to wait for
 * @throws {IntegrationError} `invalid_arguments` with the path of the body or file that failed, and the cause
 */
export function renderMessage(message: unknown): Pending<unknown> {
  if (!needsWaiting(message)) return message
  const { htmlBody, textBody, body, attachments } = message
  const bodies = [
    renderBody('htmlBody', htmlBody),
    renderBody('textBody', textBody),
    renderBody('body', body),
  ]
  return whenReady(bodies, (texts) =>
    whenReady(attachments?.map(readFile) ?? [], (files) => fill(message, texts, files)),
  )
}

/** Whether a message must be awaited. `composeMessage` names the fault of one that can’t be read. */
function needsWaiting(message: unknown): message is Message {
  try {
    if (!isRecord(message)) return false
    const { htmlBody, textBody, body, attachments } = message
    const files = attachments ?? undefined
    if (files !== undefined && !Array.isArray(files)) return false
    if (isPending(htmlBody) || isPending(textBody) || isPending(body)) return true
    return files?.some((file) => isBlob(readField(file, 'content'))) ?? false
  } catch {
    return false
  }
}

function isPending(body: unknown): boolean {
  return typeof body === 'function' || isPromise(body)
}

function isPlainFile(file: Attachment): file is PlainAttachment {
  return !isBlob(file?.content)
}

/** Field by field, because a message may be an object of a class with getters. */
function fill(
  message: Message,
  [htmlBody, textBody, body]: readonly (string | null | undefined)[],
  attachments: readonly PlainAttachment[],
): PlainMessage {
  const { to, subject, from, cc, bcc, replyTo, tag, messageStream, headers, metadata } = message
  const { trackOpens, trackLinks, key } = message
  const head = { to, subject, from, cc, bcc, replyTo, tag, messageStream, headers, metadata, key }
  return { ...head, htmlBody, textBody, body, attachments, trackOpens, trackLinks } satisfies Record<
    keyof PlainMessage,
    unknown
  >
}

function renderBody(path: string, body: MessageBody | null | undefined): Pending<string | null | undefined> {
  return attempt(path, () => (typeof body === 'function' ? body() : body))
}

function readFile(file: Attachment, index: number): Pending<PlainAttachment> {
  if (isPlainFile(file)) return file
  const { name, content, contentType, contentId } = file
  const read = async () => {
    const bytes = isBlob(content) ? await content.arrayBuffer() : content
    return { name, content: bytes, contentType, contentId }
  }
  return attempt(`attachments[${index}].content`, read)
}

function attempt<Value>(path: string, work: () => Value | PromiseLike<Value>): Pending<Value> {
  const fail = (cause: unknown) => {
    throw invalidMessage([{ path, message: 'could not be rendered' }], { cause })
  }
  try {
    const value = work()
    if (!isPromise(value)) return value
    const rendered = Promise.resolve(value).catch(fail)
    // Another body may fail first.
    rendered.catch(() => {})
    return rendered
  } catch (cause) {
    return fail(cause)
  }
}

function whenReady<Value, Result>(
  values: readonly Pending<Value>[],
  use: (values: readonly Value[]) => Pending<Result>,
): Pending<Result> {
  const ready: Value[] = []
  for (const value of values) {
    if (isPromise(value)) return Promise.all(values).then(use)
    ready.push(value)
  }
  return use(ready)
}

function isPromise<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return isRecord(value) && typeof value.then === 'function'
}
