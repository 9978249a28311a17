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

/** Whether a value is what the provider accepts. */
type Check = (value: unknown) => boolean
/** One for each field. */
type Checks<Shape> = { [Name in keyof Required<Shape>]: Check }

const optional =
  (check: Check): Check =>
  (value) =>
    (value ?? undefined) === undefined || check(value)
const required: Check = (value) => typeof value === 'string'
const text = optional(required)

/** The first field of an object that has a wrong type, or that the provider does not know. */
function faultOf(value: object, checks: Readonly<Record<string, Check>>): string | undefined {
  const given = new Map(Object.entries(value))
  const isValid = (name: string) => Object.hasOwn(checks, name) && checks[name]?.(given.get(name))
  return [...Object.keys(checks), ...given.keys()].find((name) => !isValid(name))
}
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (checks: Readonly<Record<string, Check>>) => {
  const isItem = (item: unknown) => isObject(item) && faultOf(item, checks) === undefined
  return optional((value) => Array.isArray(value) && value.every(isItem))
}

const header: Checks<NonNullable<WireMessage['Headers']>[number]> = { Name: required, Value: required }
const attachment: Checks<NonNullable<WireMessage['Attachments']>[number]> = {
  ...{ Name: required, Content: required, ContentType: required },
  ContentID: text,
}
const tracked: readonly unknown[] = ['None', 'HtmlAndText', 'HtmlOnly', 'TextOnly']
const fields: Checks<WireMessage> = {
  ...{ From: text, To: text, Cc: text, Bcc: text, ReplyTo: text, Subject: text, Tag: text },
  ...{ HtmlBody: text, TextBody: text, MessageStream: text },
  TrackOpens: optional((value) => typeof value === 'boolean'),
  TrackLinks: optional((value) => tracked.includes(value)),
  Headers: listOf(header),
  Metadata: optional((value) => isObject(value) && Object.values(value).every(required)),
  Attachments: listOf(attachment),
}

/** @throws {Refusal} with the name of the first field that has a wrong name or type */
export function parseWireMessage(value: unknown): WireMessage {
  const fault = isObject(value) ? faultOf(value, fields) : 'Message'
  const isValid = (_: unknown): _ is WireMessage => fault === undefined
  if (isValid(value)) return value
  throw invalidField(fault ?? '')
}
