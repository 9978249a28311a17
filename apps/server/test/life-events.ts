/** The events of a deployment's life, and the weather in which they arrive. */
import * as fc from 'fast-check'

/** A token of the workspace A, another one of A, one of the workspace B, or none: the host's own. */
export type Token = 'A' | 'A2' | 'B' | 'host'

export interface Inputs {
  /** An empty one is invalid. */
  name: string
  token: Token
  environmentType: 'development' | 'production'
  domain: 'one' | 'two'
  template: 'b2b-saas' | 'waitlist' | undefined
}

export interface LifeEvent {
  name:
    | 'DEPLOYMENT_CREATED'
    | 'DEPLOYMENT_DELETED'
    | 'HEALTH_CHECK'
    | 'METRIC_UPDATE'
    | 'DOWNLOAD_STARTED'
    | 'FUNCTION_CALL'
  /** In hours from now. */
  at?: number | undefined
  inputs?: Inputs | undefined
  /** Whether it carries the outputs of its deployment, or of the other one. */
  outputs?: 'own' | 'foreign' | undefined
}

/** The faults of the platform and the provider while one event is handled. */
export interface Weather {
  /** The platform answers with 503, with the 404 page of a proxy, or that the deployment is gone. */
  platform?: 'away' | 'page' | 'gone' | undefined
  /** The callbacks that meet it. If the deployment is gone, all do. */
  callbacks?: 'all' | 'read' | 'status' | 'outputs' | undefined
  /** The answer to a create is lost, or the create itself. */
  create?: 'unanswered' | 'lost' | undefined
}

const inputs: fc.Arbitrary<Inputs> = fc.record({
  name: often('Shop', 'Store', 'Stall', ''),
  token: often('A', 'A2', 'B', 'host'),
  environmentType: often('development', 'production'),
  domain: often('one', 'two'),
  template: often(undefined, 'b2b-saas', 'waitlist'),
})
const at = often(undefined, -4, -3, -2, -1, 1, 2)
const outputs = often(undefined, 'own', 'foreign')

export const anyEvent: fc.Arbitrary<LifeEvent> = weighted<LifeEvent>(
  [8, fc.record({ name: fc.constant('DEPLOYMENT_CREATED'), inputs, at, outputs })],
  [
    3,
    fc.record({
      name: fc.constant('DEPLOYMENT_DELETED'),
      inputs: weighted<Inputs | undefined>([1, fc.constant(undefined)], [1, inputs]),
      at,
      outputs,
    }),
  ],
  [2, fc.record({ name: fc.constant('HEALTH_CHECK') })],
  [2, fc.record({ name: fc.constantFrom('FUNCTION_CALL', 'METRIC_UPDATE', 'DOWNLOAD_STARTED') })],
)

export const anyWeather: fc.Arbitrary<Weather> = weighted<Weather>(
  [12, fc.constant({})],
  [
    3,
    fc.record({
      platform: fc.constantFrom('away', 'page'),
      callbacks: fc.constantFrom('all', 'read', 'status', 'outputs'),
    }),
  ],
  [1, fc.record({ platform: fc.constant('gone') })],
  [1, fc.record({ create: often('unanswered', 'lost') })],
)

/** The first value three times out of four. */
export function often<const Value>(first: Value, ...others: Value[]): fc.Arbitrary<Value> {
  return weighted([3, fc.constant(first)], [1, fc.constantFrom(...others)])
}

export function weighted<Value>(
  ...choices: [weight: number, arbitrary: fc.Arbitrary<Value>][]
): fc.Arbitrary<Value> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}
