/**
 * What each event is answered with (contract §2), as schemas: handlers are typed by them, and the OpenAPI
 * document is made of them.
 *
 * @module
 */
import * as z from 'zod'
import type { HealthCheck } from './health.ts'
import type { IntegrationDefinition } from './integration.ts'
import { secretNames } from './marks.ts'
import { downloadFile, metric } from './platform.ts'

const healthCheck = z
  .object({
    name: z.string().describe('What was probed.'),
    healthy: z.boolean(),
    latencyMs: z.number().describe('How long the probe took, in milliseconds.'),
    message: z.string().optional().describe('Why it is not healthy, and what can be done about it.'),
  })
  .meta({ title: 'HealthCheck' }) satisfies z.ZodType<HealthCheck>

const measured = metric.omit({ timestamp: true })

/** The answer to an event that nothing is done for. */
export const ignoredAnswer = z
  .object({ status: z.literal('ignored'), reason: z.string() })
  .describe('Nothing is done for this event; it is no failure, and need not be sent again.')

/** The answer to each event whose answer is the same for every integration. */
export const answerSchemas = {
  WEBHOOK_CHALLENGE: z
    .union([
      z.object({ challenge: z.string().describe('The one that was sent.') }),
      z.object({ status: z.literal('ok').describe('There was none to echo.') }),
    ])
    .describe('The endpoint is there.'),
  HEALTH_CHECK: z
    .object({ status: z.enum(['healthy', 'unhealthy']), checks: z.array(healthCheck) })
    .describe('What probing showed. An unhealthy provider is a finding, and no failure.'),
  METRIC_UPDATE: z
    .object({ metrics: z.array(measured) })
    .describe('What was read from the provider, and reported to the platform.'),
  DEPLOYMENT_DELETED: z
    .object({ status: z.literal('stopped') })
    .describe('The deployment is down; so it is where it was gone already.'),
  DOWNLOAD_STARTED: z
    .object({ files: z.array(downloadFile) })
    .describe('The generated files, which the platform was given too. They may hold secrets.'),
}

/** The answer to DEPLOYMENT_CREATED. A redelivery is answered without what is secret. */
export function createdAnswer({ outputs }: IntegrationDefinition) {
  const secrets = secretNames(outputs)
  const fields = Object.entries(outputs.shape).map(
    ([name, field]) => [name, secrets.includes(name) ? z.optional(field) : field] as const,
  )
  return z
    .object({ status: z.literal('running'), outputs: z.object(Object.fromEntries(fields)) })
    .describe('The deployment is set up, and its outputs are published.')
}

/** The answer to METRIC_UPDATE, with the names of the integration’s own metrics. */
export function metricsAnswer({ metrics }: IntegrationDefinition) {
  const own = measured.extend({ name: z.enum(Object.keys(metrics)) })
  return answerSchemas.METRIC_UPDATE.extend({ metrics: z.array(own) })
}

/** The answer to FUNCTION_CALL, for one function. */
export function functionAnswer(result: z.ZodType) {
  return z.object({ result })
}

/** The answer to an event. */
export type AnswerTo<Name extends keyof typeof answerSchemas> = z.infer<(typeof answerSchemas)[Name]>
