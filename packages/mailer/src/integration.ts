/**
 * The mailer’s contract: inputs, outputs, functions and metrics (specification §2.4, §2.6 and §2.7).
 *
 * @module
 */
import {
  asksFor,
  choices,
  defineIntegration,
  environmentReference,
  functionArguments,
  secret,
  token,
} from '@org/core'
import { parsedByFunction, toJsonSchema } from '@org/core/authoring'
import * as z from 'zod'
import { isAddress, parseAddress } from './address.ts'
import { ADDRESS_PATTERN } from './address-pattern.ts'
import { DEFAULT_BASE_URL, DEFAULT_MESSAGE_STREAM } from './client.ts'

/** In the schema for readers alone: a union would hide the reason, and `composeMessage` says it. */
const MAX_RECIPIENTS = 50
const MAX_MESSAGES = 10_000
/** The longest body or attachment; the message as a whole may have 10 MB. */
const MAX_BODY_LENGTH = 10 * 1024 * 1024

const address = z
  .string()
  .describe('`a@b.c` or `Name <a@b.c>`.')
  .meta({ examples: ['Ada <ada@example.com>', 'bob@example.com'] })
const addresses = z
  .union([address, z.array(address).meta({ maxItems: MAX_RECIPIENTS })], {
    error: ({ input }) =>
      `${input === undefined ? 'is required' : 'is invalid'}: expected one address or a list of addresses`,
  })
  .describe('One address or a list of addresses.')

const body = z.string().max(MAX_BODY_LENGTH)
const texts = z.record(z.string(), z.string())

const content = {
  htmlBody: body.optional().describe('The body as HTML.'),
  textBody: body.optional().describe('The body as plain text.'),
  body: body.optional().describe('An alias of htmlBody.'),
  from: address.optional().describe('The sender. Default: the deployment’s fromEmail.'),
  cc: addresses.optional(),
  bcc: addresses.optional(),
  replyTo: addresses.optional(),
  tag: z.string().optional().describe('A category for the statistics.'),
  messageStream: z.string().optional().describe('The message stream. Default: the deployment’s.'),
  headers: texts.optional().describe('Additional headers, by name.'),
  metadata: texts.optional().describe('Up to 10 values that the provider stores with the mail.'),
  attachments: z
    .array(
      z.strictObject({
        name: z.string().describe('The file’s name.'),
        content: z
          .base64()
          .max(MAX_BODY_LENGTH)
          .describe('The file, in base64. One above 3 MB needs a larger BODY_LIMIT of the host.'),
        contentType: z.string().describe('The file’s media type.'),
        contentId: z.string().optional().describe('For an inline image: the id that `cid:` refers to.'),
      }),
    )
    .optional(),
  trackOpens: z.boolean().optional(),
  trackLinks: z.enum(['None', 'HtmlAndText', 'HtmlOnly', 'TextOnly']).optional(),
}

/** The arguments of sendEmail. `composeMessage` checks everything beyond the types. */
export const messageArguments = functionArguments({
  to: addresses,
  subject: z.string().describe('The subject line.'),
  ...content,
}).meta({
  title: 'Message',
  examples: [{ to: 'ada@example.com', subject: 'Welcome', textBody: 'Hello Ada.' }],
})

// The function parses each message on its own, so that an invalid one fails alone. The manifest still shows its
// schema.
const batchMessage = parsedByFunction(z.unknown().meta(toJsonSchema(messageArguments, 'input')))

const batchArguments = functionArguments({
  messages: z
    .array(batchMessage)
    .max(MAX_MESSAGES)
    .optional()
    .describe('The messages, each with the arguments of sendEmail.'),
  to: z
    .array(address)
    .max(MAX_MESSAGES)
    .optional()
    .describe('Instead of messages: one message to each address, all with the same subject and body.'),
  subject: z.string().optional().describe('With to: the subject line.'),
  ...content,
})
  .check(({ value, issues }) => {
    const fault = (name: string, message: string) =>
      issues.push({ code: 'custom', path: [name], message, input: value })
    const { messages, ...shared } = value
    if (messages === undefined) {
      if (shared.to === undefined) fault('messages', 'is required, or a to list with one subject and body')
      else if (shared.subject === undefined) fault('subject', 'is required with a to list')
      return
    }
    for (const [name, given] of Object.entries(shared)) {
      if (given !== undefined) fault(name, 'goes into each message, not beside messages')
    }
  })
  .meta({
    examples: [
      { to: ['ada@example.com', 'bob@example.com'], subject: 'News', textBody: 'There is news.' },
      { messages: [{ to: 'ada@example.com', subject: 'News', textBody: 'There is news.' }] },
    ],
  })

const recipients = z.string().describe('The recipients, as the provider names them.')
const sentAt = z.iso.datetime().describe('When the provider accepted the mail: ISO 8601, UTC.')

const rejected = z
  .array(z.string())
  .describe('Recipients that the provider left out because they are inactive.')

/** Why a message of a batch was not sent, or why its outcome is unknown. */
const messageError = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  retryAfter: z.number().exactOptional().describe('Seconds to wait before the message is sent again.'),
  provider: z
    .object({ code: z.string(), message: z.string() })
    .exactOptional()
    .describe('The provider’s own code and words.'),
})

/** The result of one message of a batch. */
const messageResult = z.object({
  index: z.int(),
  to: recipients.nullable(),
  status: z.enum(['sent', 'failed', 'unknown']),
  messageId: z.string().nullable(),
  submittedAt: sentAt.nullable(),
  rejected,
  error: messageError.nullable(),
})

const batchResult = z.object({
  sent: z.int(),
  failed: z.int(),
  unknown: z.int().describe('Messages of calls whose outcome is unknown; they may have been sent.'),
  results: z.array(messageResult).describe('In the order given.'),
})

/** A result whose unknown messages were sent. */
function settle({ sent, failed, unknown, results }: z.infer<typeof batchResult>) {
  const found = results.map((each) =>
    each.status === 'unknown' ? { ...each, status: 'sent', error: null } : each,
  )
  return { sent: sent + unknown, failed, unknown: 0, results: found }
}

const day = z.iso.date().describe('A day, for example 2026-11-20.')

const baseUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_048)
  .refine((url) => !/^[^/]*\/\/[^/?#]*@/.test(url), 'must not contain a user name or password')

/** The pattern for a form, instead of `format`, which refuses letters beyond ASCII and white space around. */
const BASE_URL_PATTERN = String.raw`^\s*[Hh][Tt][Tt][Pp][Ss]?:\/\/(?:\[[0-9A-Fa-f:.]+\]|[^\s\/?#@:\[\]<>%^\|]+)(?::[0-9]{0,5})?(?:\/[^?#]*)?$`

/** The mailer’s contract. */
export const mailer = defineIntegration({
  name: 'mailer',
  title: 'Transactional mail',
  description:
    'Connects to a transactional mail provider, shared or dedicated, and sends mail. Nothing is provisioned.',
  events: ['DEPLOYMENT_CREATED', 'DEPLOYMENT_DELETED', 'HEALTH_CHECK', 'METRIC_UPDATE', 'FUNCTION_CALL'],
  inputs: z
    .object({
      serverType: choices({ shared: 'The platform’s', dedicated: 'Your own' })
        .default('shared')
        .describe('shared: the platform’s mail server. dedicated: your own, with its token.')
        .meta({ title: 'Mail server' }),
      apiToken: environmentReference(secret(token()))
        .optional()
        .describe('Dedicated only: the Server API Token. {{env.NAME}} refers to a variable of the host.')
        .meta({ title: 'Server API Token' }),
      fromEmail: address
        .refine(isAddress, { error: ({ input }) => String(parseAddress(input)) })
        .optional()
        .describe('The default sender: a verified signature, or an address of a verified domain.')
        .meta({ title: 'Default sender', pattern: ADDRESS_PATTERN }),
      messageStream: z
        .string()
        .default(DEFAULT_MESSAGE_STREAM)
        .describe('The message stream.')
        .meta({ title: 'Message stream' }),
      baseUrl: baseUrl
        .refine((url) => !/[?#]/.test(url), 'must not contain a query or a fragment')
        .optional()
        .describe(
          `The provider’s base URL: https, unless the host’s operator allows http. Default: ${DEFAULT_BASE_URL}.`,
        )
        .meta({ title: 'Base URL' }),
    })
    .meta({
      ...asksFor(['serverType', 'dedicated'], { apiToken: {} }, { baseUrl: { pattern: BASE_URL_PATTERN } }),
      examples: [
        { serverType: 'shared' },
        {
          serverType: 'dedicated',
          apiToken: '{{env.TENANT_MAIL_TOKEN}}',
          fromEmail: 'Shop <shop@example.com>',
        },
      ],
    }),
  outputs: z.object({
    apiToken: secret(z.string()).describe('The resolved Server API Token.'),
    fromEmail: z.string().optional().describe('The default sender.'),
    // Validated as a URL, because events carry outputs.
    apiUrl: baseUrl.describe('The provider’s base URL.'),
    messageStream: z.string().describe('The message stream.'),
  }),
  functions: {
    sendEmail: {
      description: 'Sends one mail.',
      aliases: ['send'],
      effectful: true,
      sends: 'one',
      arguments: messageArguments,
      result: z.object({
        messageId: z.string().describe('Empty if an operator settled the delivery without it.'),
        submittedAt: sentAt,
        to: recipients,
        rejected,
      }),
      settled: ({ arguments: { to }, messageId, at }) => {
        return { messageId: messageId ?? '', submittedAt: at, to: [to].flat().join(', '), rejected: [] }
      },
    },
    sendEmails: {
      description: 'Sends many mails, and returns a result for each.',
      aliases: ['sendBatch'],
      effectful: true,
      resumable: true,
      sends: 'many',
      arguments: batchArguments,
      result: batchResult,
      settled: ({ result }) => batchResult.transform(settle).safeParse(result).data,
    },
    getDeliveryStats: {
      description: 'Returns the totals of outbound mail.',
      effectful: false,
      arguments: functionArguments({
        tag: z.string().optional().describe('Only mail with this tag.'),
        fromDate: day.optional(),
        toDate: day.optional(),
        messageStream: z.string().optional().describe('Only mail of this stream.'),
      }).meta({ examples: [{ tag: 'welcome', fromDate: '2026-11-01' }] }),
      result: z.object({
        sent: z.int(),
        bounced: z.int(),
        bounceRate: z.number().describe('In percent.'),
        spamComplaints: z.int(),
        opens: z.int(),
        tracked: z.int(),
      }),
    },
  },
  metrics: {
    emails_sent: { description: 'Outbound mails sent.' },
    emails_bounced: { description: 'Outbound mails bounced.' },
    bounce_rate: { description: 'Bounce rate.', unit: 'percent' },
    spam_complaints: { description: 'Spam complaints.' },
  },
  downloads: [],
})
