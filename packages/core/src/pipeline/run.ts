import type { Egress, HandlerContext, Progress } from '../contract/handler-context.ts'
import type { CallbackOptions } from '../contract/platform.ts'
import { askStore, type Claim, reservedSteps } from '../delivery/claim.ts'
import { settlementOf } from '../delivery/settlement.ts'
import { causeOf, IntegrationError } from '../errors.ts'
import { namedHostsOnly } from '../http/egress.ts'
import { toStatusFailure } from '../http/response.ts'
import { invalidInputs, type OpenDeployment, type OutputsFrom, openDeployment } from './deployment.ts'
import type { OutboundCall, OutboundInit } from './event-log.ts'
import type { EventParts } from './parts.ts'
import { createReporter } from './reporter.ts'

/** The handler's share of an event's time; the rest is left for the last reports to the platform. */
const HANDLER_SHARE = 0.8

/** The work on one event. */
export type Run = ReturnType<typeof openRun>

/** Opens the work on one event: all its parts, which `close` closes. */
export function openRun(parts: EventParts) {
  const { shared, operation, claim, arrivedAt } = parts
  const endsAt = arrivedAt + shared.timeoutMs
  const begunAt = Date.now()
  const handlerDeadline = createDeadline(begunAt + (endsAt - begunAt) * HANDLER_SHARE, claim?.lost)
  /** The last reports to the platform, and so the response, leave by then. */
  const deadline = createDeadline(endsAt, claim?.lost)
  const calls = createCalls(parts, { provider: handlerDeadline, platform: deadline })
  const callback = ({ signal }: Deadline): CallbackOptions => ({
    signal: signal(),
    wrapFetch: (transport) => calls.wrapFetch('platform', transport),
  })
  const reporter = createReporter(parts, () => callback(deadline))
  const open = (outputsFrom: OutputsFrom) =>
    openDeployment(parts, outputsFrom, () => callback(handlerDeadline))
  const progress = claim && createProgress(parts, claim, handlerDeadline.at)

  /** What a handler sees of the event. */
  function contextWith(deployment: OpenDeployment | undefined): HandlerContext {
    return {
      event: operation.event,
      deliveryId: operation.deliveryId,
      deployment,
      log: reporter.log,
      progress,
      fetch: calls.wrapFetch('provider', shared.fetch),
      egress: openEgress(parts, deployment, (transport) => calls.wrapFetch('provider', transport)),
      gate: shared.gateOf(deployment?.id ?? ''),
      signal: handlerDeadline.signal(),
      deadline: handlerDeadline.at,
      stopping: shared.stopping,
    }
  }

  // Until a new deployment of an id has published its own, the outputs are those of the one before.
  const deployment = open(claim?.progress[reservedSteps.published] === false ? 'nowhere' : 'event')
  return {
    ...parts,
    calls,
    reporter,
    deployment,
    context: contextWith(deployment),
    deadline,
    /** The deployment with the outputs that the platform has, whatever the event carries, and a context with it. */
    published() {
      const deployment = open('platform')
      return { deployment, context: contextWith(deployment) }
    },
    /** Ends the handler's time, and resolves when every report has arrived or is lost. */
    async close(): Promise<void> {
      handlerDeadline.clear()
      await reporter.flush()
      deadline.clear()
    },
  }
}

type Deadline = ReturnType<typeof createDeadline>

/**
 * A point in time, and the signal that fires then. The timer starts when somebody asks for the signal.
 *
 * @param at in milliseconds since 1970
 * @param lost aborts the signal earlier
 */
// Not `AbortSignal.timeout`, which would hold its closure for its whole time.
function createDeadline(at: number, lost: AbortSignal | undefined) {
  let signal: AbortSignal | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    at,
    signal(): AbortSignal {
      if (signal) return signal
      const controller = new AbortController()
      const end = () => controller.abort(new DOMException('The time for this event is over.', 'TimeoutError'))
      timer = setTimeout(end, Math.max(0, at - Date.now()))
      signal = lost ? AbortSignal.any([controller.signal, lost]) : controller.signal
      return signal
    },
    /** Call when the work is done: the time is not over any more. */
    clear: () => clearTimeout(timer),
  }
}

/** Makes the outbound calls of one event. Nothing else in core wraps `fetch`. */
function createCalls(
  { shared, operation, trace, claim }: EventParts,
  deadlines: Record<OutboundCall['to'], Deadline>,
) {
  const { pace, observer } = shared
  let intent: Promise<void> | undefined

  async function send(
    to: OutboundCall['to'],
    transport: typeof fetch,
    input: Parameters<typeof fetch>[0],
    init: OutboundInit | undefined,
  ): Promise<Response> {
    const { claim } = calls
    const { beforeSend: ensureOpen } = init ?? {}
    const deadline = deadlines[to].at
    // Not `instanceof Request`: a runtime may have two classes of that name.
    const given = typeof input === 'object' && 'method' in input ? input : undefined
    const method = init?.method ?? given?.method ?? 'GET'
    const isChange = to === 'provider' && method !== 'GET'
    const beforeSend = () => {
      ensureOpen?.()
      claim?.ensureClaimed()
      // Also while the intent was recorded: a transport could not tell that nothing was sent. And a host that was halted
      // has not noticed yet that its time is over.
      const neededMs = isChange ? pace.neededMs() : 0
      if (deadline - Date.now() > neededMs && !init?.signal?.aborted) return
      const code = to === 'provider' ? 'provider_timeout' : 'platform_unavailable'
      throw new IntegrationError(code, 'Too little time was left for the call, so it was not made.')
    }
    // So the next claim knows whether a change may have left the host. Recorded steps tell more.
    if (claim && isChange && operation.effectful && !operation.resumable) {
      intent ??= claim.record({ [reservedSteps.intent]: true }, deadline)
      await intent
    }
    beforeSend()
    trace.facts[`${to}Calls`] += 1
    const outbound: OutboundInit = { ...init, beforeSend }
    const transmit = () => transport(input, outbound)
    const send = () => (isChange ? pace.note(transmit) : transmit())
    if (!observer.call) return send()
    const headersOf = () => new Headers(init?.headers ?? given?.headers)
    const call: OutboundCall = {
      to,
      route: operation.route,
      method,
      url: given?.url ?? String(input),
      usesHostSecret: () => [...headersOf().values()].some((value) => trace.host.text(value) !== value),
    }
    return observer.call(call, send)
  }

  const calls = {
    /** The claim that each call needs. An event without effects has one while it reports its status. */
    claim,
    /**
     * Turns a transport into the `fetch` of this event: it checks the lease, records the intent before the first change,
     * counts, and is observed.
     */
    wrapFetch(to: OutboundCall['to'], transport: typeof fetch): typeof fetch {
      return async (input, init) => {
        const url = urlOf(input).href
        trace.called[to] = url
        const note = (error: unknown) => {
          if (to === 'provider') trace.failedCall = causeOf(error, url)
        }
        try {
          const response = await send(to, transport, input, init)
          if (!response.ok) note(toStatusFailure(response))
          return response
        } catch (error) {
          note(error)
          throw error
        }
      }
    },
  }
  return calls
}

/**
 * The rule for a deployment's URLs, with one more: they get no value of the host's variables, unless the operator lists
 * their host (contract §6). It looks at the inputs and not at the request, where a value may have any encoding.
 */
function openEgress(
  { shared, trace, place }: EventParts,
  deployment: OpenDeployment | undefined,
  wrapFetch: (transport: typeof fetch) => typeof fetch,
): Egress {
  const rule = shared.egress ?? namedHostsOnly(shared.fetch)
  const send = wrapFetch(rule.fetch)
  function check(url: URL): void {
    const names = deployment?.references() ?? []
    if (names.length === 0 || rule.isListed?.(url)) return
    const message =
      'refers to a variable of the host, whose value is not sent to a URL of the deployment: enter the value itself, or leave the URL out'
    throw invalidInputs(names.map((name) => ({ path: `deployment.inputs.${name}`, message })))
  }
  return {
    refuse(url) {
      const refusal = rule.refuse(url)
      if (refusal === undefined) check(url)
      return refusal
    },
    async fetch(input, init) {
      const url = urlOf(input)
      check(url)
      place.callServer(url.origin)
      trace.facts.callsOwnServer = true
      return send(input, init)
    },
  }
}

function urlOf(input: Parameters<typeof fetch>[0]): URL {
  return new URL(typeof input === 'object' && 'url' in input ? input.url : input)
}

/** @param by when a write ends without the store's answer, in milliseconds since 1970 */
function createProgress({ shared, operation, claiming }: EventParts, claim: Claim, by: number): Progress {
  const { store } = shared
  const { logger } = claiming
  const { subject } = claim.lease
  const resourceOf = (name: string) => `${operation.route}/${name}`
  const read = (subject: string) => askStore(() => store.read(subject), logger)
  return {
    read: (name) => (name.startsWith('@') ? undefined : claim.progress[name]),
    async write(name, value) {
      if (name.startsWith('@')) throw new TypeError(`The step name “${name}” begins with “@”.`)
      await claim.record({ [name]: value }, by)
    },
    isSettled: (name) => settlementOf(claim.progress)?.steps.includes(name) ?? false,
    async reserve(name) {
      const request = { subject: resourceOf(name), owner: subject }
      const isOver = () => Date.now() >= by
      return (await askStore(() => store.reserve(request), logger, isOver)) === subject
    },
    async isReserved(name) {
      const owner = (await read(resourceOf(name)))?.progress.owner
      return owner !== undefined && owner !== subject
    },
    async now() {
      const asked = performance.now()
      const record = await read(subject)
      // The claim is the last one of its subject: while it lasts, nobody else can claim.
      return (record?.claimedAt ?? claiming.now()) + Math.round(asked - claim.claimedAt)
    },
  }
}
