/**
 * The event envelope and the seven events, as schemas and types (specification §2.1 and §6, contract §1).
 * Unknown fields are dropped, so that a newer platform does not break an older host; known fields of the
 * wrong type are an error.
 *
 * @module
 */
import * as z from 'zod'

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

// Ids become parts of paths, and these two would lead out of theirs.
const identifier = z
  .string()
  .min(1)
  .max(200)
  .regex(/^(?!\.\.?$)/, 'can’t be “.” or “..”')
  .refine((id) => id.isWellFormed(), 'holds half a character')

const deployment = z
  .object({
    id: identifier.describe('The platform’s id of the deployment.'),
    inputs: z.record(z.string(), z.unknown()).optional().describe('What the user configured.'),
    outputs: z.record(z.string(), z.unknown()).optional().describe('What was published before.'),
  })
  .describe('The deployment that the event is about.')

const functionCall = z.object({
  name: z.string().min(1).describe('A function of the integration, or one of its aliases.'),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('The arguments, by name.'),
})

const download = z.object({
  id: identifier.optional().describe('Where the files are reported to.'),
  file: z
    .string()
    .optional()
    .describe('The file that is wanted; the integration’s first where it is left out.'),
})

const envelope = z.object({
  id: identifier.optional().describe('The same for every redelivery of one event.'),
  timestamp: z.iso.datetime({ offset: true }).optional().describe('When the event happened.'),
  deployment: deployment.optional(),
  challenge: z.string().optional().describe('Echoed by WEBHOOK_CHALLENGE.'),
  functionCall: functionCall.optional(),
  download: download.optional(),
})

const named = <const Name extends EventName>(name: Name) => envelope.extend({ name: z.literal(name) })

/** The schema of each event, by its name. */
export const eventSchemas = {
  WEBHOOK_CHALLENGE: named('WEBHOOK_CHALLENGE').describe('Verifies that the endpoint is there.'),
  DEPLOYMENT_CREATED: named('DEPLOYMENT_CREATED')
    .extend({ deployment })
    .describe('Sets a deployment up, or sets it up anew, and publishes its outputs.'),
  HEALTH_CHECK: named('HEALTH_CHECK').describe('Probes the provider with the deployment’s credentials.'),
  METRIC_UPDATE: named('METRIC_UPDATE').describe('Reads the metrics from the provider and reports them.'),
  FUNCTION_CALL: named('FUNCTION_CALL').extend({ functionCall }).describe('Runs one function.'),
  DOWNLOAD_STARTED: named('DOWNLOAD_STARTED').describe('Generates a file for the user’s own project.'),
  DEPLOYMENT_DELETED: named('DEPLOYMENT_DELETED')
    .extend({ deployment })
    .describe('Takes a deployment down; what is gone already counts as done.'),
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

/** The event of one name, parsed. */
export type EventNamed<Name extends EventName> = Extract<PlatformEvent, { name: Name }>
