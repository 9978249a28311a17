import { invalidField } from './refusals.ts'

type Text = string | null | undefined

/**
 * A message on the wire: every field that the provider knows, and no other; `null` counts as absent.
 *
 * @see https://postmarkapp.com/developer/api/email-api
 */
export interface WireMessage {
  From?: Text
  To?: Text
  Cc?: Text
  Bcc?: Text
  Subject?: Text
  Tag?: Text
  HtmlBody?: Text
  TextBody?: Text
  ReplyTo?: Text
  MessageStream?: Text
  TrackOpens?: boolean | null | undefined
  TrackLinks?: 'None' | 'HtmlAndText' | 'HtmlOnly' | 'TextOnly' | null | undefined
  Headers?: { Name: string; Value: string }[] | null | undefined
  Metadata?: Record<string, string> | null | undefined
  Attachments?: { Name: string; Content: string; ContentType: string; ContentID?: Text }[] | null | undefined
}

/** Returns the path of the first fault below a value; `undefined` if there is none. */
type Check = (value: unknown, path: string) => string | undefined
type Checks<Shape> = { [Name in keyof Required<Shape>]: Check }

const where =
  (isValid: (value: unknown) => boolean): Check =>
  (value, path) =>
    isValid(value) ? undefined : path
const required = where((value) => typeof value === 'string')
const optional =
  (check: Check): Check =>
  (value, path) =>
    (value ?? undefined) === undefined ? undefined : check(value, path)
const text = optional(required)
const oneOf = (...known: unknown[]) => optional(where((value) => known.includes(value)))

/** An object with these fields and no others; without them, with any names. */
const object =
  (checks: Record<string, Check> | undefined): Check =>
  (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return path
    const below = path && `${path}.`
    const given = new Map(Object.entries(value))
    for (const name of new Set([...Object.keys(checks ?? {}), ...given.keys()])) {
      const check = checks ? (Object.hasOwn(checks, name) ? checks[name] : where(() => false)) : required
      const fault = check?.(given.get(name), below + name)
      if (fault !== undefined) return fault
    }
    return undefined
  }
const list = (checks: Record<string, Check>) =>
  optional((value, path) =>
    Array.isArray(value)
      ? value.map((item, at) => object(checks)(item, `${path}[${at}]`)).find((fault) => fault !== undefined)
      : path,
  )

const header: Checks<NonNullable<WireMessage['Headers']>[number]> = { Name: required, Value: required }
const attachment: Checks<NonNullable<WireMessage['Attachments']>[number]> = {
  ...{ Name: required, Content: required, ContentType: required },
  ContentID: text,
}
const fields: Checks<WireMessage> = {
  ...{ From: text, To: text, Cc: text, Bcc: text, ReplyTo: text, Subject: text, Tag: text },
  ...{ HtmlBody: text, TextBody: text, MessageStream: text },
  TrackOpens: oneOf(true, false),
  TrackLinks: oneOf('None', 'HtmlAndText', 'HtmlOnly', 'TextOnly'),
  Headers: list(header),
  Metadata: optional(object(undefined)),
  Attachments: list(attachment),
}

/** @throws {Refusal} with the path of the first field that has a wrong name or type */
export function parseWireMessage(value: unknown): WireMessage {
  const fault = object(fields)(value, '')
  const isValid = (_: unknown): _ is WireMessage => fault === undefined
  if (isValid(value)) return value
  throw invalidField(fault || 'Message')
}
