// The schemas of the responses (contract §2), for types and for the OpenAPI document.

import * as z from 'zod'
import { healthCheck } from './health.ts'
import type { IntegrationDefinition } from './integration.ts'
import { secretOutputs } from './marks.ts'
import { downloadFile, metric } from './platform.ts'

/** The response to an event that has no effect. */
export const ignoredResponse = z
  .object({ status: z.literal('ignored'), reason: z.string() })
  .describe('The host did nothing for this event. This is no failure: do not send the event again.')

/** The response to each event whose response has the same shape for all integrations. */
export const responseSchemas = {
  WEBHOOK_CHALLENGE: z
    .union([
      z.object({ challenge: z.string().describe('The challenge of the event.') }),
      z.object({ status: z.literal('ok').describe('The event had no challenge.') }),
    ])
    .describe('The endpoint exists.'),
  HEALTH_CHECK: z
    .object({ status: z.enum(['healthy', 'unhealthy']), checks: z.array(healthCheck) })
    .describe('The results of the checks. An unhealthy provider is a result, not a failure.'),
  METRIC_UPDATE: z
    .object({ metrics: z.array(metric.omit({ timestamp: true })) })
    .describe('The metrics that the host read from the provider and reported to the platform.'),
  DEPLOYMENT_DELETED: z
    .object({ status: z.literal('stopped') })
    .describe('The deployment is deleted, or was deleted before.'),
  DOWNLOAD_STARTED: z
    .object({ files: z.array(downloadFile) })
    .describe('The generated files. The host sent them to the platform, too. They may contain secrets.'),
}

/** The response to DEPLOYMENT_CREATED. The response to a redelivery has no secret outputs. */
export function createdResponse({ outputs }: IntegrationDefinition) {
  const replayable = { ...outputs.shape }
  for (const name of secretOutputs(outputs)) replayable[name] = z.optional(replayable[name])
  return z
    .object({ status: z.literal('running'), outputs: z.object(replayable) })
    .describe('The deployment is set up, and its outputs are published.')
}

/** The response to an event. */
export type ResponseTo<Name extends keyof typeof responseSchemas> = z.infer<(typeof responseSchemas)[Name]>
