/** The pipeline between HTTP and a handler, the same for every integration. */
import { breathe } from '../breathe.ts'
import type { Handlers, IntegrationDefinition } from '../contract/integration.ts'
import { sha256 } from '../cryptography.ts'
import { DEFAULT_LEASE_MS } from '../delivery/claim.ts'
import { fatesOf } from '../delivery/fates.ts'
import { type Begun, begin, end } from '../delivery/idempotency.ts'
import { createRecordKeys } from '../delivery/keys.ts'
import { type EventResponse, toFailure, toResponse } from '../delivery/response.ts'
import { memoryStore } from '../delivery/stores/memory.ts'
import { createGate } from '../http/gate.ts'
import { createJsonLogger } from '../log.ts'
import { createRedactor, redactLines } from '../redact.ts'
import { type BodyMemory, weightOf } from '../request/body-memory.ts'
import { resolveOperation } from '../request/operation.ts'
import { parseEvent } from '../request/parse.ts'
import { checkRequest, readBody } from '../request/read.ts'
import { dispatch } from './dispatch.ts'
import { createEventLogger, createTrace, logEvent, type Trace } from './event-log.ts'
import { repeatStatus } from './life.ts'
import { ownerOf } from './limits.ts'
import type { HandlerDependencies } from './options.ts'
import { createPace } from './outbound.ts'
import { type AnyHandlers, Run, type RunOptions, type Shared } from './run.ts'

/** A Fetch-API function: mount it at `POST /<name>/webhook` of any server or serverless function. */
export type WebhookHandler = (request: Request) => Promise<Response>

const DEFAULT_BODY_LIMIT = 4 * 1024 * 1024
const DEFAULT_TIMEOUT_MS = 25_000
/** A longer body is parsed in a turn of its own, and its memory freed before its event is handled. In bytes. */
const LARGE_BODY = 256 * 1024

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
  const { limit, waitUntil, environment, egress, stopping, ending } = dependencies
  const claimingFor = (trace: Trace) => ({
    logger: redactLines(createEventLogger(logger, route, trace), configured),
    leaseMs,
    now,
    waitUntil,
    stopping,
    ending,
  })
  const shared: Shared = {
    ...{ definition, handlers, platform, store, fetch: send, logger, observer, hostSecrets: configured },
    ...{ environment, egress, stopping, timeoutMs, now },
    ...{ gateOf: createGate(), pace: createPace(timeoutMs) },
  }

  async function respond(request: Request): Promise<Response> {
    const started = now()
    const trace = createTrace(configured, request)
    const sender = dependencies.peer?.(request)
    const memory = limit?.openBody(sender ?? '', now)
    const response = await work(request, trace, memory)
    const peer = isStranger(trace, response) ? sender : undefined
    logEvent(shared, route, response, trace, { peer, durationMs: now() - started })
    const json = response.json ?? JSON.stringify(response.body ?? {})
    return toResponse(response, json, memory)
  }

  async function work(
    request: Request,
    trace: Trace,
    memory: BodyMemory | undefined,
  ): Promise<EventResponse> {
    let owner: string | undefined
    try {
      const { operation, hash, weight } = await read(request, trace, memory)
      const wanted = ownerOf(operation.event, route)
      limit?.enter(wanted, operation.event, route)
      owner = wanted
      const arrivedAt = Date.now()
      memory?.work(owner, weight)
      const claiming = claimingFor(trace)
      const { redactor } = trace
      const begun = hash && (await begin({ definition, operation, hash, redactor, keys, store, claiming }))
      return await finish({ operation, trace, claiming, arrivedAt }, begun)
    } catch (error) {
      return toFailure(error, trace.redactor)
    } finally {
      if (owner !== undefined) limit?.leave(owner)
    }
  }

  /** Reads and checks a request. The bytes of its body are free again when it returns. */
  async function read(request: Request, trace: Trace, memory: BodyMemory | undefined) {
    checkRequest(request, bodyLimit)
    const checkBody = verify?.checkHeaders?.(request.headers)
    const body = await readBody(request, { bodyLimit, trustContentLength, memory })
    await (checkBody ? checkBody(body) : verify?.(request.headers, body))
    // Several may have become ready in one turn of the event loop.
    if (body.length > LARGE_BODY) await breathe()
    const { event, values } = parseEvent(body)
    trace.event = event
    const operation = resolveOperation(definition, event, request.headers)
    trace.deliveryId = operation.deliveryId
    const hash = operation.subject === undefined ? undefined : await sha256(body)
    const weight = weightOf(body.length, values)
    // Frees the bytes now, and not when they are collected. Not every runtime has it.
    if (body.length > LARGE_BODY) body.buffer.transfer?.(0)
    return { operation, hash, weight }
  }

  /** @param begun absent if the event needs no claim */
  async function finish(
    event: Omit<RunOptions, 'claim'>,
    { claimed, response: given }: Begun = {},
  ): Promise<EventResponse> {
    try {
      const run = new Run(shared, { ...event, claim: claimed?.claim })
      const { name } = run.operation.event
      const response = given ?? (await dispatch(run))
      if (given?.body?.status === 'ignored')
        run.reporter.log.warn(`${name} is ignored. ${String(given.body.reason)}`)
      const isReplay = given !== undefined && claimed === undefined
      if (!isReplay) response.fates = fatesOf(run.operation.function?.definition, response)
      if (isReplay && run.operation.traits.claims === 'deployment') await repeatStatus(run)
      await run.close()
      return claimed ? await end(claimed, response, run.deadline.at) : response
    } catch (error) {
      await claimed?.claim.release('unknown')
      throw error
    }
  }

  return (request) => observer.event?.(route, request, () => respond(request)) ?? respond(request)
}

/** Whether nobody knows who sent a request: its signature is wrong, or its body gave way before it could be checked. */
function isStranger({ event }: Trace, { error }: EventResponse): boolean {
  return !event && (error?.code === 'invalid_signature' || error?.code === 'overloaded')
}
