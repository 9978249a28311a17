/**
 * The port through which an event reports to the platform. `@org/platform-client` speaks it over HTTP;
 * a test may pass an object of its own.
 *
 * @module
 */

/** The life of a deployment, as the platform shows it (contract §5). */
export type DeploymentStatus = 'deploying' | 'running' | 'unhealthy' | 'failed' | 'stopped'

/** What the platform keeps of a deployment. */
export interface DeploymentRecord {
  id: string
  inputs: Record<string, unknown>
  outputs: Record<string, unknown>
  /** One of {@link DeploymentStatus}, or what a newer platform calls it. */
  status?: string | undefined
}

/** One line of a deployment's log. */
export interface LogEntry {
  level: 'info' | 'warn' | 'error'
  message: string
  /** ISO 8601, UTC. */
  timestamp: string
  data?: Record<string, unknown> | undefined
}

/** One measured value. */
export interface Metric {
  name: string
  value: number
  unit?: string | undefined
  /** ISO 8601, UTC. */
  timestamp: string
}

/** One generated file. */
export interface DownloadFile {
  path: string
  contentType: string
  content: string
}

/** How one callback is made. */
export interface CallbackOptions {
  /** The same for every repetition of one write, so that the platform can drop the second. */
  idempotencyKey?: string | undefined
  /** Ends the call, retries included. */
  signal?: AbortSignal | undefined
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
