/**
 * The shape of a message on the wire: every field the provider knows, and of what type it is.
 *
 * @module
 * @see https://postmarkapp.com/developer/api/email-api
 */

/** A file that goes with a message. */
export interface WireAttachment {
  Name: string
  /** Base64. */
  Content: string
  ContentType: string
  ContentID?: string | null
}

/** A message as the client sends it. */
export interface WireMessage {
  From?: string | null
  To?: string | null
  Cc?: string | null
  Bcc?: string | null
  Subject?: string | null
  Tag?: string | null
  HtmlBody?: string | null
  TextBody?: string | null
  ReplyTo?: string | null
  MessageStream?: string | null
  TrackOpens?: boolean | null
  TrackLinks?: 'None' | 'HtmlAndText' | 'HtmlOnly' | 'TextOnly' | null
  Headers?: { Name: string; Value: string }[] | null
  Metadata?: Record<string, string> | null
  Attachments?: WireAttachment[] | null
}

/** @returns the path of the first fault within the value, `''` where the value itself is the fault */
type Check = (value: unknown) => string | undefined

const isString: Check = (value) => (typeof value === 'string' ? undefined : '')
const isNullableString: Check = (value) => (value === null ? undefined : isString(value))

function oneOf(...allowed: readonly unknown[]): Check {
  return (value) => (allowed.includes(value) ? undefined : '')
}

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
}

function listOf(required: Record<string, Check>, optional: Record<string, Check> = {}): Check {
  const known = new Map(Object.entries({ ...required, ...optional }))
  return (value) => {
    if (!Array.isArray(value)) return ''
    for (const [index, item] of value.entries()) {
      const fields = record(item)
      if (!fields) return `[${index}]`
      const missing = Object.keys(required).find((name) => !Object.hasOwn(fields, name))
      if (missing) return `[${index}].${missing}`
      for (const [name, field] of Object.entries(fields)) {
        if (known.get(name)?.(field) !== undefined || !known.has(name)) return `[${index}].${name}`
      }
    }
    return undefined
  }
}

const isTextByName: Check = (value) => {
  const fields = record(value)
  if (!fields) return ''
  const wrong = Object.entries(fields).find(([, field]) => typeof field !== 'string')
  return wrong && `.${wrong[0]}`
}

const fields = new Map<string, Check>(
  Object.entries({
    From: isString,
    To: isString,
    Cc: isString,
    Bcc: isString,
    Subject: isString,
    Tag: isString,
    HtmlBody: isString,
    TextBody: isString,
    ReplyTo: isString,
    MessageStream: isString,
    TrackOpens: oneOf(true, false),
    TrackLinks: oneOf('None', 'HtmlAndText', 'HtmlOnly', 'TextOnly'),
    Headers: listOf({ Name: isString, Value: isString }),
    Metadata: isTextByName,
    Attachments: listOf(
      { Name: isString, Content: isString, ContentType: isString },
      { ContentID: isNullableString },
    ),
  } satisfies Record<keyof WireMessage, Check>),
)

/**
 * Checks the names and types of a message's fields; `null` counts as absent.
 *
 * @returns the path of the first fault, where there is one
 */
export function findShapeFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'Message'
  for (const [name, field] of Object.entries(value)) {
    const check = fields.get(name)
    if (!check) return name
    const fault = field === null ? undefined : check(field)
    if (fault !== undefined) return name + fault
  }
  return undefined
}

/** Tells a message of the right shape from anything else. */
export function isWireMessage(value: unknown): value is WireMessage {
  return findShapeFault(value) === undefined
}
