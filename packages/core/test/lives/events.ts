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

const { constant, constantFrom, integer, nat, record } = fc
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })

const inputs: fc.Arbitrary<Inputs> = record({
  name: often('Shop', 'Store', 'Stall', ''),
  token: often('A', 'B'),
})
const at = weighted<number | undefined>([1, constant(undefined)], [2, constantFrom(-2, -1, 1, 2)])
const outputs = often(undefined, 'own', 'foreign')

export const anyEvent = weighted<LifeEvent>(
  [8, record({ name: constant('DEPLOYMENT_CREATED'), inputs, at, outputs })],
  [3, record({ name: constant('DEPLOYMENT_DELETED'), inputs: maybe(inputs), at, outputs })],
  [2, record({ name: constant('HEALTH_CHECK') })],
  [2, record({ name: constant('FUNCTION_CALL') })],
  [1, record({ name: constantFrom('METRIC_UPDATE', 'DOWNLOAD_STARTED') })],
)

const fault = constantFrom('unanswered', 'lost')
const callbacks = constantFrom('all', 'read', 'status', 'outputs')
const when = constantFrom('before', 'after')
const store = record({ write: integer({ min: 1, max: 5 }), times: constant(1), fault })
const outage = record({ write: constant(1), times: constant(OUTAGE), fault })

/** All faults. */
export const anyFaults = weighted<Faults>(
  [5, constant({})],
  [2, record({ platform: constant('away'), callbacks })],
  [1, record({ platform: constant('gone') })],
  [1, record({ create: fault })],
  [1, record({ act: constantFrom('unanswered', 'unreached') })],
  [1, record({ store: outage })],
  [1, record({ isSlow: constant(true), store })],
  [3, record({ halt: record({ at: nat(16), when }) })],
  [2, record({ store, halt: record({ at: constant('repeated write'), when }) })],
  [1, record({ isSlow: constant(true), halt: record({ at: constant('renewal'), when }) })],
)

/** The faults of a call whose outcome is known in the end, if its host does not halt. Shorter than a lease. */
export const callFaults = record({
  act: constantFrom(undefined, 'unreached' as const),
  store: record({
    write: integer({ min: 1, max: 8 }),
    times: integer({ min: 1, max: 4 }),
    fault: constantFrom('unanswered', 'lost', 'late', 'slow'),
  }),
  halt: maybe(record({ at: nat(10), when })),
})

/** The first value three times out of four. */
export function often<const Value>(first: Value, ...others: Value[]): fc.Arbitrary<Value> {
  return weighted([3, constant(first)], [1, constantFrom(...others)])
}

export function weighted<Value>(...choices: [weight: number, arbitrary: fc.Arbitrary<Value>][]) {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}
