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
import { cutData, cutText, escapeInvisible, type Logger, type LogLevel } from '../log.ts'
import { dataForLog, type Redactor, textForLog } from '../redact.ts'
import { levelOfFailure } from './event-log.ts'

interface ReporterOptions {
  platform: Platform
  deploymentId: string | undefined
  /** `<delivery id>:<step>` is the idempotency key of each write; `run` is new for each attempt of a delivery. */
  deliveryId: string | undefined
  run: string | undefined
  /** The event's own options for each callback. */
  callback: () => CallbackOptions
  /** Throws if the event has lost its claim. */
  ensureClaimed: (() => void) | undefined
  logger: Logger
  redactor: Redactor
  now: () => number
}

/**
 * The reporter of one event (contract §5). Lost status, logs and metrics do no harm; lost outputs and files fail the
 * event. Without a deployment it writes to the host's log only.
 */
export class Reporter {
  readonly #options: ReporterOptions
  readonly #entries: LogEntry[] = []
  #log: DeploymentLog | undefined
  /** The result of the event in words, until a status or the log has it. */
  #outcome: LogEntry | undefined
  /** One callback at a time, so that they arrive in order: deploying, outputs, running. */
  #last: Promise<unknown> | undefined
  #keys: { deliveryId: string; run: string } | undefined

  constructor(options: ReporterOptions) {
    this.#options = options
  }

  get log(): DeploymentLog {
    const add = (level: LogEntry['level']) => (message: string, data?: LogEntry['data']) =>
      void this.#entries.push(this.#toEntry(level, message, data))
    this.#log ??= {
      info: add('info'),
      warn: add('warn'),
      error: add('error'),
      done: (message) => {
        this.#keepOutcome()
        this.#outcome = this.#toEntry('info', message)
      },
    }
    return this.#log
  }

  /**
   * Logs a failure. It is an error to the deployment, but seldom to the host. The host's log leaves the provider's words
   * out, because they may quote personal data.
   */
  failure(event: string, error: IntegrationError): void {
    const { code, retryable } = error
    const message = `${event}: ${error.hint ? `${error.message} ${error.hint}` : error.message}`
    const forHost = withoutQuotes(message, error.provider?.message)
    this.#keepOutcome()
    const host = { level: levelOfFailure(error), message: forHost }
    this.#entries.push(this.#toEntry('error', message, { code, retryable }, host))
  }

  status(status: DeploymentStatus, message?: string): void {
    const { platform, redactor } = this.#options
    const clean = message === undefined ? undefined : cutText(escapeInvisible(redactor.text(message)))
    this.#send(`status “${status}”`, (deployment) =>
      platform.setStatus(deployment, { status, message: clean }, this.#keyed(`status-${status}`)),
    )
  }

  /** Reports the status of success, with what the event did. */
  success(status: DeploymentStatus): void {
    this.status(status, this.#outcome?.message)
    this.#outcome = undefined
  }

  metrics(metrics: readonly Metric[]): void {
    const { platform } = this.#options
    this.#send('metrics', (deployment) => platform.reportMetrics(deployment, metrics, this.#keyed('metrics')))
  }

  async outputs(outputs: Parameters<Platform['setOutputs']>[1]): Promise<WriteResult> {
    const { platform, deploymentId: id } = this.#options
    if (id === undefined) return 'accepted'
    return this.#inOrder(() => platform.setOutputs(id, outputs, this.#keyed('outputs')))
  }

  async download(downloadId: string, files: readonly DownloadFile[]): Promise<WriteResult> {
    const { platform, deploymentId: id } = this.#options
    if (id === undefined) return 'accepted'
    return this.#inOrder(() =>
      platform.putDownload(id, downloadId, files, this.#keyed(`download-${downloadId}`)),
    )
  }

  /** Resolves when every report has arrived or is lost; `undefined` if there is none. */
  flush(): Promise<unknown> | undefined {
    this.#keepOutcome()
    if (this.#entries.length > 0) {
      const { platform } = this.#options
      const written = this.#entries.splice(0)
      this.#send('log', (deployment) => platform.appendLogs(deployment, written, this.#keyed('logs')))
    }
    return this.#last
  }

  #keyed(step: string): CallbackOptions {
    const { callback, deliveryId, run } = this.#options
    this.#keys ??= {
      deliveryId: deliveryId ?? crypto.randomUUID(),
      run: (run ?? crypto.randomUUID()).slice(0, 8),
    }
    return { ...callback(), idempotencyKey: `${this.#keys.deliveryId}:${step}.${this.#keys.run}` }
  }

  #inOrder<Result>(call: () => Promise<Result>): Promise<Result> {
    const start = () => {
      this.#options.ensureClaimed?.()
      return call()
    }
    const result = (this.#last ?? Promise.resolve()).then(start)
    this.#last = result.catch(() => {})
    return result
  }

  #send(what: string, call: (deploymentId: string) => Promise<unknown>): void {
    const { deploymentId: id, logger, redactor } = this.#options
    if (id === undefined) return
    this.#last = this.#inOrder(() => call(id)).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : 'unknown'
      logger('warn', `The platform did not receive the ${what}.`, {
        reason: cutText(textForLog(redactor, reason)),
      })
    })
  }

  /** Writes to the host's log. */
  #toEntry(
    level: LogEntry['level'],
    message: string,
    data?: LogEntry['data'],
    host: { level: LogLevel; message: string } = { level, message },
  ): LogEntry {
    const { logger, redactor, now } = this.#options
    const clean = cutData(dataForLog(redactor, data))
    logger(host.level, cutText(textForLog(redactor, host.message)), clean)
    const timestamp = new Date(now()).toISOString()
    return {
      level,
      timestamp,
      message: cutText(textForLog(redactor, message)),
      ...(clean && { data: clean }),
    }
  }

  #keepOutcome(): void {
    if (this.#outcome) this.#entries.push(this.#outcome)
    this.#outcome = undefined
  }
}

/** A sentence with the provider's own words left out. */
function withoutQuotes(sentence: string, words = ''): string {
  return words
    .split('\n')
    .filter((line) => line.length >= 4)
    .reduce((rest, line) => rest.replaceAll(line, '…'), sentence)
}
