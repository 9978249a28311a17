/**
 * What one event tells the platform (contract §5). Status and logs may get lost without harm; outputs may not.
 *
 * @module
 */
import type { DeploymentLog } from './context.ts'
import type { Deadline } from './deadline.ts'
import type { IntegrationError } from '../errors.ts'
import type { Logger } from '../log.ts'
import type {
  CallbackOptions,
  DeploymentStatus,
  DownloadFile,
  LogEntry,
  Metric,
  Platform,
  WriteResult,
} from '../contract/platform.ts'
import { forLogs, type Redactor } from '../redact.ts'

/** Reports on one event. Without a deployment it tells the host's log, and nobody else. */
export interface Reporter {
  readonly log: DeploymentLog
  /** Tells that an event failed. What the provider said goes to the platform alone: it may quote what it was sent. */
  failure(event: string, error: IntegrationError): void
  status(status: DeploymentStatus, message?: string): void
  metrics(metrics: readonly Metric[]): void
  outputs(outputs: Record<string, unknown>, sensitive: readonly string[]): Promise<WriteResult>
  download(downloadId: string, files: readonly DownloadFile[]): Promise<WriteResult>
  /** Waits until everything that may get lost was told, or was lost. */
  flush(): Promise<void>
}

/** Where a {@link Reporter} reports to, and for whom. */
export interface ReporterOptions {
  platform: Platform
  deploymentId: string | undefined
  /** `<delivery id>:<step>` is the idempotency key of each write; `run` tells the tries of a delivery apart. */
  deliveryId: string
  run: string
  deadline: Deadline
  /** Throws where this event is no longer ours to report on. */
  ensureHeld?: (() => void) | undefined
  logger: Logger
  redactor: Redactor
  now: () => number
}

/** Makes the reporter of one event. */
export function createReporter(options: ReporterOptions): Reporter {
  const { platform, deploymentId: id, ensureHeld = () => {}, logger, redactor } = options
  const forLog = forLogs(redactor)
  const entries: LogEntry[] = []
  // One after another, so that “running” never overtakes “deploying”.
  let told: Promise<unknown> = Promise.resolve()

  const keyed = (step: string): CallbackOptions => ({
    idempotencyKey: `${options.deliveryId}:${step}.${options.run}`,
    signal: options.deadline.signal,
    ensureHeld,
  })

  function tell(what: string, call: (deploymentId: string) => Promise<unknown>): void {
    if (id === undefined) return
    told = told
      .then(() => {
        ensureHeld()
        return call(id)
      })
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : 'unknown'
        logger('warn', `The platform was not told the ${what}.`, { reason: forLog.text(reason) })
      })
  }

  function write(
    level: LogEntry['level'],
    message: string,
    data?: Record<string, unknown>,
    forHost = message,
  ): void {
    const clean = { message: forLog.text(message), data: forLog.data(data) }
    logger(level, forLog.text(forHost), clean.data)
    entries.push({ level, timestamp: new Date(options.now()).toISOString(), ...clean })
  }

  return {
    log: {
      info: (message, data) => write('info', message, data),
      warn: (message, data) => write('warn', message, data),
      error: (message, data) => write('error', message, data),
    },
    failure(event, error) {
      const { code, retryable } = error
      const message = `${event}: ${error.hint ? `${error.message} ${error.hint}` : error.message}`
      write('error', message, { code, retryable }, withoutWords(message, error.provider?.message))
    },
    status(status, message) {
      const clean = message === undefined ? undefined : redactor.text(message)
      tell(`status “${status}”`, (deployment) =>
        platform.setStatus(deployment, { status, message: clean }, keyed(`status-${status}`)),
      )
    },
    metrics(metrics) {
      tell('metrics', (deployment) => platform.reportMetrics(deployment, metrics, keyed('metrics')))
    },
    async outputs(outputs, sensitive) {
      if (id === undefined) return 'accepted'
      ensureHeld()
      return platform.setOutputs(id, { outputs, sensitive }, keyed('outputs'))
    },
    async download(downloadId, files) {
      if (id === undefined) return 'accepted'
      ensureHeld()
      return platform.putDownload(id, downloadId, files, keyed(`download-${downloadId}`))
    },
    async flush() {
      if (entries.length > 0) {
        const written = entries.splice(0)
        tell('log', (deployment) => platform.appendLogs(deployment, written, keyed('logs')))
      }
      await told
    },
  }
}

/** A sentence without what it quotes of the provider. */
function withoutWords(sentence: string, words = ''): string {
  return words
    .split('\n')
    .filter((line) => line.length >= 4)
    .reduce((rest, line) => rest.replaceAll(line, '…'), sentence)
}
