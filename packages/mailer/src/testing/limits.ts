/**
 * The provider's documented limits of one message.
 *
 * @module
 */
import { type Refusal, refuse } from './refusals.ts'
import type { WireMessage } from './wire-message.ts'

const MEBIBYTE = 1024 * 1024

/** The provider's limits. */
export const limits = {
  messageBytes: 10 * MEBIBYTE,
  bodyBytes: 5 * MEBIBYTE,
  batchBytes: 50 * MEBIBYTE,
  batchMessages: 500,
  recipients: 50,
  metadataFields: 10,
  metadataName: 20,
  metadataValue: 80,
  from: 255,
  subject: 2000,
  tag: 1000,
} as const

const forbiddenExtensions = new Set(
  'vbs exe bin bat chm com cpl crt hlp hta inf ins isp jse lnk mdb pcd pif reg scr sct shs vbe vba wsf wsh wsl msc msi msp mst'.split(
    ' ',
  ),
)

/** @returns the first limit that a message breaks, where it breaks one */
export function checkLimits(message: WireMessage): Refusal | undefined {
  return checkBodies(message) ?? checkTexts(message) ?? checkMetadata(message) ?? checkAttachments(message)
}

function checkBodies({ HtmlBody, TextBody, Attachments }: WireMessage): Refusal | undefined {
  if (!HtmlBody && !TextBody) {
    return refuse('invalidRequest', 'Provide either email TextBody or HtmlBody or both.')
  }
  if (exceeds([HtmlBody], limits.bodyBytes)) return tooLong('HtmlBody', '5 MB')
  if (exceeds([TextBody], limits.bodyBytes)) return tooLong('TextBody', '5 MB')
  const contents = Attachments?.map(({ Content }) => Content) ?? []
  if (exceeds([HtmlBody, TextBody, ...contents], limits.messageBytes)) {
    return refuse('invalidRequest', 'The message exceeds the maximum size of 10 MB.')
  }
  return undefined
}

function checkTexts({ From, Subject, Tag, Headers }: WireMessage): Refusal | undefined {
  if (From && From.length > limits.from) return tooLong('From', `${limits.from} characters`)
  if (Subject && Subject.length > limits.subject) return tooLong('Subject', `${limits.subject} characters`)
  if (Tag && Tag.length > limits.tag) return tooLong('Tag', `${limits.tag} characters`)
  if (hasLineBreak(Subject)) return refuse('invalidRequest', "The 'Subject' contains a line break.")
  if (hasLineBreak(Tag)) return refuse('invalidRequest', "The 'Tag' contains a line break.")
  for (const { Name, Value } of Headers ?? []) {
    if (Name.trim() === '') return refuse('invalidRequest', 'A header has no name.')
    if (hasLineBreak(Name) || hasLineBreak(Value)) {
      return refuse('invalidRequest', 'A header contains a line break.')
    }
  }
  return undefined
}

function checkMetadata({ Metadata }: WireMessage): Refusal | undefined {
  const entries = Object.entries(Metadata ?? {})
  if (entries.length > limits.metadataFields) {
    return refuse('invalidRequest', `Metadata may contain at most ${limits.metadataFields} fields.`)
  }
  const names = new Set<string>()
  for (const [name, value] of entries) {
    if (name.length > limits.metadataName) {
      return refuse(
        'invalidRequest',
        `The metadata name '${name}' exceeds ${limits.metadataName} characters.`,
      )
    }
    if (value.length > limits.metadataValue) {
      return refuse(
        'invalidRequest',
        `The metadata value of '${name}' exceeds ${limits.metadataValue} characters.`,
      )
    }
    names.add(name.toLowerCase())
  }
  return names.size === entries.length
    ? undefined
    : refuse('invalidRequest', 'Metadata names must differ in more than their case.')
}

function checkAttachments({ Attachments }: WireMessage): Refusal | undefined {
  for (const { Name, Content } of Attachments ?? []) {
    const extension = Name.slice(Name.lastIndexOf('.') + 1).toLowerCase()
    if (forbiddenExtensions.has(extension)) {
      return refuse('forbiddenAttachment', 'Attachment file type not allowed.')
    }
    if (/[^A-Za-z0-9+/=\r\n]/.test(Content)) {
      return refuse('invalidRequest', `The content of attachment '${Name}' is not base64.`)
    }
  }
  return undefined
}

function tooLong(field: string, limit: string): Refusal {
  return refuse('invalidRequest', `The '${field}' field exceeds the maximum length of ${limit}.`)
}

function hasLineBreak(text: string | null | undefined): boolean {
  return /[\r\n]/.test(text ?? '')
}

const MOST_BYTES_PER_UNIT = 3

/** Counts the bytes only where the number of characters leaves a doubt: most messages are small. */
function exceeds(texts: readonly (string | null | undefined)[], limit: number): boolean {
  let units = 0
  for (const text of texts) units += text?.length ?? 0
  if (units * MOST_BYTES_PER_UNIT <= limit) return false
  const encoder = new TextEncoder()
  let bytes = 0
  for (const text of texts) bytes += encoder.encode(text ?? '').byteLength
  return bytes > limit
}
