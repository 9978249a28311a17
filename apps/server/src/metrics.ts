/**
 * What a host counts, for Prometheus.
 *
 * Every label is a word that the host itself knows: an integration, a function of its contract, a code. What a
 * request brings (a name that nobody declared, an id, an origin) never becomes one, so the number of series has a
 * limit that no sender can move.
 *
 * @module
 */
import type { EventRecord, IntegrationDefinition } from '@org/core'
import type { CircuitCounts } from './breaker.ts'
import { type Call, failureOf, type Onlooker } from './onlooker.ts'
import { countTimed, type Reading, renderReadings } from './prometheus.ts'

/** What is looked at when it is asked for, because it is a state and not something that happens. */
interface HostState {
  /** Events under way. */
  inFlight(): number
  /** The circuits of each integration. */
  circuits(): ReadonlyMap<string, CircuitCounts>
  /** Whether the delivery store can be reached. */
  storeReachable(): Promise<boolean>
}

/** The metrics of a host. */
export interface Metrics extends Onlooker {
  /** Takes the host whose state is to be shown. */
  attach(state: HostState): void
  /** Everything, in {@link TEXT_FORMAT}. */
  render(): Promise<string>
}

/** Seconds; an event may take 25. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25]
const STORE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
/** Stands for everything that is not known. */
const OTHER = 'other'

/**
 * Makes the metrics of a host.
 *
 * @param ofProcess how the process is that it runs in
 */
export function createMetrics(
  integrations: readonly IntegrationDefinition[],
  ofProcess: readonly Reading[] = [],
): Metrics {
  const events = countTimed({
    name: 'webhook_event',
    what: 'Events that were answered: ok, ignored, replayed, or the code of the problem',
    labels: ['route', 'event', 'function'],
    buckets: BUCKETS,
  })
  const providerRequests = countTimed({
    name: 'webhook_provider_request',
    what: 'Requests to providers until the head of the answer, repetitions included',
    labels: ['integration', 'method'],
    buckets: BUCKETS,
  })
  const callbacks = countTimed({
    name: 'webhook_platform_callback',
    what: 'What the platform was told and asked, each with all its tries',
    labels: ['callback'],
    buckets: BUCKETS,
  })
  const storeOperations = countTimed({
    name: 'webhook_store_operation',
    what: 'Operations on the delivery store',
    labels: ['operation'],
    buckets: STORE_BUCKETS,
  })
  const functions = new Map(integrations.map((integration) => [integration.name, namesOf(integration)]))
  let state: readonly Reading[] = []

  function count(call: Call, outcome: string, seconds: number): void {
    if (call.to === 'provider') {
      const { method } = call
      const words = [call.integration, METHODS.includes(method) ? method : OTHER]
      providerRequests.add(words, outcome, seconds)
    } else if (call.to === 'platform') callbacks.add([call.callback], outcome, seconds)
    else if (call.to === 'store') storeOperations.add([call.operation], outcome, seconds)
  }

  return {
    answered(record) {
      const { route, event = OTHER, function: called } = record
      const name = called === undefined ? '' : (functions.get(route)?.get(called) ?? OTHER)
      events.add([route, event, name], outcomeOf(record), record.durationMs / 1000)
    },

    async call(call, work, outcomeOfResult) {
      const started = performance.now()
      let outcome = ''
      try {
        const result = await work()
        outcome = outcomeOfResult(result)
        return result
      } catch (error) {
        outcome = failureOf(error)
        throw error
      } finally {
        count(call, outcome, (performance.now() - started) / 1000)
      }
    },

    attach(host) {
      state = readHost(host)
    },

    async render() {
      const counted = [events, providerRequests, callbacks, storeOperations].map((each) => each.render())
      return counted.join('') + (await renderReadings([...state, ...ofProcess]))
    },
  }
}

function readHost({ inFlight, circuits, storeReachable }: HostState): Reading[] {
  return [
    { name: 'webhook_events_in_flight', help: 'Events under way.', type: 'gauge', read: inFlight },
    {
      name: 'webhook_provider_circuits',
      help: 'Circuits to the origins of each integration: they let through all calls, none, or one to try.',
      type: 'gauge',
      read: () =>
        [...circuits()].flatMap(([integration, counts]) =>
          Object.entries(counts).map(
            ([circuit, number]) => [{ integration, state: circuit }, number] as const,
          ),
        ),
    },
    {
      name: 'webhook_store_reachable',
      help: 'Whether the delivery store can be reached: 1, or 0.',
      type: 'gauge',
      read: async () => ((await storeReachable()) ? 1 : 0),
    },
  ]
}

/** The name of each function of an integration, under itself and its aliases. */
function namesOf({ functions }: IntegrationDefinition): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(functions).flatMap(([name, { aliases = [] }]) =>
      [name, ...aliases].map((called) => [called, name] as const),
    ),
  )
}

function outcomeOf({ outcome, code }: EventRecord): string {
  return outcome === 'replayed' ? outcome : (code ?? outcome)
}
