// Schemas and not only types, because `docs/platform-api.json` is generated from them.

import * as z from 'zod'

const name = z.string().min(1)
const timestamp = z.iso.datetime().describe('ISO 8601, UTC.')

/** The schema of a status. */
export const deploymentStatus = z.enum(['deploying', 'running', 'unhealthy', 'failed', 'stopped'])

/** The status of a deployment on the platform (contract §5). */
export type DeploymentStatus = z.infer<typeof deploymentStatus>

/** A deployment, as the platform records it. */
export interface DeploymentRecord {
  id: string
  inputs: Record<string, unknown>
  outputs: Record<string, unknown>
  /** A {@link DeploymentStatus}, or a status of a newer platform. */
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

export const metric = z
  .object({ name, value: z.number(), unit: z.string().optional(), timestamp })
  .meta({ title: 'Metric' })

/** One measured value. `timestamp` is ISO 8601, UTC. */
export type Metric = z.infer<typeof metric>

export const downloadFile = z
  .object({
    path: name.describe('Where it belongs in the user’s own project.'),
    contentType: name.describe('Its media type.'),
    content: z.string().describe('The whole file, as text. It may hold secrets.'),
  })
  .meta({ title: 'DownloadFile' })

/** One generated file. */
export type DownloadFile = z.infer<typeof downloadFile>

/** The bodies of the callbacks that write, by the last segment of the path. */
export const callbackBodies = {
  status: z.object({
    status: deploymentStatus,
    message: z.string().optional().describe('Why, for the person who owns the deployment.'),
  }),
  logs: z.object({ entries: z.array(logEntry).min(1).describe('In the order in which they were written.') }),
  outputs: z.object({
    outputs: z.record(z.string(), z.unknown()).describe('All outputs, by name; they replace those before.'),
    sensitive: z
      .array(name)
      .describe('The outputs that are secret, as paths: `apiToken`, `connection.uri`, `users.*.password`.'),
  }),
  metrics: z.object({ metrics: z.array(metric).min(1) }),
  downloads: z.object({ files: z.array(downloadFile).min(1) }),
}

type StatusBody = z.infer<typeof callbackBodies.status>

/** Options of one callback. */
export interface CallbackOptions {
  /** The same for each retry of one write, so that the platform can drop duplicates. */
  idempotencyKey?: string | undefined
  /** Aborts the call and its retries. */
  signal?: AbortSignal | undefined
  /** Wraps the client's own `fetch` for one event: each attempt holds the event's claim, and is observed. */
  wrapFetch?: ((transport: typeof fetch) => typeof fetch) | undefined
}

/**
 * The port to the platform; `@org/platform-client` implements it over HTTP. A write returns `gone` if the platform
 * no longer knows the deployment, and throws an `IntegrationError` (`platform_unavailable`) if it can't be reached.
 */
export interface Platform {
  /** @returns the record, or `undefined` if the platform does not know the deployment */
  getDeployment(id: string, options?: CallbackOptions): Promise<DeploymentRecord | undefined>
  setStatus(id: string, status: StatusBody, options?: CallbackOptions): Promise<WriteResult>
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

/** Whether the platform accepted a write, or no longer knows the deployment. */
export type WriteResult = 'accepted' | 'gone'
