/** A walk is data: the events that a route gets, one after another, and the expected effects. */
import type { PlatformEvent } from '@org/core'
import type { Exchange } from '../world/exchange.ts'
import type { World } from '../world/world.ts'

/** One event of a walk. */
export interface Step {
  title: string
  event: PlatformEvent | ((world: World) => PlatformEvent)
  /**
   * The id of the delivery; the same id in two steps makes a redelivery.
   * @default a new one
   */
  delivery?: string
  /** @returns why this world can’t show the step; `undefined` if it can */
  skip?: ((world: World) => string | undefined) | undefined
  /** Prepares the world for the step. */
  prepare?: (world: World) => void
  expect: Expectation | ((world: World, exchange: Exchange) => Expectation)
}

/**
 * The expected effects of an event; absent fields are not checked. An expected object may have fewer fields
 * than the found one, an expected list has the same length, and an expression matches a text.
 */
export interface Expectation {
  /** Sums up the response for the reader. */
  says: string
  /** @default 200 */
  status?: number
  replayed?: true
  /** The body of the response. */
  body?: unknown
  /** All calls to the provider, for example `POST /email 200`. */
  provider?: readonly (string | RegExp)[]
  /** The calls to the provider that are not GET. */
  changes?: readonly (string | RegExp)[]
  /** The host calls neither the provider nor the platform. */
  silent?: true
  /** The statuses that the host reports to the platform, in order. */
  statuses?: readonly string[]
  /** The sensitive outputs that the host publishes; an empty list if it publishes no outputs. */
  sensitive?: readonly string[]
  /** The metrics in the response and in the callback. */
  metrics?: readonly object[]
  also?: readonly FurtherCheck[]
}

/** A check that belongs to one step only. */
export type FurtherCheck = readonly [sentence: string, found: unknown, expected: unknown]

/** The walk of one route. */
export interface Walk {
  /** The integration, for example `mailer`. */
  route: string
  title: string
  steps: readonly Step[]
}

/** The event that calls a function, with the shared credentials if there is no deployment. */
export function call(
  name: string,
  args: Record<string, unknown>,
  deployment?: { id: string },
): PlatformEvent {
  return { name: 'FUNCTION_CALL', functionCall: { name, arguments: args }, deployment }
}

/** The first step of every walk. */
export function challenge(route: string): Step {
  const value = `c_${route.replaceAll('-', '_')}`
  return {
    title: 'The platform checks that the route responds',
    event: { name: 'WEBHOOK_CHALLENGE', challenge: value },
    expect: { says: 'the challenge comes back', body: { challenge: value } },
  }
}

/** The host has nothing to do for an event. */
export function ignored(reason: RegExp): Expectation {
  return { says: 'ignored, with a reason', body: { status: 'ignored', reason }, silent: true }
}

/** The steps in the life of a deployment that every integration has. */
export function lifeOf(id: string, given: Record<string, unknown>) {
  const deployment = { id }
  return {
    id,
    call: (name: string, args: Record<string, unknown>) => call(name, args, deployment),
    created: (title: string, expect: Step['expect'], inputs = given): Step => ({
      title,
      event: { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } },
      expect,
    }),
    /** @param statuses the reported ones: a running deployment keeps its status */
    healthy: (title: string, statuses: readonly string[] = []): Step => ({
      title,
      event: { name: 'HEALTH_CHECK', deployment },
      expect: {
        says: 'healthy',
        body: { status: 'healthy', checks: [{ name: 'provider', healthy: true }] },
        statuses,
      },
    }),
    metrics: (expected: (world: World) => readonly object[]): Step => ({
      title: 'The platform collects the metrics',
      event: { name: 'METRIC_UPDATE', deployment },
      expect: (world) => ({ says: `${expected(world).length} metrics`, metrics: expected(world) }),
    }),
    /** @param content matches the file that the host generates */
    download: (title: string, file: string, content: (world: World) => RegExp): Step => ({
      title,
      event: { name: 'DOWNLOAD_STARTED', deployment, download: { id: `dl_${file}`, file } },
      expect: (world) => {
        const files = [{ path: file, content: content(world) }]
        const found = world.platform.deployments.get(id)?.downloads.get(`dl_${file}`)
        return {
          says: 'one file',
          body: { files },
          provider: [],
          also: [['the platform has it', found, files]],
        }
      },
    }),
    deleted: (
      title: string,
      says: string,
      more: Partial<Expectation> | ((world: World) => Partial<Expectation>),
    ): Step => ({
      title,
      event: { name: 'DEPLOYMENT_DELETED', deployment },
      expect: (world) => ({
        says,
        body: { status: 'stopped' },
        statuses: ['stopped'],
        ...(typeof more === 'function' ? more(world) : more),
      }),
    }),
    late: (): Step => ({
      title: 'An old event arrives late, out of order',
      event: { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs: given } },
      expect: {
        says: 'ignored, with a reason',
        body: { status: 'ignored', reason: /deleted/ },
        provider: [],
        statuses: [],
      },
    }),
  }
}
