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
import { cutData, cutText, escapeInvisible, type Logger } from '../log.ts'
import { dataForLog, type Redactor, textForLog } from '../redact.ts'

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
  /** Why the platform did not receive a report. */
  reasonOf: (error: unknown) => string
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
      void this.#entries.push(this.#note(this.#toEntry(level, message, data)))
    this.#log ??= {
      info: add('info'),
      warn: add('warn'),
      error: add('error'),
      done: (message) => {
        this.#keepOutcome()
        this.#outcome = this.#note(this.#toEntry('info', message))
      },
    }
    return this.#log
  }

  /** Logs a failure for the deployment. The host's log has it in the line of the event. */
  failure(event: string, { code, retryable, message, hint }: IntegrationError): void {
    this.#keepOutcome()
    const sentence = `${event}: ${hint ? `${message} ${hint}` : message}`
    this.#entries.push(this.#toEntry('error', sentence, { code, retryable }))
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
    const { deploymentId: id, logger, redactor, reasonOf } = this.#options
    if (id === undefined) return
    this.#last = this.#inOrder(() => call(id)).catch((error: unknown) => {
      const reason = cutText(textForLog(redactor, reasonOf(error)))
      logger('warn', `The platform did not receive the ${what}.`, { reason })
    })
  }

  #toEntry(level: LogEntry['level'], message: string, data?: LogEntry['data']): LogEntry {
    const { redactor, now } = this.#options
    const clean = cutData(dataForLog(redactor, data))
    return {
      level,
      timestamp: new Date(now()).toISOString(),
      message: cutText(textForLog(redactor, message)),
      ...(clean && { data: clean }),
    }
  }

  /** Writes an entry to the host's log, too. */
  #note(entry: LogEntry): LogEntry {
    this.#options.logger(entry.level, entry.message, entry.data)
    return entry
  }

  #keepOutcome(): void {
    if (this.#outcome) this.#entries.push(this.#outcome)
    this.#outcome = undefined
  }
}
