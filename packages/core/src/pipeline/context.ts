import type { PlatformEvent } from '../contract/event.ts'
import type { DeploymentLog, Egress, HandlerContext, Progress } from '../contract/handler-context.ts'
import { type Claim, type ClaimOptions, reservedSteps } from '../delivery/claim.ts'
import { readStore, reserve } from '../delivery/claiming.ts'
import type { DeliveryStore } from '../delivery/store.ts'
import { namedHostsOnly } from '../http/egress.ts'
import type { Operation } from '../request/operation.ts'
import { invalidInputs, type OpenDeployment } from './deployment.ts'
import type { Deadline } from './limits.ts'
import type { Outbound } from './outbound.ts'
import type { Reporter } from './reporter.ts'

interface ContextParts {
  shared: {
    /** The host's transport for providers. */
    fetch: typeof fetch
    egress?: Egress | undefined
    stopping?: AbortSignal | undefined
  }
  operation: Operation
  reporter: Reporter
  deadline: Deadline
  outbound: Outbound
  claim: Claim | undefined
  store: DeliveryStore
  claiming: ClaimOptions
}

/** The context of one event's handler. */
// A class, so that parts are made only for handlers that ask for them; see limits.ts.
export class EventContext implements HandlerContext {
  readonly event: PlatformEvent
  readonly deployment: OpenDeployment | undefined
  readonly progress: Progress | undefined
  readonly fetch: HandlerContext['fetch']
  readonly deadline: number
  readonly stopping: AbortSignal | undefined
  readonly #parts: ContextParts
  #egress: Egress | undefined

  constructor(parts: ContextParts, deployment: OpenDeployment | undefined) {
    const { shared, operation, claim, deadline, outbound } = parts
    this.event = operation.event
    this.deployment = deployment
    this.progress = claim && createProgress(parts, claim)
    this.fetch = outbound.wrap('provider', shared.fetch)
    this.deadline = deadline.at
    this.stopping = shared.stopping
    this.#parts = parts
  }

  get log(): DeploymentLog {
    return this.#parts.reporter.log
  }

  get egress(): Egress {
    const { shared, outbound } = this.#parts
    const rule = withoutReferences(shared.egress ?? namedHostsOnly(shared.fetch), this.deployment)
    this.#egress ??= { ...rule, fetch: outbound.wrap('provider', rule.fetch) }
    return this.#egress
  }

  get signal(): AbortSignal {
    return this.#parts.deadline.signal
  }
}

/**
 * The rule for a deployment's URLs, with one more: they get no value of the host's variables, unless the operator lists
 * their host (contract §6). It looks at the inputs and not at the request, where a value may have any encoding.
 */
function withoutReferences(rule: Egress, deployment: OpenDeployment | undefined): Egress {
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
      check(new URL(typeof input === 'object' && 'url' in input ? input.url : input))
      return rule.fetch(input, init)
    },
  }
}

function createProgress({ operation, store, claiming, deadline }: ContextParts, claim: Claim): Progress {
  const { route } = operation
  const by = deadline.at
  const reserved = new Set<string>(Object.values(reservedSteps))
  return {
    read: (name) => (reserved.has(name) ? undefined : claim.progress[name]),
    async write(name, value) {
      if (name.startsWith('@')) throw new TypeError(`The step name “${name}” begins with “@”.`)
      await claim.advance(name, value, by)
    },
    reserve: (resource) =>
      reserve(store, { resource: `${route}/${resource}`, owner: claim.lease.subject, by }, claiming),
    async isReserved(resource) {
      const record = await readStore(store, `${route}/${resource}`, claiming)
      const owner = record?.progress.owner
      return owner !== undefined && owner !== claim.lease.subject
    },
    async now() {
      const asked = performance.now()
      const record = await readStore(store, claim.lease.subject, claiming)
      // The claim is the last one of its subject: while it lasts, nobody else can claim.
      return (record?.claimedAt ?? claiming.now()) + Math.round(asked - claim.claimedAt)
    },
  }
}
