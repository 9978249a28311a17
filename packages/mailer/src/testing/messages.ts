/**
 * The provider’s checks of one message, in the provider’s order.
 *
 * @module
 */
import { parseAddresses } from './addresses.ts'
import { checkLimits, limits } from './limits.ts'
import { Refusal } from './refusals.ts'
import type { MailProviderSettings } from './settings.ts'
import { parseWireMessage, type WireMessage } from './wire-message.ts'

/** A message that the provider accepted. */
export type AcceptedMessage = ReturnType<typeof acceptMessage>

/**
 * Checks a message, and accepts it.
 *
 * @param inactive addresses that get no mail, in lower case
 * @throws {Refusal} if the provider would refuse it
 */
export function acceptMessage(value: unknown, settings: MailProviderSettings, inactive: ReadonlySet<string>) {
  const raw = parseWireMessage(value)
  const messageStream = raw.MessageStream || 'outbound'
  checkStream(messageStream, settings)
  const { sender, to, cc, bcc } = parseParties(raw)
  checkSender(sender, settings)
  checkLimits(raw)
  const recipients = [...to, ...cc, ...bcc].map((address) => address.toLowerCase())
  checkAccount(settings, sender, recipients)
  const left = recipients.filter((address) => inactive.has(address))
  if (left.length === recipients.length) {
    throw new Refusal(
      'inactiveRecipient',
      `You tried to send to recipient(s) that have been marked as inactive. Found inactive addresses: ${left.join(', ')}. ` +
        'Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression.',
    )
  }
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

function checkStream(stream: string, { streams }: MailProviderSettings): void {
  if (!Object.hasOwn(streams, stream)) {
    throw new Refusal('unknownStream', `The stream provided: '${stream}' does not exist on this server.`)
  }
  if (streams[stream] === 'Inbound') {
    throw new Refusal('streamCannotSend', 'Sending is not supported for this stream type.')
  }
}

function parseParties({ From, To, Cc, Bcc, ReplyTo }: WireMessage) {
  const [sender, ...others] = parseAddresses('From', From)
  if (sender === undefined || others.length > 0) {
    throw new Refusal('invalidRequest', `Invalid 'From' address: '${From ?? ''}'.`)
  }
  const [to, cc, bcc] = [parseAddresses('To', To), parseAddresses('Cc', Cc), parseAddresses('Bcc', Bcc)]
  parseAddresses('ReplyTo', ReplyTo)
  const count = to.length + cc.length + bcc.length
  if (count === 0) throw new Refusal('invalidRequest', 'Zero recipients specified')
  if (to.length === 0) throw new Refusal('invalidRequest', `Invalid 'To' address: '${To ?? ''}'.`)
  if (count > limits.recipients) {
    throw new Refusal('invalidRequest', 'Exceeded the maximum of 50 recipients per message.')
  }
  return { sender: sender.toLowerCase(), to, cc, bcc }
}

function checkSender(sender: string, { senders }: MailProviderSettings): void {
  const isConfirmed = (known: string) => sender === known || sender.endsWith(`@${known}`)
  if (!senders || senders.some((known) => isConfirmed(known.toLowerCase()))) return
  throw new Refusal(
    'senderNotFound',
    `The 'From' address you supplied (${sender}) is not a Sender Signature on your account. ` +
      "Please add and confirm this address in order to be able to use it in the 'From' field of your messages.",
  )
}

function checkAccount(
  { account }: MailProviderSettings,
  sender: string,
  recipients: readonly string[],
): void {
  if (account === 'out-of-credits') {
    throw new Refusal('noCredits', 'Not allowed to send: you ran out of credits.')
  }
  if (account === 'blocked') {
    throw new Refusal('accountMayNotSend', 'This account is not approved to send email.')
  }
  const domain = sender.slice(sender.lastIndexOf('@'))
  if (account === 'pending' && !recipients.every((address) => address.endsWith(domain))) {
    throw new Refusal(
      'accountPending',
      'While your account is pending approval, all recipient addresses must share the same domain as the From address.',
    )
  }
}

const EASTERN_OFFSET_MS = 5 * 60 * 60 * 1000

/** As the provider writes it: `2026-11-20T07:25:01.4170000-05:00`. */
function easternTime(date: Date): string {
  return `${new Date(date.getTime() - EASTERN_OFFSET_MS).toISOString().slice(0, -1)}0000-05:00`
}
