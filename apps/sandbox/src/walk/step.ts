/**
 * A walk is data: what is delivered to a route, one event after another, and what must come of it.
 *
 * @module
 */
import type { PlatformEvent } from '@org/core'
import type { Check } from '../check.ts'
import type { Exchange, OutboundCall } from '../exchange.ts'
import type { World } from '../world.ts'

/** One event of a walk. */
export interface Step {
  title: string
  /** The event; a function where it depends on the world. */
  event: PlatformEvent | ((world: World) => PlatformEvent)
  /**
   * The id of the delivery; the same in two steps is a redelivery.
   * @default a new one
   */
  delivery?: string
  /** @returns why this step can't be shown in this world, where it can't */
  skip?: (world: World) => string | undefined
  /** Brings the world into the state that the step is about. */
  prepare?: (world: World) => void
  /** What must have come of it: the answer, the calls to the provider, the callbacks, the state of the world. */
  expect: (exchange: Exchange, world: World) => Check[]
}

/** The walk of one route. */
export interface Walk {
  /** The integration, for example `mailer`. */
  route: string
  title: string
  steps: readonly Step[]
  /** What a call to the route's provider was about, in a few words. */
  describeCall?: (call: OutboundCall) => string
}
