import { invalidField } from './refusals.ts'

/** Recognises a value that the provider accepts in a field. */
type Check<Value> = (value: unknown) => value is Value
type Checks = Readonly<Record<string, Check<unknown>>>
type Checked<Shape extends Checks> = {
  [Name in keyof Shape]: Shape[Name] extends Check<infer Value> ? Value : never
}

const isText = (value: unknown) => typeof value === 'string'
const isFlag = (value: unknown) => typeof value === 'boolean'
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isTracking = (value: unknown) =>
  value === 'None' || value === 'HtmlAndText' || value === 'HtmlOnly' || value === 'TextOnly'
const isTexts = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.values(value).every(isText)

/** `null` counts as absent. */
function optional<Value>(check: Check<Value>): Check<Value | null | undefined> {
  return (value): value is Value | null | undefined => (value ?? undefined) === undefined || check(value)
}

function listOf<Shape extends Checks>(checks: Shape): Check<Checked<Shape>[]> {
  return (value): value is Checked<Shape>[] =>
    Array.isArray(value) && value.every((item) => isObject(item) && faultOf(item, checks) === undefined)
}

/** The first field of an object that has a wrong type, or that the provider does not know. */
function faultOf(value: object, checks: Checks): string | undefined {
  const given = new Map(Object.entries(value))
  const isValid = (name: string) => Object.hasOwn(checks, name) && checks[name]?.(given.get(name))
  return [...Object.keys(checks), ...given.keys()].find((name) => !isValid(name))
}

const text = optional(isText)
const fields = {
  ...{ From: text, To: text, Cc: text, Bcc: text, ReplyTo: text, Subject: text, Tag: text },
  ...{ HtmlBody: text, TextBody: text, MessageStream: text },
  ...{ TrackOpens: optional(isFlag), TrackLinks: optional(isTracking), Metadata: optional(isTexts) },
  Headers: optional(listOf({ Name: isText, Value: isText })),
  Attachments: optional(listOf({ Name: isText, Content: isText, ContentType: isText, ContentID: text })),
}

/**
 * A message on the wire: every field that the provider knows, and no other.
 *
 * @see https://postmarkapp.com/developer/api/email-api
 */
export type WireMessage = Partial<Checked<typeof fields>>

/** @throws {Refusal} with the name of the first field that has a wrong name or type */
export function parseWireMessage(value: unknown): WireMessage {
  const fault = isObject(value) ? faultOf(value, fields) : 'Message'
  const isValid = (_: unknown): _ is WireMessage => fault === undefined
  if (isValid(value)) return value
  throw invalidField(fault ?? '')
}
