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
import { causeOf, type IntegrationError } from '../errors.ts'
import { cutData, cutText, escapeInvisible } from '../log.ts'
import { dataForLog, textForLog } from '../redact.ts'
import type { EventParts } from './parts.ts'

/**
 * Reports one event to the platform (contract §5). Lost status, logs and metrics do no harm; lost outputs and files fail
 * the event. Without a deployment it writes to the host's log only.
 */
export class Reporter {
  readonly log: DeploymentLog = {
    info: (...given) => void this.#note('info', ...given),
    warn: (...given) => void this.#note('warn', ...given),
    error: (...given) => void this.#note('error', ...given),
    done: (message) => {
      this.#outcome = this.#note('info', message)
    },
  }
  readonly #parts: EventParts
  readonly #callback: () => CallbackOptions
  #entries: LogEntry[] = []
  /** The entry that says what the event did. */
  #outcome: LogEntry | undefined
  #last: Promise<unknown> | undefined
  #attempt: string | undefined

  /** @param callback makes the event's own options for each callback */
  constructor(parts: EventParts, callback: () => CallbackOptions) {
    this.#parts = parts
    this.#callback = callback
  }

  status(status: DeploymentStatus, message?: string): void {
    const { redactor } = this.#parts.trace
    const clean = message === undefined ? undefined : cutText(escapeInvisible(redactor.text(message)))
    this.#send(`status “${status}”`, `status-${status}`, (platform, id, options) =>
      platform.setStatus(id, { status, message: clean }, options),
    )
  }

  /** Logs a failure for the deployment. The host's log has it in the line of the event. */
  failure(event: string, { code, retryable, message, hint }: IntegrationError): void {
    const sentence = `${event}: ${hint ? `${message} ${hint}` : message}`
    this.#add('error', sentence, { code, retryable })
  }

  /** Reports the status of success. It has the words for what the event did, and the log needs them no more. */
  success(done: DeploymentStatus): void {
    this.status(done, this.#outcome?.message)
    this.#entries = this.#entries.filter((entry) => entry !== this.#outcome)
  }

  metrics(metrics: readonly Metric[]): void {
    this.#send('metrics', 'metrics', (platform, id, options) => platform.reportMetrics(id, metrics, options))
  }

  async outputs(outputs: Parameters<Platform['setOutputs']>[1]): Promise<WriteResult> {
    return this.#write('outputs', (platform, id, options) => platform.setOutputs(id, outputs, options))
  }

  async download(downloadId: string, files: readonly DownloadFile[]): Promise<WriteResult> {
    return this.#write(`download-${downloadId}`, (platform, id, options) =>
      platform.putDownload(id, downloadId, files, options),
    )
  }

  /** Resolves when every report has arrived or is lost; `undefined` if there is none. */
  flush(): Promise<unknown> | undefined {
    if (this.#entries.length > 0) {
      // Again: a secret that the handler made became known when it returned.
      const written = this.#parts.trace.redactor.data(this.#entries)
      this.#entries = []
      this.#send('log', 'logs', (platform, id, options) => platform.appendLogs(id, written, options))
    }
    return this.#last
  }

  /** Makes one callback at a time, so that they arrive in order: deploying, outputs, running. */
  #write(step: string, write: Write): Promise<WriteResult> {
    const { shared, operation, claim } = this.#parts
    const id = operation.event.deployment?.id
    if (id === undefined) return Promise.resolve('accepted')
    const result = (this.#last ?? Promise.resolve()).then(() => {
      claim?.ensureClaimed()
      return write(shared.platform, id, { ...this.#callback(), idempotencyKey: this.#keyOf(step) })
    })
    this.#last = result.catch(() => {})
    return result
  }

  #send(what: string, step: string, write: Write): void {
    const { trace, claiming } = this.#parts
    this.#write(step, write).catch((error: unknown) => {
      const reason = cutText(textForLog(trace.redactor, causeOf(error, trace.called.platform)))
      claiming.logger('warn', `The platform did not receive the ${what}.`, { reason })
    })
  }

  /** The idempotency key of a write: new for each attempt of a delivery. */
  #keyOf(step: string): string {
    const { claim, operation } = this.#parts
    // Not the fence: a store may forget a released claim and count from one again.
    this.#attempt ??= claim?.lease.owner ?? crypto.randomUUID()
    return `${operation.deliveryId ?? this.#attempt}:${step}.${this.#attempt.slice(0, 8)}`
  }

  /** Writes to the deployment's log, and to the host's. */
  #note(level: LogEntry['level'], text: string, facts?: LogEntry['data']): LogEntry {
    const entry = this.#add(level, text, facts)
    this.#parts.claiming.logger(level, entry.message, entry.data)
    return entry
  }

  #add(level: LogEntry['level'], text: string, facts?: LogEntry['data']): LogEntry {
    const { redactor } = this.#parts.trace
    const data = cutData(dataForLog(redactor, facts))
    const entry: LogEntry = {
      level,
      timestamp: new Date(this.#parts.shared.now()).toISOString(),
      message: cutText(textForLog(redactor, text)),
      ...(data && { data }),
    }
    this.#entries.push(entry)
    return entry
  }
}

type Write = (platform: Platform, id: string, options: CallbackOptions) => Promise<WriteResult>
