/**
 * The pipeline between HTTP and a handler, the same for every integration: one function per step, in the
 * order in which an event goes through them.
 *
 * @module
 */
import { type AnyHandlers, act } from './dispatch.ts'
import { type Answer, failed, respond } from '../response.ts'
import { type Claim, DEFAULT_LEASE_MS, reserve } from '../delivery/claim.ts'
import { onlyWhileHeld, recordIntent } from './outbound.ts'
import { type HandlerContext, openDeployment } from './context.ts'
import { startDeadline } from './deadline.ts'
import type { DeliveryStore } from '../delivery/store.ts'
import { type Egress, namedHostsOnly } from '../http/egress.ts'
import { IntegrationError, toIntegrationError } from '../errors.ts'
import type { PlatformEvent } from '../contract/event.ts'
import { counting, createTrace, logEvent, type Trace } from './event-log.ts'
import type { Gate } from './limit.ts'
import type { Handlers, IntegrationDefinition } from '../contract/integration.ts'
import { createJsonLogger, type Logger } from '../log.ts'
import type { Observer } from './observer.ts'
import { hasEffect, neverTwice, once } from '../delivery/idempotency.ts'
import type { Platform } from '../contract/platform.ts'
import { createRedactor } from '../redact.ts'
import type { EnvironmentLookup } from '../contract/references.ts'
import { createReporter, type Reporter } from './reporter.ts'
import { checkRequest, parseEvent, readBody, readDeliveryId } from '../request/read.ts'
import type { Verify } from '../request/signature.ts'
import { memoryStore } from '../delivery/stores/memory.ts'

/** A Fetch-API function: mount it at `POST /<name>/webhook` of any server or serverless function. */
export type WebhookHandler = (request: Request) => Promise<Response>

/** What every integration's `createHandler` takes. */
export interface HandlerDependencies {
  /** Where events are reported to, and deployments are read from. */
  platform: Platform
  /**
   * Where it is remembered what was done.
   * @default a store in memory, which forgets at a restart
   */
  store?: DeliveryStore | undefined
  /**
   * Checks who sent a request; see `createVerifier`.
   * @default every request is accepted
   */
  verify?: Verify | undefined
  /**
   * What `{{env.NAME}}` in an input stands for.
   * @default no reference is resolved
   */
  environment?: EnvironmentLookup | undefined
  /** Values that must never show in a log or an answer, beside those that the schemas mark. */
  secrets?: readonly string[] | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /**
   * The rule for URLs that deployments bring.
   * @default `https` to named hosts
   */
  egress?: Egress | undefined
  /**
   * Lets so many events in at a time; share one between all handlers of a host.
   * @default no limit
   */
  gate?: Gate | undefined
  /** @default JSON lines on standard output */
  logger?: Logger | undefined
  /** Watches events, for metrics and traces. */
  observer?: Observer | undefined
  /**
   * Longest body, in bytes.
   * @default 10 MiB
   */
  bodyLimit?: number | undefined
  /**
   * Whether the runtime hands over no more of a body than its `content-length` announced, as HTTP servers do. Then
   * such a body is not counted once more as it arrives.
   * @default false
   */
  lengthHolds?: boolean | undefined
  /**
   * Longest time for one event and everything under it, in milliseconds.
   * @default 25_000
   */
  timeoutMs?: number | undefined
  /**
   * How long a claim lasts without a sign of life, in milliseconds; it is renewed at each third of it. After a
   * crash nobody goes on with the work before it is over.
   * @default 60_000
   */
  leaseMs?: number | undefined
  /**
   * The time in milliseconds since 1970.
   * @default Date.now
   */
  now?: (() => number) | undefined
}

const DEFAULT_BODY_LIMIT = 10 * 1024 * 1024
const DEFAULT_TIMEOUT_MS = 25_000
/** The part of an event's time that its handler may use; the rest is left for telling the platform how it ended. */
const HANDLER_SHARE = 0.8

/**
 * Makes the webhook handler of an integration.
 *
 * @param definition what the integration is
 * @param handlers what it does
 * @param dependencies what it works with; `settings` reaches the handlers as `context.settings`
 * @returns a function from `Request` to `Response` that never throws
 */
export function createWebhookHandler<const D extends IntegrationDefinition, Settings>(
  definition: D,
  handlers: Handlers<D, Settings> & AnyHandlers<Settings>,
  dependencies: HandlerDependencies & { settings: Settings },
): WebhookHandler {
  const {
    store = memoryStore(),
    verify,
    logger = createJsonLogger(),
    observer = {},
    bodyLimit = DEFAULT_BODY_LIMIT,
    lengthHolds = false,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    leaseMs = DEFAULT_LEASE_MS,
    now = Date.now,
  } = dependencies
  const claiming = { logger, leaseMs, now }
  const step: NonNullable<Observer['step']> = (name, work) => observer.step?.(name, work) ?? work()

  const configured = createRedactor(dependencies.secrets)

  return async (request) => {
    const started = now()
    const trace = createTrace(configured)
    let event: PlatformEvent | undefined
    let answer: Answer
    let leave: (() => void) | undefined
    try {
      checkRequest(request, bodyLimit)
      const body = await readBody(request, { bodyLimit, lengthHolds })
      await verify?.(request.headers, body)
      const parsed = parseEvent(body)
      event = parsed
      leave = dependencies.gate?.enter(parsed.name)
      trace.deliveryId = readDeliveryId(request.headers, parsed)
      answer = await once({ definition, store, claiming, event: parsed, body, ...trace }, (claim) =>
        handle(parsed, trace, claim),
      )
    } catch (error) {
      answer = failed(error, trace.redactor)
    } finally {
      leave?.()
    }
    logEvent(logger, { route: definition.name, event, answer, durationMs: now() - started, trace }, observer)
    return respond(answer)
  }

  /** Runs the handler with everything it needs, and tells the platform what came of it. */
  async function handle(event: PlatformEvent, trace: Trace, claim: Claim | undefined): Promise<Answer> {
    const { deliveryId, redactor, credentials } = trace
    const handlerMs = timeoutMs * HANDLER_SHARE
    const forHandler = startDeadline(handlerMs, claim?.lost)
    const forReport = startDeadline(timeoutMs, claim?.lost)
    const report = createReporter({
      platform: dependencies.platform,
      deploymentId: event.deployment?.id,
      deliveryId: deliveryId ?? crypto.randomUUID(),
      // Not the fence: a store may forget a released claim, and then counts from one again.
      run: (claim?.lease.owner ?? crypto.randomUUID()).slice(0, 8),
      deadline: forReport,
      ensureHeld: claim?.ensureHeld,
      logger,
      redactor,
      now,
    })
    const { platform, environment: lookUp, fetch: send = fetch, egress = namedHostsOnly(send) } = dependencies
    const guard = (leave: typeof fetch) => {
      const counted = counting(leave, trace)
      if (!claim) return counted
      const held = onlyWhileHeld(counted, claim)
      return neverTwice(definition, event) ? recordIntent(held, claim) : held
    }
    // What a variable of the host holds is a secret, whichever input it is for.
    const environment =
      lookUp &&
      ((name: string) => {
        const found = lookUp(name)
        if ('value' in found) credentials.add(found.value)
        return found
      })
    const context: HandlerContext<Settings> = {
      event,
      deployment: openDeployment({
        event,
        platform,
        environment,
        redactor: credentials,
        deadline: forHandler,
      }),
      settings: dependencies.settings,
      log: report.log,
      progress: claim && {
        read: (name) => claim.progress[name],
        write: claim.advance,
        reserve: (resource) =>
          reserve(
            store,
            { resource: `${definition.name}/${resource}`, owner: claim.lease.subject },
            claiming,
          ),
      },
      fetch: guard(send),
      egress: { refuse: egress.refuse, fetch: guard(egress.fetch) },
      signal: forHandler.signal,
      // By the clock that the signal goes by, whatever `now` says.
      deadline: Date.now() + handlerMs,
    }
    let answer: Answer
    try {
      const job = { definition, handlers, context, report, redactor, credentials, now }
      const body = await step('handler', () => act(event, job))
      answer = { status: 200, body }
    } catch (error) {
      const known = hasEffect(definition, event) ? neverRepeatBlindly(error) : toIntegrationError(error)
      reportFailure(event, report, known)
      answer = failed(known, redactor)
    }
    forHandler.end()
    await step('report', report.flush)
    forReport.end()
    return answer
  }
}

// A fault of the host in the middle of an effect says nothing of the effect, and a call that may have arrived
// may have had it: neither must invite a repetition.
function neverRepeatBlindly(error: unknown): IntegrationError {
  const known = toIntegrationError(error)
  const fault = known.code === 'internal_error'
  if (!fault && !(known.retryable && known.sent === 'unknown')) return known
  const message = fault ? 'The host failed in the middle of this call.' : known.message
  return new IntegrationError('outcome_unknown', message, {
    hint: 'Look at the provider whether it took effect before calling again.',
    provider: known.provider,
    sent: 'unknown',
    cause: error,
  })
}

function reportFailure(event: PlatformEvent, report: Reporter, error: IntegrationError): void {
  report.failure(event.name, error)
  const ofDeployment = event.name === 'DEPLOYMENT_CREATED' || event.name === 'DEPLOYMENT_DELETED'
  if (ofDeployment && !error.retryable)
    report.status('failed', error.hint ? `${error.message} ${error.hint}` : error.message)
}
