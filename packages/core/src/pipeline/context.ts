import type { Egress, HandlerContext, Progress } from '../contract/handler-context.ts'
import { type Claim, type ClaimOptions, ownSteps } from '../delivery/claim.ts'
import { readStore, reserve } from '../delivery/claiming.ts'
import type { DeliveryStore } from '../delivery/store.ts'
import { namedHostsOnly } from '../http/egress.ts'
import type { Operation } from '../request/operation.ts'
import { invalidInputs, type OpenDeployment } from './deployment.ts'
import type { Deadline } from './limits.ts'
import type { createOutbound } from './outbound.ts'
import type { Reporter } from './reporter.ts'

interface ContextParts {
  operation: Operation
  deployment: OpenDeployment | undefined
  reporter: Reporter
  deadline: Deadline
  outbound: ReturnType<typeof createOutbound>
  /** The host's transport for providers. */
  fetch: typeof fetch
  egress: Egress | undefined
  claim: Claim | undefined
  stopping: AbortSignal | undefined
  store: DeliveryStore
  claiming: ClaimOptions
}

/** The context of one event's handler. */
// A class, so that the signal and its timer are made only for handlers that ask for it; see limits.ts.
export class EventContext implements HandlerContext {
  readonly event
  readonly deployment
  readonly log
  readonly progress
  readonly fetch
  readonly egress
  readonly deadline
  readonly stopping
  readonly #deadline

  constructor({ operation, deployment, reporter, deadline, outbound, egress, ...parts }: ContextParts) {
    this.event = operation.event
    this.deployment = deployment
    this.log = reporter.log
    this.progress =
      parts.claim && createProgress({ ...parts, operation, claim: parts.claim, by: deadline.at })
    this.fetch = outbound('provider', parts.fetch)
    const rule = withoutReferences(egress ?? namedHostsOnly(parts.fetch), deployment)
    this.egress = { ...rule, fetch: outbound('provider', rule.fetch) }
    this.deadline = deadline.at
    this.stopping = parts.stopping
    this.#deadline = deadline
  }

  get signal(): AbortSignal {
    return this.#deadline.signal
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

interface ProgressParts extends Pick<ContextParts, 'operation' | 'store' | 'claiming'> {
  claim: Claim
  /** When a write gives up, in milliseconds since 1970. */
  by: number
}

function createProgress({ operation: { route }, claim, store, claiming, by }: ProgressParts): Progress {
  const reserved = new Set<string>(Object.values(ownSteps))
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
      // The claim is the last one of its subject: while it is held, nobody else can claim.
      return (record?.claimedAt ?? claiming.now()) + Math.round(asked - claim.claimedAt)
    },
  }
}
