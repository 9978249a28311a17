/** The events of a deployment's life, and the faults that they meet. */
import * as fc from 'fast-check'

export interface Inputs {
  /** An empty one is invalid. */
  name: string
  token: 'A' | 'B'
}

export interface LifeEvent {
  name:
    | `DEPLOYMENT_${'CREATED' | 'DELETED'}`
    | 'HEALTH_CHECK'
    | 'METRIC_UPDATE'
    | 'DOWNLOAD_STARTED'
    | 'FUNCTION_CALL'
  /** In minutes since the life began. */
  at?: number | undefined
  inputs?: Inputs | undefined
  /** Whether it carries the outputs of its deployment, or of the other one. */
  outputs?: 'own' | 'foreign' | undefined
}

/** The faults while one event is handled. */
export interface Faults {
  /** The platform answers with 503, or that the deployment is gone. */
  platform?: 'away' | 'gone' | undefined
  /** The callbacks that meet it. If the deployment is gone, all do. */
  callbacks?: 'all' | 'read' | 'status' | 'outputs' | undefined
  /** The creation of an application is lost, or its answer; so is a deletion if the host chooses the ids. */
  create?: 'unanswered' | 'lost' | undefined
  /** The answer to a function's call is lost, or the provider can’t be reached. */
  act?: 'unanswered' | 'unreached' | undefined
  /** The provider answers so late that the lease is renewed meanwhile. */
  isSlow?: boolean | undefined
  /** From this write to the store, so many are lost, or their answers, or arrive late, or are slow. */
  store?: { write: number; times: number; fault: 'unanswered' | 'lost' | 'late' | 'slow' } | undefined
  /** The host halts at a step after its claim, until its lease is over. */
  halt?: { at: number | 'repeated write' | 'renewal'; when: 'before' | 'after' } | undefined
}

/** The failures of the store after which a claim is refused. */
export const OUTAGE = 3

const inputs: fc.Arbitrary<Inputs> = fc.record({
  name: often('Shop', 'Store', 'Stall', ''),
  token: often('A', 'B'),
})
const at = weighted<number | undefined>([1, fc.constant(undefined)], [2, fc.constantFrom(-2, -1, 1, 2)])
const outputs = often(undefined, 'own', 'foreign')
const changed = fc.option(inputs, { nil: undefined })

export const anyEvent = weighted<LifeEvent>(
  [8, fc.record({ name: fc.constant('DEPLOYMENT_CREATED'), inputs, at, outputs })],
  [3, fc.record({ name: fc.constant('DEPLOYMENT_DELETED'), inputs: changed, at, outputs })],
  [2, fc.record({ name: fc.constant('HEALTH_CHECK') })],
  [2, fc.record({ name: fc.constant('FUNCTION_CALL') })],
  [1, fc.record({ name: fc.constantFrom('METRIC_UPDATE', 'DOWNLOAD_STARTED') })],
)

const fault = fc.constantFrom('unanswered', 'lost')
const callbacks = fc.constantFrom('all', 'read', 'status', 'outputs')

const when = fc.constantFrom('before', 'after')
const store = fc.record({ write: fc.integer({ min: 1, max: 5 }), times: fc.constant(1), fault })
const outage = fc.record({ write: fc.constant(1), times: fc.constant(OUTAGE), fault })

/** All faults. */
export const anyFaults = weighted<Faults>(
  [5, fc.constant({})],
  [2, fc.record({ platform: fc.constant('away'), callbacks })],
  [1, fc.record({ platform: fc.constant('gone') })],
  [1, fc.record({ create: fault })],
  [1, fc.record({ act: fc.constantFrom('unanswered', 'unreached') })],
  [1, fc.record({ store: outage })],
  [1, fc.record({ isSlow: fc.constant(true), store })],
  [3, fc.record({ halt: fc.record({ at: fc.nat({ max: 16 }), when }) })],
  [2, fc.record({ store, halt: fc.record({ at: fc.constant('repeated write'), when }) })],
  [1, fc.record({ isSlow: fc.constant(true), halt: fc.record({ at: fc.constant('renewal'), when }) })],
)

/** The faults of a call whose outcome is known in the end, if its host does not halt. Shorter than a lease. */
export const callFaults = fc.record({
  act: fc.constantFrom(undefined, 'unreached' as const),
  store: fc.record({
    write: fc.integer({ min: 1, max: 8 }),
    times: fc.integer({ min: 1, max: 4 }),
    fault: fc.constantFrom('unanswered', 'lost', 'late', 'slow'),
  }),
  halt: fc.option(fc.record({ at: fc.nat({ max: 10 }), when }), { nil: undefined }),
})

/** The first value three times out of four. */
export function often<const Value>(first: Value, ...others: Value[]): fc.Arbitrary<Value> {
  return weighted([3, fc.constant(first)], [1, fc.constantFrom(...others)])
}

export function weighted<Value>(...choices: [weight: number, arbitrary: fc.Arbitrary<Value>][]) {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}
