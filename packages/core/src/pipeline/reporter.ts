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

/** The reporter of one event. */
export type Reporter = ReturnType<typeof createReporter>

/**
 * Makes the reporter of one event (contract §5). Lost status, logs and metrics do no harm; lost outputs and files fail the
 * event. Without a deployment it writes to the host's log only.
 *
 * @param callback makes the event's own options for each callback
 */
export function createReporter(
  { shared: { platform, now }, operation, trace, claim, claiming: { logger } }: EventParts,
  callback: () => CallbackOptions,
) {
  const { redactor } = trace
  const id = operation.event.deployment?.id
  let entries: LogEntry[] = []
  /** The result of the event in words, until a status or the log has it. */
  let outcome: LogEntry | undefined
  /** One callback at a time, so that they arrive in order: deploying, outputs, running. */
  let last: Promise<unknown> | undefined
  let keys: { delivery: string; run: string } | undefined

  /** The idempotency key of a write is `<delivery id>:<step>`, and new for each attempt of a delivery. */
  function keyed(step: string): CallbackOptions {
    keys ??= {
      delivery: operation.deliveryId ?? crypto.randomUUID(),
      // Not the fence: a store may forget a released claim and count from one again.
      run: (claim?.lease.owner ?? crypto.randomUUID()).slice(0, 8),
    }
    return { ...callback(), idempotencyKey: `${keys.delivery}:${step}.${keys.run}` }
  }

  function inOrder<Result>(call: () => Promise<Result>): Promise<Result> {
    const start = () => {
      claim?.ensureClaimed()
      return call()
    }
    const result = (last ?? Promise.resolve()).then(start)
    last = result.catch(() => {})
    return result
  }

  function send(what: string, call: (deploymentId: string) => Promise<unknown>): void {
    if (id === undefined) return
    last = inOrder(() => call(id)).catch((error: unknown) => {
      const reason = cutText(textForLog(redactor, causeOf(error, trace.called.platform)))
      logger('warn', `The platform did not receive the ${what}.`, { reason })
    })
  }

  function toEntry(level: LogEntry['level'], message: string, data?: LogEntry['data']): LogEntry {
    const clean = cutData(dataForLog(redactor, data))
    return {
      level,
      timestamp: new Date(now()).toISOString(),
      message: cutText(textForLog(redactor, message)),
      ...(clean && { data: clean }),
    }
  }

  /** Makes an entry, and writes it to the host's log, too. */
  function note(...given: Parameters<typeof toEntry>): LogEntry {
    const entry = toEntry(...given)
    logger(entry.level, entry.message, entry.data)
    return entry
  }

  function keepOutcome(): void {
    if (outcome) entries.push(outcome)
    outcome = undefined
  }

  function status(status: DeploymentStatus, message?: string): void {
    const clean = message === undefined ? undefined : cutText(escapeInvisible(redactor.text(message)))
    send(`status “${status}”`, (deployment) =>
      platform.setStatus(deployment, { status, message: clean }, keyed(`status-${status}`)),
    )
  }

  const log: DeploymentLog = {
    info: (...given) => void entries.push(note('info', ...given)),
    warn: (...given) => void entries.push(note('warn', ...given)),
    error: (...given) => void entries.push(note('error', ...given)),
    done(message) {
      keepOutcome()
      outcome = note('info', message)
    },
  }

  return {
    log,
    status,
    /** Logs a failure for the deployment. The host's log has it in the line of the event. */
    failure(event: string, { code, retryable, message, hint }: IntegrationError): void {
      keepOutcome()
      const sentence = `${event}: ${hint ? `${message} ${hint}` : message}`
      entries.push(toEntry('error', sentence, { code, retryable }))
    },
    /** Reports the status of success, with what the event did. */
    success(done: DeploymentStatus): void {
      status(done, outcome?.message)
      outcome = undefined
    },
    metrics: (metrics: readonly Metric[]) =>
      send('metrics', (deployment) => platform.reportMetrics(deployment, metrics, keyed('metrics'))),
    async outputs(outputs: Parameters<Platform['setOutputs']>[1]): Promise<WriteResult> {
      if (id === undefined) return 'accepted'
      return inOrder(() => platform.setOutputs(id, outputs, keyed('outputs')))
    },
    async download(downloadId: string, files: readonly DownloadFile[]): Promise<WriteResult> {
      if (id === undefined) return 'accepted'
      return inOrder(() => platform.putDownload(id, downloadId, files, keyed(`download-${downloadId}`)))
    },
    /** Resolves when every report has arrived or is lost; `undefined` if there is none. */
    flush(): Promise<unknown> | undefined {
      keepOutcome()
      if (entries.length > 0) {
        // Again: a secret that the handler made became known when it returned.
        const written = redactor.data(entries)
        entries = []
        send('log', (deployment) => platform.appendLogs(deployment, written, keyed('logs')))
      }
      return last
    },
  }
}
