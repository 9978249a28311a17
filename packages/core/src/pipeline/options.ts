import * as z from 'zod'
import type { Egress } from '../contract/handler-context.ts'
import type { Platform } from '../contract/platform.ts'
import { fieldErrors } from '../contract/validation.ts'
import type { WaitUntil } from '../delivery/claim.ts'
import type { DeliveryStore } from '../delivery/store.ts'
import type { FieldError } from '../errors.ts'
import { LONGEST_TIMER_MS } from '../http/attempt.ts'
import type { Logger } from '../log.ts'
import type { ConcurrencyLimit } from '../request/capacity.ts'
import type { Verify } from '../request/signature.ts'
import type { Observer } from './event-log.ts'

/** Looks up a variable: its value, or why the host refuses it, in words that never contain the value. */
export type EnvironmentLookup = (name: string) => { value: string } | { problem: string }

/** The options that every integration's `createHandler` takes. */
export interface HandlerDependencies {
  /** Reads deployments, and receives status, logs, outputs, metrics and files. */
  platform: Platform
  /**
   * Checks the signature of each request (see `createVerifier`). `'none'`: something in front of the handler
   * authenticates its callers, or anybody may send events.
   */
  verify: Verify | 'none'
  /**
   * Remembers effects, so that they happen once. By default in memory: then a redelivery after a restart, or to another
   * instance, repeats its effect, and a deployment may be created twice. Production needs a store that lasts.
   */
  store?: DeliveryStore | undefined
  /**
   * Keys for the records in the store, which its readers must not have: any long random texts. The first one is used,
   * and records of all are recognised. By default none: then a reader of the store can test guesses of a request.
   */
  recordKeys?: readonly string[] | undefined
  /**
   * The network address of a sender, for the log line of a refused signature, and to share the memory for bodies; by
   * default, all senders have the same one.
   */
  peer?: ((request: Request) => string | undefined) | undefined
  /** Resolves `{{env.NAME}}` in inputs; by default, no reference is resolved. */
  environment?: EnvironmentLookup | undefined
  /** Values to keep out of logs and responses, beside those that the schemas mark as secret. */
  secrets?: readonly string[] | undefined
  /** Sends calls to the provider; `globalThis.fetch` by default. */
  fetch?: typeof fetch | undefined
  /** The rule for URLs that deployments bring; by default, `https` to named hosts. */
  egress?: Egress | undefined
  /** Limits the events under way, and their memory. Share one between all handlers of a host. */
  limit?: ConcurrencyLimit | undefined
  /** Writes JSON lines to standard output by default. */
  logger?: Logger | undefined
  /** Watches events and outbound calls, for metrics. */
  observer?: Observer | undefined
  /** Longest body, in bytes; 4 MiB by default. Each MiB takes about 20 ms of the event loop. */
  bodyLimit?: number | undefined
  /**
   * Whether the runtime enforces `content-length`, as HTTP servers do; `false` by default. If it does, core does not
   * count a short body again as it arrives.
   */
  trustContentLength?: boolean | undefined
  /** Longest time for one event with everything under it, in milliseconds; 25,000 by default. */
  timeoutMs?: number | undefined
  /**
   * How long a claim lasts, in milliseconds: 30,000 by default, and 1,000 at least. It is renewed three times while it
   * lasts. After a crash, the next delivery can take over when it ends.
   */
  leaseMs?: number | undefined
  /**
   * Receives work that goes on after a response: writes that a store without an answer has not confirmed. A host
   * that waits for it before it ends leaves no outcome unknown that it knew. The work ends with its lease at the latest.
   */
  waitUntil?: WaitUntil | undefined
  /**
   * Fires when the host shuts down. Calls that can continue at the next delivery end early then, with `shutting_down`;
   * by default, every call is finished.
   */
  stopping?: AbortSignal | undefined
  /** The time in milliseconds since 1970; `Date.now` by default. */
  now?: (() => number) | undefined
}

const atLeast = (least: number) => z.number().min(least).max(LONGEST_TIMER_MS).optional()
const texts = z.array(z.string()).optional()

function withMethods<Port>(port: string, ...methods: (keyof Port & string)[]) {
  const isWhole = (value: unknown) => methods.every((name) => typeof Object(value)[name] === 'function')
  return z.custom(isWhole, `is no ${port}: expected the methods ${methods.join(', ')}`)
}

const dependenciesShape = z.object({
  platform: withMethods<Platform>(
    'Platform',
    ...(['getDeployment', 'setStatus', 'appendLogs', 'setOutputs', 'reportMetrics', 'putDownload'] as const),
  ),
  store: withMethods<DeliveryStore>(
    'DeliveryStore',
    ...(['claim', 'renew', 'advance', 'complete', 'release', 'reopen', 'reserve', 'read', 'probe'] as const),
  ).optional(),
  verify: z.custom(
    (verify) => typeof verify === 'function' || verify === 'none',
    "is required: createVerifier({ secrets }), or 'none' if something in front of the handler authenticates its callers",
  ),
  // The renewals of a shorter lease would come too late.
  leaseMs: atLeast(1_000),
  timeoutMs: atLeast(1),
  bodyLimit: atLeast(1),
  secrets: texts,
  recordKeys: texts,
})

/** Finds dependencies that are missing, or are something else. */
export function findDependencyFaults(dependencies: Partial<HandlerDependencies> = {}): FieldError[] {
  const { error } = dependenciesShape.safeParse(dependencies)
  return error ? fieldErrors(error, '') : []
}
