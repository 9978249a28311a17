import type { PublishingEvent } from '../contract/event-traits.ts'
import type { DeploymentLog } from '../contract/handler-context.ts'
import type {
  CallbackOptions,
  DeploymentStatus,
  DownloadFile,
  LogEntry,
  Metric,
  Platform,
  WriteResult,
} from '../contract/platform.ts'
import type { IntegrationError } from '../errors.ts'
import { cutText, escapeInvisible, type Logger, type LogLevel, limitLine } from '../log.ts'
import { forLogs, type Redactor } from '../redact.ts'
import { levelOfFailure } from './event-log.ts'

/** See {@link createReporter}. */
export type Reporter = ReturnType<typeof createReporter>

interface ReporterOptions {
  platform: Platform
  deploymentId: string | undefined
  /** `<delivery id>:<step>` is the idempotency key of each write; `run` is new for each attempt of a delivery. */
  deliveryId: string
  run: string
  /** The event's own options for each callback. */
  callback: () => CallbackOptions
  /** Throws if the event has lost its claim. */
  ensureHeld: (() => void) | undefined
  logger: Logger
  redactor: Redactor
  now: () => number
}

interface Publication {
  /** Only such an event holds the claim of its deployment. */
  event: PublishingEvent
  outputs: Record<string, unknown>
  sensitive: readonly string[]
}

/**
 * Makes the reporter of one event (contract §5). Lost status, logs and metrics do no harm; lost outputs and files fail
 * the event. Without a deployment it writes to the host's log only.
 */
export function createReporter(options: ReporterOptions) {
  const { platform, deploymentId: id, ensureHeld = () => {}, logger, redactor } = options
  const forLog = forLogs(redactor)
  const entries: LogEntry[] = []
  /** The result of the event in words, until a status or the log has it. */
  let outcome: LogEntry | undefined
  // One callback at a time, so that they arrive in order: deploying, outputs, running.
  let last: Promise<unknown> = Promise.resolve()

  const keyed = (step: string): CallbackOptions => ({
    ...options.callback(),
    idempotencyKey: `${options.deliveryId}:${step}.${options.run}`,
  })

  function inOrder<Result>(call: () => Promise<Result>): Promise<Result> {
    const result = last.then(() => {
      ensureHeld()
      return call()
    })
    last = result.catch(() => {})
    return result
  }

  function send(what: string, call: (deploymentId: string) => Promise<unknown>): void {
    if (id === undefined) return
    last = inOrder(() => call(id)).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : 'unknown'
      logger('warn', `The platform did not receive the ${what}.`, { reason: cutText(forLog.text(reason)) })
    })
  }

  /** Writes to the host's log. */
  function toEntry(
    level: LogEntry['level'],
    message: string,
    data?: LogEntry['data'],
    host: { level: LogLevel; message: string } = { level, message },
  ): LogEntry {
    const clean = limitLine(forLog.text(message), forLog.data(data))
    logger(host.level, cutText(forLog.text(host.message)), clean.facts)
    const timestamp = new Date(options.now()).toISOString()
    return { level, timestamp, message: clean.message, ...(clean.facts && { data: clean.facts }) }
  }

  function keepOutcome(): void {
    if (outcome) entries.push(outcome)
    outcome = undefined
  }

  function setStatus(status: DeploymentStatus, message?: string): void {
    const clean = message === undefined ? undefined : cutText(escapeInvisible(redactor.text(message)))
    send(`status “${status}”`, (deployment) =>
      platform.setStatus(deployment, { status, message: clean }, keyed(`status-${status}`)),
    )
  }

  const log: DeploymentLog = {
    info: (message, data) => void entries.push(toEntry('info', message, data)),
    warn: (message, data) => void entries.push(toEntry('warn', message, data)),
    error: (message, data) => void entries.push(toEntry('error', message, data)),
    done(message) {
      keepOutcome()
      outcome = toEntry('info', message)
    },
  }

  return {
    log,
    /**
     * Logs a failure. It is an error to the deployment, but seldom to the host. The host's log leaves the provider's words
     * out, because they may quote personal data.
     */
    failure(event: string, error: IntegrationError): void {
      const { code, retryable } = error
      const message = `${event}: ${error.hint ? `${error.message} ${error.hint}` : error.message}`
      const forHost = withoutQuotes(message, error.provider?.message)
      keepOutcome()
      const host = { level: levelOfFailure(error), message: forHost }
      entries.push(toEntry('error', message, { code, retryable }, host))
    },
    status: setStatus,
    /** Reports the status of success, with what the event did. */
    success(status: DeploymentStatus): void {
      setStatus(status, outcome?.message)
      outcome = undefined
    },
    metrics(metrics: readonly Metric[]): void {
      send('metrics', (deployment) => platform.reportMetrics(deployment, metrics, keyed('metrics')))
    },
    async outputs({ outputs, sensitive }: Publication): Promise<WriteResult> {
      if (id === undefined) return 'accepted'
      return inOrder(() => platform.setOutputs(id, { outputs, sensitive }, keyed('outputs')))
    },
    async download(downloadId: string, files: readonly DownloadFile[]): Promise<WriteResult> {
      if (id === undefined) return 'accepted'
      return inOrder(() => platform.putDownload(id, downloadId, files, keyed(`download-${downloadId}`)))
    },
    /** Resolves when every report has arrived or is lost. */
    async flush(): Promise<void> {
      keepOutcome()
      if (entries.length > 0) {
        const written = entries.splice(0)
        send('log', (deployment) => platform.appendLogs(deployment, written, keyed('logs')))
      }
      await last
    },
  }
}

/** A sentence with the provider's own words left out. */
function withoutQuotes(sentence: string, words = ''): string {
  return words
    .split('\n')
    .filter((line) => line.length >= 4)
    .reduce((rest, line) => rest.replaceAll(line, '…'), sentence)
}
