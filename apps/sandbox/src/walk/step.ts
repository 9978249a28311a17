/**
 * A walk is data: the events that a route gets, one after another, and the expected effects.
 *
 * @module
 */
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
  /** The last status of the deployment at the platform. */
  recorded?: string
  /** Further checks. */
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

/** The event that creates a deployment. */
export function created(id: string, inputs: Record<string, unknown>): PlatformEvent {
  return { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } }
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
    title: 'The platform checks that the route answers',
    event: { name: 'WEBHOOK_CHALLENGE', challenge: value },
    expect: { says: 'the challenge comes back', body: { challenge: value } },
  }
}

/** A health check that succeeds. */
export function healthy(title: string, deployment: { id: string }, skip?: Step['skip']): Step {
  const body = { status: 'healthy', checks: [{ name: 'provider', healthy: true }] }
  return {
    title,
    event: { name: 'HEALTH_CHECK', deployment },
    skip,
    expect: { says: 'healthy', body, statuses: ['running'] },
  }
}

/** The collection of metrics. */
export function metrics(
  deployment: { id: string },
  expected: (world: World) => readonly object[],
  skip?: Step['skip'],
): Step {
  return {
    title: 'The platform collects the metrics',
    event: { name: 'METRIC_UPDATE', deployment },
    skip,
    expect: (world) => {
      const all = expected(world)
      return { says: `${all.length} metrics`, metrics: all }
    },
  }
}
