import type * as z from 'zod'
import type { PlatformEvent } from './event.ts'
import type { Gate } from './gate.ts'
import type { Platform } from './platform.ts'

/** Data that survives JSON. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** The deployment that an event names. Reads from the platform what the event does not carry, once. */
export interface Deployment {
  readonly id: string
  /** Whose share of the host it uses: the platform's customer, or the deployment itself. */
  readonly owner: string
  /** Reads the platform's record, once; `undefined` if the platform does not know the deployment. */
  record(): ReturnType<Platform['getDeployment']>
  /**
   * The configured inputs, parsed. Blank inputs count as absent; `{{env.NAME}}` is resolved where the schema
   * allows it.
   *
   * @throws {IntegrationError} `invalid_inputs`, with the path of each fault
   */
  inputs<Schema extends z.ZodObject>(schema: Schema): Promise<z.output<Schema>>
  /**
   * The published outputs, parsed.
   *
   * @param options.inputsSuffice whether the inputs tell as much: the platform is not asked if the event carries some
   * @returns `undefined` if neither the event nor the platform has outputs that match the schema
   */
  outputs<Schema extends z.ZodObject>(
    schema: Schema,
    options?: { inputsSuffice: boolean },
  ): Promise<z.output<Schema> | undefined>
}

/** Writes to the deployment's log on the platform, and to the host's. */
export interface DeploymentLog {
  info: LogWriter
  warn: LogWriter
  error: LogWriter
  /**
   * Says what the event did. It goes with the status of success, which saves a call to the platform; if the event has
   * none, or fails, it is an entry of the log.
   */
  done: (message: string) => void
}
type LogWriter = (message: string, data?: Record<string, unknown>) => void

/** The recorded steps of a deployment or a call. The next delivery continues from them. */
export interface Progress {
  read(name: string): Json | undefined
  /**
   * Records a step before the next one begins. Never write a secret. A store without an answer is asked again.
   *
   * @param name must not begin with `@`: such names are core's own
   * @throws {IntegrationError} `delivery_in_progress` if another delivery has taken over; `overloaded` if the store has
   * not answered by the deadline. The step is recorded in the background then: if it announces a call that was not
   * made, write `null`.
   */
  write(name: string, value: Json): Promise<void>
  /** Whether an operator found out, after a step was recorded, that what is unknown in it did not happen. */
  isSettled(name: string): boolean
  /**
   * Reserves a resource of the provider for this deployment alone.
   *
   * @param resource for example `application/app_123`
   * @returns whether this deployment owns it, now or from before
   */
  reserve(resource: string): Promise<boolean>
  /** Whether another deployment has reserved the resource. */
  isReserved(resource: string): Promise<boolean>
  /** The store's time, the same for every host, in milliseconds since 1970. */
  now(): Promise<number>
}

/** The rule for URLs that come from a deployment, and the `fetch` that enforces it down to the connection. */
export interface Egress {
  /** @returns why the URL must not be called, as the end of a sentence; `undefined` if it may */
  refuse(url: URL): string | undefined
  /** Whether the operator lists the URL's host. Only such a host gets values of the host's variables. */
  isListed?(url: URL): boolean
  /** For these URLs only. Rejects if the address behind a name is not allowed. */
  fetch: typeof fetch
}

/** Every handler receives it, and may pass it on as the `CallOptions` of a provider client. */
export interface HandlerContext {
  readonly event: PlatformEvent
  /** The same for every delivery of an event; absent if the sender gave none. */
  readonly deliveryId: string | undefined
  /** Absent if the event names no deployment: then the shared credentials apply. */
  readonly deployment: Deployment | undefined
  readonly log: DeploymentLog
  /** Absent if the event is not claimed: for events without effects, and for calls without a delivery id. */
  readonly progress: Progress | undefined
  readonly fetch: typeof fetch
  /** For a URL that the deployment brought: whether it may be called, and the `fetch` to call it with. */
  readonly egress: Egress
  /** Holds the deployment's changes back after one whose outcome is unknown. */
  readonly gate: Gate
  /** Aborts at the deadline, or when another delivery takes over. */
  readonly signal: AbortSignal
  /** In milliseconds since 1970. */
  readonly deadline: number
  /**
   * Fires when the host shuts down; absent if the host has no such signal. A handler that can continue from its recorded
   * steps makes no further call then, and throws `shutting_down`. Others finish.
   */
  readonly stopping: AbortSignal | undefined
}
