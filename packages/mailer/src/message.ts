/**
 * A mail, as its sender writes it.
 *
 * @see https://postmarkapp.com/developer/api/email-api#send-a-single-email
 * @module
 */
import type { Address, Addresses } from './address.ts'

/**
 * A file that is sent with a message.
 *
 * @see https://postmarkapp.com/developer/api/email-api#send-a-single-email
 */
export interface Attachment {
  /** The file’s name, with its extension. The provider refuses programs, such as `.exe`. */
  name: string
  /**
   * The file: a `Blob`, a `Uint8Array` (so a `Buffer`) or another view, an `ArrayBuffer`, or a text of base64,
   * which may be wrapped in lines. It must not be empty.
   */
  content: string | ArrayBuffer | ArrayBufferView | Blob
  /** The media type, for example `application/pdf`. */
  contentType: string
  /** For an inline image: `logo` for the HTML’s `<img src="cid:logo">`. A leading `cid:` makes no difference. */
  contentId?: string | undefined
}

/** A body: a text, or a function or a promise that yields one, such as a template that renders. */
export type MessageBody = string | PromiseLike<string> | (() => string | PromiseLike<string>)

/** Texts by name, in any common form. A number is written as text. */
type Texts =
  | Readonly<Record<string, string | number | null | undefined>>
  | ReadonlyMap<string, string | number>
  | Headers
  | readonly { readonly Name: string; readonly Value: string | number }[]

/** The fields of a message beside its bodies. An optional field that is empty or `null` counts as absent. */
export interface MessageFields {
  /**
   * The recipients. To, cc and bcc hold at most 50 together.
   *
   * @example `'ada@example.com'`, `'Ada Lovelace <ada@example.com>'`, `{ name: 'Ada', address: 'ada@example.com' }`
   */
  to: Addresses
  /** The subject line. The provider takes at most 2,000 characters. */
  subject: string
  /**
   * The sender: a verified signature, or an address of a verified domain.
   * @default the mailer’s `fromEmail`
   * @see https://postmarkapp.com/developer/api/email-api#send-a-single-email
   */
  from?: Address | null | undefined
  /** Recipients of a copy, whom everyone sees. */
  cc?: Addresses | null | undefined
  /** Recipients of a copy, whom nobody sees. */
  bcc?: Addresses | null | undefined
  /**
   * Where answers go.
   * @default the mailer’s `defaults.replyTo`, else the sender
   */
  replyTo?: Addresses | null | undefined
  /**
   * A category for the statistics, at most 1,000 characters.
   * @default the mailer’s `defaults.tag`
   * @see https://postmarkapp.com/developer/api/stats-api#overview
   */
  tag?: string | null | undefined
  /**
   * The id of the message stream.
   * @default the mailer’s `messageStream`
   * @see https://postmarkapp.com/message-streams
   */
  messageStream?: string | null | undefined
  /**
   * Additional headers, by name, for example `List-Unsubscribe`. Headers that the message’s fields or mail
   * servers write are refused, and so is a name that comes twice in different cases.
   * @default the mailer’s `defaults.headers`, name by name
   */
  headers?: Texts | null | undefined
  /**
   * Up to 10 values that the provider stores with the mail, and returns in its events. A name has at most 20
   * characters, a value 80.
   * @default the mailer’s `defaults.metadata`, name by name
   * @see https://postmarkapp.com/support/article/1125-custom-metadata-faq
   */
  metadata?: Texts | null | undefined
  /** Files. A message has at most 10 MB, with its files in base64. */
  attachments?: readonly Attachment[] | null | undefined
  /**
   * Whether the provider records when the mail is opened.
   * @default the mailer’s `defaults.trackOpens`, else the server’s setting
   * @see https://postmarkapp.com/developer/user-guide/tracking-opens
   */
  trackOpens?: boolean | null | undefined
  /**
   * In which bodies the provider records clicks on links.
   * @default the mailer’s `defaults.trackLinks`, else the server’s setting
   * @see https://postmarkapp.com/developer/user-guide/tracking-links
   */
  trackLinks?: 'None' | 'HtmlAndText' | 'HtmlOnly' | 'TextOnly' | null | undefined
  /**
   * Your own name for the mail, such as the id of a row, at most 255 characters. A batch’s journal knows the message by
   * it alone, so that the mail leaves once even if its content changes between two runs. A batch with a journal needs
   * one for each message. It does not leave with the mail.
   */
  key?: string | number | null | undefined
}

/** The bodies of a message, at most 5 MB each. */
export interface MessageBodies {
  /**
   * The body as HTML, or what renders it: `() => render(<Welcome />)`.
   * @see https://postmarkapp.com/developer/user-guide/send-email-with-api
   */
  htmlBody?: MessageBody | null | undefined
  /** The body as plain text. */
  textBody?: MessageBody | null | undefined
  /** An alias of htmlBody: set only one of them. */
  body?: MessageBody | null | undefined
}

type Has<Name extends keyof MessageBodies> = {
  [Key in keyof Pick<MessageBodies, Name>]-?: NonNullable<MessageBodies[Key]>
}

/** A mail. It has at least one body. */
export type Message = MessageFields & MessageBodies & (Has<'htmlBody'> | Has<'textBody'> | Has<'body'>)

/** Any number of messages. */
export type Messages = Iterable<Message> | AsyncIterable<Message>

/** Values for messages that lack them. `headers` and `metadata` are merged name by name. */
export type MessageDefaults = Pick<
  MessageFields,
  'tag' | 'metadata' | 'trackOpens' | 'trackLinks' | 'headers' | 'replyTo'
>

/** The values of fields that a message lacks, with the sender and the stream of its mailer. */
export type MessageSettings = MessageDefaults & Pick<MessageFields, 'from' | 'messageStream'>
