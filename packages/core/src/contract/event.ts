// The events (specification §2.1 and §6, contract §1). The schemas drop unknown fields, so that a newer platform
// does not break an older host.

import * as z from 'zod'
import type { DeploymentStatus } from './platform.ts'

/** The names of all events, in the order of a deployment's life. */
export const eventNames = [
  'WEBHOOK_CHALLENGE',
  'DEPLOYMENT_CREATED',
  'HEALTH_CHECK',
  'METRIC_UPDATE',
  'FUNCTION_CALL',
  'DOWNLOAD_STARTED',
  'DEPLOYMENT_DELETED',
] as const

/** The name of an event. */
export type EventName = (typeof eventNames)[number]

// Ids become parts of paths, which “.” and “..” would leave.
const identifier = z
  .string()
  .min(1)
  .max(200)
  // Without a look-ahead, which the expressions of Go and Rust lack.
  .regex(/^(?:[^.]|\.\.?[^.]|\.{3}|$)/, 'must not be “.” or “..”')
  .refine((id) => id.isWellFormed(), 'has a lone surrogate')

const deployment = z
  .object({
    id: identifier.describe('The id of the deployment on the platform.'),
    owner: identifier
      .optional()
      .describe('The customer of the platform, whose deployments share a part of the host.'),
    inputs: z.record(z.string(), z.unknown()).optional().describe('The configuration of the user.'),
    outputs: z.record(z.string(), z.unknown()).optional().describe('The outputs that were published before.'),
  })
  .meta({ title: 'Deployment', description: 'The deployment of the event.' })

const functionCall = z
  .object({
    name: z.string().min(1).describe('The name or an alias of a function of the integration.'),
    arguments: z.record(z.string(), z.unknown()).default({}).describe('The arguments, by name.'),
  })
  .meta({ title: 'FunctionCall' })

const download = z
  .object({
    id: identifier.optional().describe('The id of the download, for the callback with the files.'),
    file: z.string().optional().describe('The requested file. If absent, the integration’s first.'),
  })
  .meta({ title: 'Download' })

/** The response repeats it. */
const MAX_CHALLENGE_LENGTH = 10_000

const envelope = z.object({
  id: identifier.optional().describe('The id of the event, the same for every redelivery.'),
  timestamp: z.iso.datetime({ offset: true }).optional().describe('The time of the event.'),
  deployment: deployment.optional(),
  challenge: z
    .string()
    .max(MAX_CHALLENGE_LENGTH)
    .optional()
    .describe('The host echoes it in the response to WEBHOOK_CHALLENGE.'),
  functionCall: functionCall.optional(),
  download: download.optional(),
})

const named = <const Name extends EventName>(name: Name) => envelope.extend({ name: z.literal(name) })

/** The schema of each event, by its name. */
export const eventSchemas = {
  WEBHOOK_CHALLENGE: named('WEBHOOK_CHALLENGE').describe('Checks that the endpoint exists.'),
  DEPLOYMENT_CREATED: named('DEPLOYMENT_CREATED')
    .extend({ deployment })
    .describe('Sets up a deployment, or sets it up again, and publishes its outputs.'),
  HEALTH_CHECK: named('HEALTH_CHECK').describe('Checks the provider with the deployment’s credentials.'),
  METRIC_UPDATE: named('METRIC_UPDATE').describe(
    'Reads the provider’s metrics and reports them to the platform.',
  ),
  FUNCTION_CALL: named('FUNCTION_CALL').extend({ functionCall }).describe('Runs one function.'),
  DOWNLOAD_STARTED: named('DOWNLOAD_STARTED').describe('Generates a file for the user’s project.'),
  DEPLOYMENT_DELETED: named('DEPLOYMENT_DELETED')
    .extend({ deployment })
    .describe('Deletes a deployment. Succeeds if it was deleted before.'),
}

/** The schema of any event. */
export const platformEvent = z.discriminatedUnion(
  'name',
  [
    eventSchemas.WEBHOOK_CHALLENGE,
    eventSchemas.DEPLOYMENT_CREATED,
    eventSchemas.HEALTH_CHECK,
    eventSchemas.METRIC_UPDATE,
    eventSchemas.FUNCTION_CALL,
    eventSchemas.DOWNLOAD_STARTED,
    eventSchemas.DEPLOYMENT_DELETED,
  ],
  {
    error: (issue) =>
      issue.code === 'invalid_union' ? `expected one of ${eventNames.join(', ')}` : undefined,
  },
)

/** Any event, parsed. */
export type PlatformEvent = z.infer<typeof platformEvent>

/** How core treats an event. */
export interface EventTraits {
  /** Where an integration handles it; absent if core answers. */
  handler?: 'created' | 'deleted' | 'health' | 'metrics' | 'download' | 'functions'
  /** An event that claims its deployment never runs beside another one of it. A call claims its delivery if it has an effect. */
  claims: 'nothing' | 'call' | 'deployment'
  /** Whether it writes outputs. */
  publishes: boolean
  /** The place of the inputs if the event has none: nowhere else (`event`), or the platform’s record. */
  inputs: 'event' | 'platform'
  /** Whether it needs a deployment that was not deleted, begins one, or leaves a tombstone. */
  life: 'any' | 'needed' | 'begins' | 'ends'
  /** The status of the deployment while the handler works, after a success, and after a final failure. */
  status?: { working?: DeploymentStatus; done: DeploymentStatus; failed: DeploymentStatus }
}

const reading = { claims: 'nothing', publishes: false, inputs: 'platform' } as const

/** How core treats each event. A new event has its row here before it compiles. */
export const eventTraits = {
  WEBHOOK_CHALLENGE: { ...reading, life: 'any' },
  DEPLOYMENT_CREATED: {
    handler: 'created',
    claims: 'deployment',
    publishes: true,
    life: 'begins',
    inputs: 'event',
    status: { working: 'deploying', done: 'running', failed: 'failed' },
  },
  HEALTH_CHECK: { ...reading, handler: 'health', life: 'any' },
  METRIC_UPDATE: { ...reading, handler: 'metrics', life: 'needed' },
  FUNCTION_CALL: { ...reading, handler: 'functions', claims: 'call', life: 'needed' },
  DOWNLOAD_STARTED: { ...reading, handler: 'download', life: 'needed' },
  DEPLOYMENT_DELETED: {
    handler: 'deleted',
    claims: 'deployment',
    publishes: false,
    life: 'ends',
    inputs: 'platform',
    status: { done: 'stopped', failed: 'failed' },
  },
} as const satisfies Record<EventName, EventTraits>

type Table = typeof eventTraits

/** The events that an integration may handle. */
type HandledEvent = {
  [Name in EventName]: Table[Name] extends { handler: string } ? Name : never
}[EventName]

/** The name of the handler of an event. */
export type HandlerName<Event extends HandledEvent> = Table[Event]['handler']
