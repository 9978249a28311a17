/**
 * The port through which an event reports to the platform. `@org/platform-client` speaks it over HTTP;
 * a test may pass an object of its own. The shapes are schemas, because the platform's own description
 * (`docs/platform-api.json`) is made of them.
 *
 * @module
 */
import * as z from 'zod'

const name = z.string().min(1)
const timestamp = z.iso.datetime().describe('ISO 8601, UTC.')

const deploymentStatus = z.enum(['deploying', 'running', 'unhealthy', 'failed', 'stopped'])

/** The life of a deployment, as the platform shows it (contract §5). */
export type DeploymentStatus = z.infer<typeof deploymentStatus>

/** What the platform keeps of a deployment. */
export interface DeploymentRecord {
  id: string
  inputs: Record<string, unknown>
  outputs: Record<string, unknown>
  /** One of {@link DeploymentStatus}, or what a newer platform calls it. */
  status?: string | undefined
}

const logEntry = z
  .object({
    level: z.enum(['info', 'warn', 'error']),
    message: z.string().describe('One or more sentences for the person who owns the deployment; no secret.'),
    timestamp,
    data: z.record(z.string(), z.unknown()).optional().describe('Further facts; no secret.'),
  })
  .meta({ title: 'LogEntry' })

/** One line of a deployment's log. */
export type LogEntry = z.infer<typeof logEntry>

/** One measured value. */
export const metric = z
  .object({ name, value: z.number(), unit: z.string().optional(), timestamp })
  .meta({ title: 'Metric' })

/** One measured value; `timestamp` is ISO 8601, UTC. */
export type Metric = z.infer<typeof metric>

/** One generated file. */
export const downloadFile = z
  .object({
    path: name.describe('Where it belongs in the user’s own project.'),
    contentType: name.describe('Its media type.'),
    content: z.string().describe('The whole file, as text. It may hold secrets.'),
  })
  .meta({ title: 'DownloadFile' })

/** One generated file. */
export type DownloadFile = z.infer<typeof downloadFile>

/** The body of each callback that writes, by the last word of its path. */
export const callbackBodies = {
  status: z.object({
    status: deploymentStatus,
    message: z.string().optional().describe('Why, for the person who owns the deployment.'),
  }),
  logs: z.object({ entries: z.array(logEntry).min(1).describe('In the order in which they were written.') }),
  outputs: z.object({
    outputs: z.record(z.string(), z.unknown()).describe('All outputs, by name; they replace those before.'),
    sensitive: z.array(name).describe('The names of the outputs that are secret.'),
  }),
  metrics: z.object({ metrics: z.array(metric).min(1) }),
  downloads: z.object({ files: z.array(downloadFile).min(1) }),
}

/** How one callback is made. */
export interface CallbackOptions {
  /** The same for every repetition of one write, so that the platform can drop the second. */
  idempotencyKey?: string | undefined
  /** Ends the call, retries included. */
  signal?: AbortSignal | undefined
  /** Wraps the client's own `fetch` for this event: each attempt holds the event's claim, and is observed. */
  wrapFetch?: ((transport: typeof fetch) => typeof fetch) | undefined
}

/**
 * What an event can ask of the platform, or tell it. Writes answer `gone` where the platform no longer knows
 * the deployment, and throw an `IntegrationError` (`platform_unavailable`) where it can't be told.
 */
export interface Platform {
  /** @returns the record, or `undefined` where the platform does not know the deployment */
  getDeployment(id: string, options?: CallbackOptions): Promise<DeploymentRecord | undefined>
  setStatus(
    id: string,
    status: { status: DeploymentStatus; message?: string | undefined },
    options?: CallbackOptions,
  ): Promise<WriteResult>
  appendLogs(id: string, entries: readonly LogEntry[], options?: CallbackOptions): Promise<WriteResult>
  setOutputs(
    id: string,
    outputs: { outputs: Record<string, unknown>; sensitive: readonly string[] },
    options?: CallbackOptions,
  ): Promise<WriteResult>
  reportMetrics(id: string, metrics: readonly Metric[], options?: CallbackOptions): Promise<WriteResult>
  putDownload(
    id: string,
    downloadId: string,
    files: readonly DownloadFile[],
    options?: CallbackOptions,
  ): Promise<WriteResult>
}

/** Whether the platform took a write, or no longer knows the deployment. */
export type WriteResult = 'accepted' | 'gone'
