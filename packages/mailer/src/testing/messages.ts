/**
 * What becomes of one message: refused, or accepted.
 *
 * @module
 */
import { parseAddresses } from './addresses.ts'
import { checkLimits, limits } from './limits.ts'
import { allInactive, invalidField, type Refusal, refuse, someInactive } from './refusals.ts'
import type { MailProviderSettings } from './settings.ts'
import { findShapeFault, isWireMessage, type WireMessage } from './wire-message.ts'

/** A message that the provider took. */
export interface AcceptedMessage {
  messageId: string
  /** With seven digits after the second, and the offset of Eastern Standard Time. */
  submittedAt: string
  /** As sent, with the name where there is one. */
  from: string
  /** Bare addresses; so are `cc` and `bcc`. */
  to: string[]
  cc: string[]
  bcc: string[]
  /** Those of the recipients that get nothing, because they are inactive. */
  inactive: string[]
  subject: string
  htmlBody: string | undefined
  textBody: string | undefined
  /** As sent. */
  replyTo: string | undefined
  tag: string | undefined
  messageStream: string
  headers: { name: string; value: string }[]
  metadata: Record<string, string>
  attachments: { name: string; contentType: string; contentId: string | undefined; content: string }[]
  trackOpens: boolean
  trackLinks: 'None' | 'HtmlAndText' | 'HtmlOnly' | 'TextOnly'
  /** The message on the wire. */
  raw: WireMessage
}

/** The answer to an accepted message. */
export interface Acceptance {
  To: string
  SubmittedAt: string
  MessageID: string
  ErrorCode: 0
  Message: string
}

/** What the provider makes of a message. */
export type Judgement = Refusal | { answer: Acceptance; message: AcceptedMessage | undefined }

/** Under which circumstances a message is judged. */
export interface Circumstances {
  settings: MailProviderSettings
  inactive: ReadonlySet<string>
  /** Whether the message is part of a batch: some words differ. */
  inBatch: boolean
  /** Whether it was sent with the test token: checked, and not kept. */
  isTest: boolean
  submittedAt: string
}

/** Checks a message in the provider's order, and accepts it where nothing is wrong. */
export function judge(value: unknown, circumstances: Circumstances): Judgement {
  if (!isWireMessage(value)) return invalidField(findShapeFault(value) ?? 'Message')
  const { settings, inBatch, isTest, submittedAt } = circumstances

  const fault = checkStream(value, settings)
  if (fault) return fault
  const parties = parseParties(value)
  if ('ErrorCode' in parties) return parties
  const refusal = checkSender(value.From ?? '', parties.from, settings) ?? checkLimits(value)
  if (refusal) return refusal

  const messageId = crypto.randomUUID()
  const answer: Acceptance = {
    To: value.To ?? '',
    SubmittedAt: submittedAt,
    MessageID: messageId,
    ErrorCode: 0,
    Message: isTest ? 'Test job accepted' : 'OK',
  }
  if (isTest) return { answer, message: undefined }

  const recipients = [...parties.to, ...parties.cc, ...parties.bcc]
  const barred = checkAccount(settings, parties.from, recipients)
  if (barred) return barred
  const inactive = findInactive(recipients, circumstances.inactive)
  if (inactive.length === recipients.length) return allInactive(inactive, inBatch)
  if (inactive.length > 0) answer.Message = someInactive(inactive, settings.inactiveWording)
  return { answer, message: accept(value, { messageId, submittedAt, ...parties, inactive }, settings) }
}

function checkStream({ MessageStream }: WireMessage, { streams }: MailProviderSettings): Refusal | undefined {
  const stream = MessageStream || 'outbound'
  if (!Object.hasOwn(streams, stream)) {
    return refuse('unknownStream', `The stream provided: '${stream}' does not exist on this server.`)
  }
  return streams[stream] === 'Inbound'
    ? refuse('streamCannotSend', 'Sending is not supported for this stream type.')
    : undefined
}

interface Parties {
  from: string
  to: string[]
  cc: string[]
  bcc: string[]
}

function parseParties(message: WireMessage): Parties | Refusal {
  const from = parseAddresses('From', message.From ?? '')
  if (!Array.isArray(from)) return from
  const [sender] = from
  if (sender === undefined || from.length > 1) {
    return refuse('invalidRequest', `Invalid 'From' address: '${message.From ?? ''}'.`)
  }
  const to = parseAddresses('To', message.To ?? '')
  if (!Array.isArray(to)) return to
  const cc = parseAddresses('Cc', message.Cc ?? '')
  if (!Array.isArray(cc)) return cc
  const bcc = parseAddresses('Bcc', message.Bcc ?? '')
  if (!Array.isArray(bcc)) return bcc
  const replyTo = parseAddresses('ReplyTo', message.ReplyTo ?? '')
  if (!Array.isArray(replyTo)) return replyTo

  const recipients = to.length + cc.length + bcc.length
  if (recipients === 0) return refuse('invalidRequest', 'Zero recipients specified')
  if (to.length === 0) return refuse('invalidRequest', `Invalid 'To' address: '${message.To ?? ''}'.`)
  if (recipients > limits.recipients) {
    return refuse('invalidRequest', `Exceeded the maximum of ${limits.recipients} recipients per message.`)
  }
  return { from: sender, to, cc, bcc }
}

function checkSender(header: string, address: string, settings: MailProviderSettings): Refusal | undefined {
  const sender = address.toLowerCase()
  if (settings.unconfirmedSenders.some((known) => known.toLowerCase() === sender)) {
    return refuse(
      'senderNotConfirmed',
      `The 'From' address you supplied (${header}) is a Sender Signature that has not been confirmed.`,
    )
  }
  const known = (confirmed: string) => sender === confirmed || sender.endsWith(`@${confirmed}`)
  if (!settings.senders || settings.senders.some((confirmed) => known(confirmed.toLowerCase())))
    return undefined
  return refuse(
    'senderNotFound',
    `The 'From' address you supplied (${header}) is not a Sender Signature on your account. ` +
      "Please add and confirm this address in order to be able to use it in the 'From' field of your messages.",
  )
}

function checkAccount(
  { account }: MailProviderSettings,
  from: string,
  recipients: readonly string[],
): Refusal | undefined {
  if (account === 'out-of-credits') return refuse('noCredits', 'Not allowed to send: you ran out of credits.')
  if (account === 'blocked') {
    return refuse('accountMayNotSend', 'This account is not approved to send email.')
  }
  if (account === 'pending' && recipients.some((address) => domainOf(address) !== domainOf(from))) {
    return refuse(
      'accountPending',
      'While your account is pending approval, all recipient addresses must share the same domain as the From address.',
    )
  }
  return undefined
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

function findInactive(recipients: readonly string[], inactive: ReadonlySet<string>): string[] {
  if (inactive.size === 0) return []
  return recipients.map((address) => address.toLowerCase()).filter((address) => inactive.has(address))
}

function accept(
  raw: WireMessage,
  facts: Parties & { messageId: string; submittedAt: string; inactive: string[] },
  { server }: MailProviderSettings,
): AcceptedMessage {
  return {
    ...facts,
    from: raw.From ?? '',
    subject: raw.Subject ?? '',
    htmlBody: raw.HtmlBody ?? undefined,
    textBody: raw.TextBody ?? undefined,
    replyTo: raw.ReplyTo || undefined,
    tag: raw.Tag || undefined,
    messageStream: raw.MessageStream || 'outbound',
    headers: raw.Headers?.map(({ Name, Value }) => ({ name: Name, value: Value })) ?? [],
    metadata: raw.Metadata ?? {},
    attachments:
      raw.Attachments?.map(({ Name, ContentType, ContentID, Content }) => ({
        name: Name,
        contentType: ContentType,
        contentId: ContentID || undefined,
        content: Content,
      })) ?? [],
    trackOpens: server.TrackOpens || (raw.TrackOpens ?? false),
    trackLinks: raw.TrackLinks ?? server.TrackLinks ?? 'None',
    raw,
  }
}
