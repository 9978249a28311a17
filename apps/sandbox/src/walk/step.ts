/** A walk is data: the events that a route gets, one after another, and the expected effects. */
import type { PlatformEvent } from '@org/core'
import type { Exchange } from '../world/exchange.ts'
import { count } from '../world/text.ts'
import type { World } from '../world/world.ts'

type Fields = Record<string, unknown>
/** A value, or how to make it from the world. */
type Of<Value extends object> = Value | ((world: World) => Value)

/** The value, made from the world if it has to be. */
export function made<Value extends object>(of: Of<Value>, world: World): Value {
  return typeof of === 'function' ? of(world) : of
}

/** One event of a walk. */
export interface Step {
  title: string
  event: Of<PlatformEvent>
  /**
   * The id of the delivery; the same id in two steps makes a redelivery.
   * @default a new one
   */
  delivery?: string
  /** @returns why this world can’t show the step; `undefined` if it can */
  skip?: (world: World) => string | undefined
  /** Prepares the world for the step. */
  prepare?: (world: World) => void
  expect: Expectation | ((world: World, exchange: Exchange) => Expectation)
}

/**
 * The expected effects of an event; absent fields are not checked. An expected object may have fewer fields
 * than the found one, an expected list has the same length, and an expression matches a text.
 */
export interface Expectation extends Effects {
  /** Sums up the response for the reader. */
  says: string
  /** @default 200 */
  status?: number
  replayed?: true
  /** The body of the response. */
  body?: unknown
  also?: readonly FurtherCheck[]
}

/** The expected calls of the host. */
export interface Effects {
  /** All calls to the provider, for example `POST /email 200`. */
  provider?: readonly (string | RegExp)[]
  /** The calls to the provider that are not GET. */
  changes?: readonly (string | RegExp)[]
  /** All calls, to the provider and to the platform. */
  calls?: readonly unknown[]
  /** The statuses that the host reports to the platform, in order. */
  statuses?: readonly string[]
  /** The sensitive outputs that the host publishes. */
  sensitive?: readonly string[]
  /** The metrics that the host reports. */
  metrics?: readonly object[]
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

/** Counts what an emulated provider has; nobody looks into a real one, of which nothing is found. */
export function counted(where: string, found: number | undefined, expected: number): FurtherCheck[] {
  return found === undefined ? [] : [[`${count(expected)} ${where}`, found, expected]]
}

/** A deployment that is refused, with the code of the problem. */
export function refused(says: string, code: string, more: Fields = {}, effects: Effects = {}): Expectation {
  return { says, status: 422, body: { code, ...more }, statuses: ['deploying', 'failed'], ...effects }
}

/** A deployment that runs, with these outputs. */
export function running(says: string, outputs?: Fields, more: Partial<Expectation> = {}): Expectation {
  const body = { status: 'running', ...(outputs && { outputs }) }
  return { says, body, statuses: ['deploying', 'running'], ...more }
}

/** The events in the life of a deployment, as steps. */
export function lifeOf(id: string, given: Fields) {
  const deployment = { id }
  return {
    id,
    created: (title: string, expect: Step['expect'], inputs: Of<Fields> = given): Step => ({
      title,
      event: (world) => ({ name: 'DEPLOYMENT_CREATED', deployment: { id, inputs: made(inputs, world) } }),
      expect,
    }),
    call: (title: string, name: string, given: Of<Fields>, expect: Step['expect']): Step => ({
      title,
      event: (world) => ({
        name: 'FUNCTION_CALL',
        functionCall: { name, arguments: made(given, world) },
        deployment,
      }),
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
      expect(world) {
        const metrics = expected(world)
        return { says: `${metrics.length} metrics`, body: { metrics }, metrics }
      },
    }),
    /** @param content matches the file that the host generates */
    download: (title: string, file: string, content: (world: World) => RegExp): Step => ({
      title,
      event: { name: 'DOWNLOAD_STARTED', deployment, download: { id: `dl_${file}`, file } },
      expect(world) {
        const files = [{ path: file, content: content(world) }]
        const found = world.platform.deployments.get(id)?.downloads.get(`dl_${file}`)
        const also = [['the platform has it', found, files] as const]
        return { says: 'one file', body: { files }, provider: [], also }
      },
    }),
    deleted: (title: string, says: string, more: Of<Partial<Expectation>> = {}): Step => ({
      title,
      event: { name: 'DEPLOYMENT_DELETED', deployment },
      expect: (world) => ({ says, body: { status: 'stopped' }, statuses: ['stopped'], ...made(more, world) }),
    }),
    late: (): Step => ({
      title: 'An old event arrives late, out of order',
      event: { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs: given } },
      expect: { ...ignored(/deleted/), provider: [], statuses: [] },
    }),
  }
}

/** A call of a function with this result, and these calls to the provider. */
export function gives(
  says: string,
  result: Fields,
  provider: readonly (string | RegExp)[],
  also: readonly FurtherCheck[] = [],
): Expectation {
  return { says, body: { result }, provider, also }
}

/** The host has nothing to do for an event. */
export function ignored(reason: RegExp): Expectation {
  return { says: 'ignored, with a reason', body: { status: 'ignored', reason } }
}
