/** The pipeline between HTTP and a handler, the same for every integration. */
import { breathe } from '../breathe.ts'
import { findDefinitionFaults, findHandlerFaults } from '../contract/definition.ts'
import type { PlatformEvent } from '../contract/event.ts'
import type { Handlers, IntegrationDefinition } from '../contract/integration.ts'
import { sha256 } from '../cryptography.ts'
import { DEFAULT_LEASE_MS } from '../delivery/claim.ts'
import { createRecordKeys } from '../delivery/encryption.ts'
import { begin, end, isAhead } from '../delivery/idempotency.ts'
import { type EventResponse, toFailure, toResponse } from '../delivery/response.ts'
import { memoryStore } from '../delivery/stores/memory.ts'
import { IntegrationError } from '../errors.ts'
import { createGate } from '../http/gate.ts'
import { createJsonLogger } from '../log.ts'
import { refuseFaults } from '../problem.ts'
import { createRedactor, redactLines } from '../redact.ts'
import { createConcurrencyLimit, type Place } from '../request/capacity.ts'
import { resolveOperation } from '../request/operation.ts'
import { checkRequest, parseEvent, readBody } from '../request/read.ts'
import { dispatch } from './dispatch.ts'
import { createEventLogger, logEvent, Trace } from './event-log.ts'
import { repeatStatus } from './life.ts'
import { createAddressHash, fatesOf } from './messages.ts'
import { findDependencyFaults, type HandlerDependencies } from './options.ts'
import type { AnyHandlers, Shared } from './parts.ts'
import { Run } from './run.ts'

/** A Fetch-API function: mount it at `POST /<name>/webhook` of any server or serverless function. */
export type WebhookHandler = (request: Request) => Promise<Response>

const DEFAULT_BODY_LIMIT = 4 * 1024 * 1024
const DEFAULT_TIMEOUT_MS = 25_000
/** The part of an event's time in which its claim must be made. */
const CLAIM_SHARE = 0.5
/** A longer body is parsed in a turn of its own, and its memory freed before its event is handled. In bytes. */
const LARGE_BODY = 256 * 1024

/**
 * Makes the webhook handler of an integration.
 *
 * @param definition the contract
 * @param handlers one for each event and function of the contract
 * @param dependencies the platform, the store and everything else that a host provides
 * @returns a function from `Request` to `Response` that never throws
 * @throws {TypeError} if the definition has a fault, a handler or `verify` is missing, or the platform is none
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
  refuseFaults(`The handler of “${definition.name}”`, [
    ...findDefinitionFaults(definition),
    ...findHandlerFaults(definition, { ...handlers }),
    ...findDependencyFaults(dependencies),
  ])
  const {
    platform,
    store = memoryStore(),
    fetch: send = fetch,
    logger = createJsonLogger(),
    observer = {},
    limit = createConcurrencyLimit(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
    bodyLimit = DEFAULT_BODY_LIMIT,
    trustContentLength = false,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    leaseMs = DEFAULT_LEASE_MS,
    now = Date.now,
  } = dependencies
  const route = definition.name
  const verify = dependencies.verify === 'none' ? undefined : dependencies.verify
  const configured = createRedactor(dependencies.secrets)
  const keys = createRecordKeys(dependencies.recordKeys)
  const [recordKey] = dependencies.recordKeys ?? []
  const hashAddress = recordKey === undefined ? undefined : createAddressHash(recordKey)
  const { waitUntil, environment, egress, stopping } = dependencies
  const shared: Shared = {
    ...{ definition, handlers, platform, store, fetch: send, observer, environment, egress, stopping },
    ...{ timeoutMs, now, gateOf: createGate() },
  }

  async function respond(request: Request): Promise<Response> {
    const started = now()
    const trace = new Trace(configured, request)
    const sender = dependencies.peer?.(request)
    const place = limit.open(sender ?? '', now)
    let response: EventResponse
    try {
      response = await work(request, trace, place)
    } catch (error) {
      response = toFailure(error, trace.redactor, trace.operation?.event)
    }
    place.leave()
    // Nobody knows who sent a request that was refused before its signature was checked.
    const peer = trace.operation || trace.isVerified ? undefined : sender
    const log = { logger, observer, hashAddress }
    await logEvent(log, route, response, trace, { peer, durationMs: now() - started })
    return toResponse(response)
  }

  async function work(request: Request, trace: Trace, place: Place): Promise<EventResponse> {
    const { operation, hash, size } = await read(request, trace, place)
    const { traits } = operation
    place.enter(operation.event, route, size)
    const arrivedAt = Date.now()
    const { redactor } = trace
    const claimLogger = redactLines(createEventLogger(logger, route, trace), configured)
    const claimBy = arrivedAt + timeoutMs * CLAIM_SHARE
    const claiming = { logger: claimLogger, leaseMs, now, waitUntil, claimBy }
    const begun = hash && (await begin({ definition, operation, hash, redactor, keys, store, claiming }))
    const { claimed, response: given } = begun ?? {}
    trace.facts.attempt = claimed?.claim.lease.fence
    try {
      const run = new Run({ shared, operation, trace, claiming, claim: claimed?.claim, arrivedAt, place })
      const response = given ?? (await dispatch(run))
      if (given?.body?.status === 'ignored')
        run.reporter.log.warn(`${operation.event.name} is ignored. ${String(given.body.reason)}`)
      const isReplay = given !== undefined && claimed === undefined
      if (!isReplay) response.fates = fatesOf(operation, response)
      if (isReplay && traits.claims === 'deployment') await repeatStatus(run)
      await run.close()
      return claimed ? await end(claimed, response, run.deadline.at) : response
    } catch (error) {
      await claimed?.claim.release('unknown')
      throw error
    }
  }

  /** Reads and checks a request. The bytes of its body are free again when it returns. */
  async function read(request: Request, trace: Trace, place: Place) {
    checkRequest(request, bodyLimit)
    const checkBody = verify?.(request.headers)
    if (request.bodyUsed) throw parsedBefore()
    const body = await readBody(request, { bodyLimit, trustContentLength, place })
    if (body.length === 0 && Number(request.headers.get('content-length')) > 0) throw parsedBefore()
    await checkBody?.(body)
    trace.isVerified = verify !== undefined
    // Several may have become ready in one turn of the event loop.
    if (body.length > LARGE_BODY) await breathe()
    const { event, values } = parseEvent(body)
    const operation = resolveOperation(definition, event, request.headers)
    trace.operation = operation
    refuseEarly(event, trace)
    const hash = operation.subject === undefined ? undefined : await sha256(body)
    const size = { bytes: body.length, values }
    // Frees the bytes now, and not when they are collected. Not every runtime has it.
    if (body.length > LARGE_BODY) body.buffer.transfer?.(0)
    return { operation, hash, size }
  }

  /** An event of the future would outdate every later one. */
  function refuseEarly({ timestamp }: PlatformEvent, trace: Trace): void {
    const at = now()
    if (timestamp === undefined || !isAhead(Date.parse(timestamp), at)) return
    const clock = new Date(at).toISOString()
    Object.assign(trace.facts, { timestamp, clock })
    const message = `is more than 5 minutes ahead of this host’s clock, which says ${clock}`
    throw new IntegrationError('invalid_event', `The timestamp ${message}.`, {
      errors: [{ path: 'timestamp', message }],
    })
  }

  return respond
}

/** The error for a body that a parser in front of the handler has consumed. */
function parsedBefore(): IntegrationError {
  const hint =
    'Mount the handler in front of parsers such as express.json(), or give it the raw bytes: the signature is over them.'
  const message = 'The body was parsed before it reached the handler.'
  return new IntegrationError('internal_error', message, { hint, cause: new TypeError(message) })
}
