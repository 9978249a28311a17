/** The pipeline between HTTP and a handler, the same for every integration. */
import type { Handlers, IntegrationDefinition } from '../contract/integration.ts'
import { sha256 } from '../cryptography.ts'
import { type Claim, type ClaimOptions, DEFAULT_LEASE_MS, ownSteps } from '../delivery/claim.ts'
import { type Begun, begin, end, lastStatus } from '../delivery/idempotency.ts'
import { toJson } from '../delivery/json.ts'
import { createRecordKeys } from '../delivery/keys.ts'
import { type EventResponse, toFailure, toResponse } from '../delivery/response.ts'
import { memoryStore } from '../delivery/stores/memory.ts'
import { createJsonLogger } from '../log.ts'
import { createRedactor, redactLines } from '../redact.ts'
import { type BodyMemory, weightOf } from '../request/body-memory.ts'
import { type Operation, resolveOperation } from '../request/operation.ts'
import { LARGE_BODY, parseEvent } from '../request/parse.ts'
import { checkRequest, readBody } from '../request/read.ts'
import { inSlice, ownTurn } from '../slices.ts'
import { EventContext } from './context.ts'
import { openDeployment } from './deployment.ts'
import { type AnyHandlers, dispatch } from './dispatch.ts'
import { createEventLogger, createTrace, logEvent, type Trace } from './event-log.ts'
import { createLife } from './life.ts'
import { Deadline, ownerOf } from './limits.ts'
import type { HandlerDependencies } from './options.ts'
import { createOutbound } from './outbound.ts'
import { createReporter } from './reporter.ts'

/** A Fetch-API function: mount it at `POST /<name>/webhook` of any server or serverless function. */
export type WebhookHandler = (request: Request) => Promise<Response>

const DEFAULT_BODY_LIMIT = 10 * 1024 * 1024
const DEFAULT_TIMEOUT_MS = 25_000
/** The handler's share of an event's time; the rest is left for the last reports to the platform. */
const HANDLER_SHARE = 0.8

/**
 * Makes the webhook handler of an integration.
 *
 * @param definition the contract
 * @param handlers one for each event and function of the contract
 * @param dependencies the platform, the store and everything else that a host provides
 * @returns a function from `Request` to `Response` that never throws
 */
export function createWebhookHandler<const D extends IntegrationDefinition>(
  definition: D,
  handlers: Handlers<D>,
  dependencies: HandlerDependencies,
): WebhookHandler
export function createWebhookHandler(
  definition: IntegrationDefinition,
  handlers: AnyHandlers,
  dependencies: HandlerDependencies,
): WebhookHandler {
  const {
    platform,
    store = memoryStore(),
    verify,
    fetch: send = fetch,
    logger = createJsonLogger(),
    observer = {},
    bodyLimit = DEFAULT_BODY_LIMIT,
    trustContentLength = false,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    leaseMs = DEFAULT_LEASE_MS,
    now = Date.now,
  } = dependencies
  const route = definition.name
  const configured = createRedactor(dependencies.secrets)
  const keys = createRecordKeys(dependencies.recordKeys)
  const { waitUntil } = dependencies
  const claimingFor = (trace: Trace) => ({
    logger: redactLines(createEventLogger(logger, route, trace), configured),
    leaseMs,
    now,
    waitUntil,
    stopping: dependencies.stopping,
    ending: dependencies.ending,
  })

  async function answer(request: Request): Promise<Response> {
    const started = now()
    const trace = createTrace(configured, request)
    const memory = dependencies.limit?.openBody()
    const response = await run(request, trace, memory).catch((error: unknown) =>
      toFailure(error, trace.redactor),
    )
    const peer = response.error?.code === 'invalid_signature' ? dependencies.peer?.(request) : undefined
    logEvent({ logger, observer }, route, response, { ...trace, peer }, now() - started)
    const json = response.json ?? (await toJson(response.body ?? {}))
    return toResponse({ ...response, json }, memory?.free)
  }

  async function run(request: Request, trace: Trace, memory: BodyMemory | undefined): Promise<EventResponse> {
    let leave: (() => void) | undefined
    try {
      const { operation, hash, weight } = await read(request, trace, memory)
      leave = dependencies.limit?.enter(operation.event, route)
      const arrivedAt = Date.now()
      await memory?.work(ownerOf(operation.event, route), weight)
      // Many events may have become ready in one turn of the event loop.
      if (weight > LARGE_BODY) await ownTurn()
      const { redactor } = trace
      const claiming = claimingFor(trace)
      const begun = await begin({ definition, operation, hash, redactor, keys, store, claiming })
      return await inSlice(() => finish(operation, trace, claiming, { ...begun, arrivedAt }))
    } finally {
      leave?.()
    }
  }

  /** Reads and checks a request. The bytes of its body are free again when it returns. */
  async function read(request: Request, trace: Trace, memory: BodyMemory | undefined) {
    checkRequest(request, bodyLimit)
    const checkBody = verify?.checkHeaders?.(request.headers)
    const body = await inSlice(() => readBody(request, { bodyLimit, trustContentLength, memory }))
    await (checkBody ? checkBody(body) : verify?.(request.headers, body))
    const { event, values } = await parseEvent(body)
    trace.event = event
    const operation = resolveOperation(definition, event, request.headers)
    trace.deliveryId = operation.deliveryId
    const hash = operation.subject === undefined ? undefined : await sha256(body)
    const weight = weightOf(body.length, values)
    // Frees the bytes now, and not when they are collected. Not every runtime has it.
    if (body.length > LARGE_BODY) body.buffer.transfer?.(0)
    return { operation, hash, weight }
  }

  async function finish(
    operation: Operation,
    trace: Trace,
    claiming: ClaimOptions,
    { claimed, response: given, arrivedAt }: Begun & { arrivedAt: number },
  ): Promise<EventResponse> {
    try {
      const session = open(operation, trace, claiming, { claim: claimed?.claim, arrivedAt })
      const response = given ?? (await dispatch(session.job))
      if (given?.body?.status === 'ignored') {
        const { name } = operation.event
        session.job.reporter.log.warn(`${name} is ignored. ${String(given.body.reason)}`)
      }
      const isReplay = given !== undefined && claimed === undefined
      if (isReplay && operation.traits.claims === 'deployment') {
        await session.job.life.repeatStatus()
      }
      await session.close()
      return claimed ? await end(claimed, response, session.endsAt) : response
    } catch (error) {
      await claimed?.claim.release('unknown')
      throw error
    }
  }

  /** Opens what one event works with. `arrivedAt`: when its time began; it may have waited for memory. */
  function open(
    operation: Operation,
    trace: Trace,
    claiming: ClaimOptions,
    { claim, arrivedAt }: { claim: Claim | undefined; arrivedAt: number },
  ) {
    const { redactor, credentials } = trace
    const remaining = timeoutMs - (Date.now() - arrivedAt)
    const deadline = new Deadline(remaining * HANDLER_SHARE, claim?.lost)
    const reportDeadline = new Deadline(remaining, claim?.lost)
    const outbound = createOutbound({
      route,
      deployment: operation.event.deployment?.id,
      deadlines: { provider: deadline, platform: reportDeadline },
      claim,
      recordIntent: operation.effect && !operation.resumable,
      observer,
      trace,
      hostSecrets: configured,
    })
    const wrapFetch = (transport: typeof fetch) => outbound('platform', transport)
    const reporter = createReporter({
      platform,
      deploymentId: operation.event.deployment?.id,
      deliveryId: operation.deliveryId ?? crypto.randomUUID(),
      // Not the fence: a store may forget a released claim and count from one again.
      run: (claim?.lease.owner ?? crypto.randomUUID()).slice(0, 8),
      callback: () => ({ signal: reportDeadline.signal, wrapFetch }),
      ensureHeld: claim?.ensureHeld,
      logger: createEventLogger(logger, route, trace),
      redactor,
      now,
    })
    const read = (outputsFrom: 'event' | 'platform' | 'nowhere') =>
      openDeployment({
        operation,
        platform,
        callback: () => ({ signal: deadline.signal, wrapFetch }),
        environment: dependencies.environment,
        credentials,
        outputsFrom,
      })
    // Until a new deployment of an id has published its own, the outputs are those of the one before.
    const deployment = read(claim?.progress[ownSteps.published] === false ? 'nowhere' : 'event')
    const { egress, stopping } = dependencies
    const shared = { operation, deployment, reporter, store, claiming }
    const parts = { ...shared, deadline, outbound, egress, claim, stopping, fetch: send }
    const context = new EventContext(parts)
    const published = () => {
      const fromPlatform = read('platform')
      return { deployment: fromPlatform, context: new EventContext({ ...parts, deployment: fromPlatform }) }
    }
    const life = createLife(shared)
    const before = {
      lastStatus: claim && lastStatus(claim.progress),
      wasPublished: claim?.progress[ownSteps.published] === true,
    }
    const own = { definition, handlers, context, published, redactor, credentials, now, life }
    return {
      job: { ...own, ...before, operation, reporter },
      /** When the response must leave, in milliseconds since 1970. */
      endsAt: reportDeadline.at,
      async close() {
        deadline.end()
        await reporter.flush()
        reportDeadline.end()
      },
    }
  }

  return (request) => observer.event?.(route, request, () => answer(request)) ?? answer(request)
}
