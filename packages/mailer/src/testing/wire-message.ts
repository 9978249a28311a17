import * as z from 'zod'
import { invalidField } from './refusals.ts'

const text = z.string().nullish()

/**
 * A message on the wire: every field that the provider knows, and no other; `null` counts as absent.
 *
 * @see https://postmarkapp.com/developer/api/email-api
 */
const wireMessage = z.strictObject({
  From: text,
  To: text,
  Cc: text,
  Bcc: text,
  Subject: text,
  Tag: text,
  HtmlBody: text,
  TextBody: text,
  ReplyTo: text,
  MessageStream: text,
  TrackOpens: z.boolean().nullish(),
  TrackLinks: z.enum(['None', 'HtmlAndText', 'HtmlOnly', 'TextOnly']).nullish(),
  Headers: z.array(z.strictObject({ Name: z.string(), Value: z.string() })).nullish(),
  Metadata: z.record(z.string(), z.string()).nullish(),
  Attachments: z
    .array(
      z.strictObject({ Name: z.string(), Content: z.string(), ContentType: z.string(), ContentID: text }),
    )
    .nullish(),
})

/** A message as the client sends it. */
export type WireMessage = z.infer<typeof wireMessage>

/** @throws {Refusal} with the path of the first field that has a wrong name or type */
export function parseWireMessage(value: unknown): WireMessage {
  const { data, error } = wireMessage.safeParse(value)
  if (data) return data
  const issue = error.issues[0]
  const name = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  throw invalidField(z.core.toDotPath([...(issue?.path ?? []), ...name]) || 'Message')
}
