/**
 * The provider’s checks of one message, in the provider’s order.
 *
 * @module
 */
import { Refusal, refuseIf } from './refusals.ts'
import type { MailProviderSettings } from './settings.ts'
import { parseWireMessage, type WireMessage } from './wire-message.ts'

/** A message that the provider accepted. */
export type AcceptedMessage = ReturnType<typeof acceptMessage>

const MEBIBYTE = 1024 * 1024
/** The provider’s documented limits. */
export const limits = {
  messageBytes: 10 * MEBIBYTE,
  bodyBytes: 5 * MEBIBYTE,
  batchBytes: 50 * MEBIBYTE,
  batchMessages: 500,
  recipients: 50,
  metadata: { fields: 10, name: 20, value: 80 },
  characters: { From: 255, Subject: 2_000, Tag: 1_000 },
} as const

const FORBIDDEN_FILES =
  /\.(vbs|exe|bin|bat|chm|com|cpl|crt|hlp|hta|inf|ins|isp|jse|lnk|mdb|pcd|pif|reg|scr|sct|shs|vbe|vba|wsf|wsh|wsl|msc|msi|msp|mst)$/i
/** The provider sets these headers itself. */
const RESERVED_HEADERS =
  /^(from|to|b?cc|sender|reply-to|subject|date|return-path|received|dkim-signature|mime-version|content-type|content-transfer-encoding)$/i
const LINE_BREAK = /[\r\n\u0085\u2028\u2029]/
// The provider’s rules: https://postmarkapp.com/support/article/1180-what-does-errorcode-300-mean
const ADDRESS = /^[\w!#$%&'`*+\-/=^{}|~]+(?:\.[\w!#$%&'`*+\-/=^{}|~]+)*@[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i
/** One entry of a list: a comma inside quotes does not separate. */
const ENTRY = /(?:"(?:\\.|[^"\\])*"|[^",])+/g

/**
 * Checks a message, and accepts it.
 *
 * @param inactive addresses that get no mail, in lower case
 * @throws {Refusal} if the provider would refuse it
 */
export function acceptMessage(value: unknown, settings: MailProviderSettings, inactive: ReadonlySet<string>) {
  const raw = parseWireMessage(value)
  const messageStream = raw.MessageStream || 'outbound'
  if (!settings.streams.includes(messageStream))
    throw new Refusal(1235, `The stream provided: '${messageStream}' does not exist on this server.`)
  const { sender, to, cc, bcc } = parseParties(raw)
  checkSender(sender, settings)
  checkLimits(raw)
  const recipients = [...to, ...cc, ...bcc].map((address) => address.toLowerCase())
  const left = recipients.filter((address) => inactive.has(address))
  if (left.length === recipients.length)
    throw new Refusal(
      406,
      `You tried to send to recipient(s) that have been marked as inactive. Found inactive addresses: ${left.join(', ')}. ` +
        'Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression.',
    )
  return {
    messageId: crypto.randomUUID(),
    /** With seven digits after the second, and the offset of Eastern Standard Time. */
    submittedAt: easternTime(new Date()),
    /** With the name if there is one. */
    from: raw.From ?? '',
    /** Bare addresses, as are `cc` and `bcc`. */
    to,
    cc,
    bcc,
    /** The recipients that get no mail, because they are inactive. */
    inactive: left,
    subject: raw.Subject ?? '',
    htmlBody: raw.HtmlBody ?? undefined,
    textBody: raw.TextBody ?? undefined,
    replyTo: raw.ReplyTo || undefined,
    tag: raw.Tag || undefined,
    messageStream,
    headers: raw.Headers?.map(({ Name, Value }) => ({ name: Name, value: Value })) ?? [],
    metadata: raw.Metadata ?? {},
    attachments:
      raw.Attachments?.map(({ Name, ContentType, ContentID, Content }) => ({
        name: Name,
        contentType: ContentType,
        contentId: ContentID || undefined,
        content: Content,
      })) ?? [],
    trackOpens: raw.TrackOpens ?? false,
    trackLinks: raw.TrackLinks ?? 'None',
    /** The message on the wire. */
    raw,
  }
}

function parseParties({ From, To, Cc, Bcc, ReplyTo }: WireMessage) {
  const [sender, ...others] = parseAddresses('From', From)
  if (sender === undefined || others.length > 0)
    throw new Refusal(300, `Invalid 'From' address: '${From ?? ''}'.`)
  const [to, cc, bcc] = [parseAddresses('To', To), parseAddresses('Cc', Cc), parseAddresses('Bcc', Bcc)]
  parseAddresses('ReplyTo', ReplyTo)
  refuseIf(to.length === 0, `Invalid 'To' address: '${To ?? ''}'.`)
  const count = to.length + cc.length + bcc.length
  refuseIf(count > limits.recipients, 'Exceeded the maximum of 50 recipients per message.')
  return { sender: sender.toLowerCase(), to, cc, bcc }
}

/**
 * Parses an address header: `a@b.c`, `Name <a@b.c>`, or several of them, separated by commas.
 *
 * @returns the bare addresses
 */
function parseAddresses(field: string, header: string | null | undefined): string[] {
  const text = header ?? ''
  refuseIf(LINE_BREAK.test(text), `Error parsing '${field}': Illegal line break.`)
  const entries = (text.match(ENTRY) ?? []).filter((entry) => entry.trim() !== '')
  const addresses = entries.map((entry) => /<([^<>]*)>\s*$/.exec(entry)?.[1]?.trim() ?? entry.trim())
  const illegal = addresses.find((address) => !ADDRESS.test(address))
  refuseIf(illegal !== undefined, `Error parsing '${field}': Illegal email address '${illegal}'.`)
  return addresses
}

function checkSender(sender: string, { senders }: MailProviderSettings): void {
  const isConfirmed = (known: string) => sender === known || sender.endsWith(`@${known}`)
  if (!senders || senders.some((known) => isConfirmed(known.toLowerCase()))) return
  throw new Refusal(
    400,
    `The 'From' address you supplied (${sender}) is not a Sender Signature on your account. ` +
      "Please add and confirm this address in order to be able to use it in the 'From' field of your messages.",
  )
}

function checkLimits({ HtmlBody, TextBody, Headers, Metadata, Attachments, ...head }: WireMessage): void {
  const files = Attachments ?? []
  refuseIf(!HtmlBody && !TextBody, 'Provide either email TextBody or HtmlBody or both.')
  for (const [field, body] of Object.entries({ HtmlBody, TextBody }))
    refuseIf(exceeds([body], limits.bodyBytes), tooLong(field, '5 MB'))
  const contents = files.map(({ Content }) => Content)
  const isTooLarge = exceeds([HtmlBody, TextBody, ...contents], limits.messageBytes)
  refuseIf(isTooLarge, 'The message exceeds the maximum size of 10 MB.')
  for (const field of ['From', 'Subject', 'Tag'] as const) {
    const [text, limit] = [head[field] ?? '', limits.characters[field]]
    refuseIf(text.length > limit, tooLong(field, `${limit} characters`))
    refuseIf(LINE_BREAK.test(text), `The '${field}' contains a line break.`)
  }
  for (const { Name, Value } of Headers ?? []) {
    refuseIf(Name.trim() === '', 'A header has no name.')
    refuseIf(RESERVED_HEADERS.test(Name), `Header '${Name}' not allowed.`)
    refuseIf(LINE_BREAK.test(Name + Value), 'A header contains a line break.')
  }
  const metadata = Object.entries(Metadata ?? {})
  refuseIf(metadata.length > limits.metadata.fields, 'Metadata may contain at most 10 fields.')
  for (const [name, value] of metadata) {
    refuseIf(name.length > limits.metadata.name, `The metadata name '${name}' exceeds 20 characters.`)
    refuseIf(value.length > limits.metadata.value, `The metadata value of '${name}' exceeds 80 characters.`)
  }
  for (const { Name, Content, ContentID } of files) {
    if (FORBIDDEN_FILES.test(Name)) throw new Refusal(411, 'Attachment file type not allowed.')
    refuseIf(Content === '', `The attachment '${Name}' is empty.`)
    refuseIf(/[^A-Za-z0-9+/=\r\n]/.test(Content), `The content of attachment '${Name}' is not base64.`)
    // Without the prefix, no image in the HTML would be found.
    const hasPrefix = ContentID?.startsWith('cid:') ?? true
    refuseIf(!hasPrefix, `The ContentID '${ContentID}' does not start with 'cid:'.`)
  }
}

function tooLong(field: string, limit: string): string {
  return `The '${field}' field exceeds the maximum length of ${limit}.`
}

function exceeds(texts: readonly (string | null | undefined)[], limit: number): boolean {
  return new TextEncoder().encode(texts.join('')).byteLength > limit
}

const EASTERN_OFFSET_MS = 5 * 60 * 60 * 1000

/** As the provider writes it: `2026-11-20T07:25:01.4170000-05:00`. */
function easternTime(date: Date): string {
  return `${new Date(date.getTime() - EASTERN_OFFSET_MS).toISOString().slice(0, -1)}0000-05:00`
}
