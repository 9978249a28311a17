import { Refusal } from './refusals.ts'
import type { WireMessage } from './wire-message.ts'

const MEBIBYTE = 1024 * 1024

/** The provider’s documented limits. */
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

/** The provider sets these headers itself. */
const reservedHeaders =
  /^(from|to|b?cc|sender|reply-to|subject|date|return-path|received|dkim-signature|mime-version|content-type|content-transfer-encoding)$/i

/** @throws {Refusal} for the first limit that the message exceeds */
export function checkLimits({ From, Subject, Tag, HtmlBody, TextBody, Headers, ...rest }: WireMessage): void {
  const metadata = Object.entries(rest.Metadata ?? {})
  const attachments = rest.Attachments ?? []
  refuseIf(!HtmlBody && !TextBody, 'Provide either email TextBody or HtmlBody or both.')
  refuseIf(exceeds([HtmlBody], limits.bodyBytes), tooLong('HtmlBody', '5 MB'))
  refuseIf(exceeds([TextBody], limits.bodyBytes), tooLong('TextBody', '5 MB'))
  refuseIf(
    exceeds([HtmlBody, TextBody, ...attachments.map(({ Content }) => Content)], limits.messageBytes),
    'The message exceeds the maximum size of 10 MB.',
  )
  for (const [field, text, limit] of [
    ['From', From, limits.from],
    ['Subject', Subject, limits.subject],
    ['Tag', Tag, limits.tag],
  ] as const) {
    refuseIf((text?.length ?? 0) > limit, tooLong(field, `${limit} characters`))
    refuseIf(hasLineBreak(text), `The '${field}' contains a line break.`)
  }
  for (const { Name, Value } of Headers ?? []) {
    refuseIf(Name.trim() === '', 'A header has no name.')
    refuseIf(reservedHeaders.test(Name), `Header '${Name}' not allowed.`)
    refuseIf(hasLineBreak(Name + Value), 'A header contains a line break.')
  }
  refuseIf(metadata.length > limits.metadataFields, 'Metadata may contain at most 10 fields.')
  for (const [name, value] of metadata) {
    refuseIf(name.length > limits.metadataName, `The metadata name '${name}' exceeds 20 characters.`)
    refuseIf(value.length > limits.metadataValue, `The metadata value of '${name}' exceeds 80 characters.`)
  }
  for (const { Name, Content, ContentID } of attachments) {
    const extension = Name.slice(Name.lastIndexOf('.') + 1).toLowerCase()
    if (forbiddenExtensions.has(extension))
      throw new Refusal('forbiddenAttachment', 'Attachment file type not allowed.')
    refuseIf(Content === '', `The attachment '${Name}' is empty.`)
    refuseIf(/[^A-Za-z0-9+/=\r\n]/.test(Content), `The content of attachment '${Name}' is not base64.`)
    // Without the prefix, no image in the HTML would be found.
    refuseIf(
      ContentID?.startsWith('cid:') === false,
      `The ContentID '${ContentID}' does not start with 'cid:'.`,
    )
  }
}

function refuseIf(isInvalid: boolean, message: string): void {
  if (isInvalid) throw new Refusal('invalidRequest', message)
}

function tooLong(field: string, limit: string): string {
  return `The '${field}' field exceeds the maximum length of ${limit}.`
}

function hasLineBreak(text: string | null | undefined): boolean {
  return /[\r\n\u0085\u2028\u2029]/.test(text ?? '')
}

/** Encodes the texts only if their length in characters leaves a doubt. */
function exceeds(texts: readonly (string | null | undefined)[], limit: number): boolean {
  const text = texts.join('')
  return text.length * 3 > limit && new TextEncoder().encode(text).byteLength > limit
}
