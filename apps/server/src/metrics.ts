/**
 * The metrics of a host, for Prometheus.
 *
 * Every label but the owner is a word that the host knows: an integration, a function of its contract, a code. Undeclared
 * names, ids and origins from a request never become labels, and few owners do, so no sender can add many series.
 */
import type { EventRecord, IntegrationDefinition, Observer } from '@org/core'
import { isIntegrationError, shortageOf } from '@org/core/errors'
import type { OutboundCall, Routes } from '@org/core/hosting'
import { HttpFailure } from '@org/core/http'
import type { Counter, Gauge, Registry } from 'prom-client'
import { CircuitOpenError, circuitStates } from './outbound/circuit-breaker.ts'
import type { Outbound } from './outbound/outbound.ts'
import { lazily } from './routes/route.ts'
import { revision, version } from './version.ts'

/** The state of a host, which is read at each scrape. */
export interface HostState extends Pick<Outbound, 'circuits'>, Pick<Routes, 'definitions'> {
  /** Events under way. */
  inFlight(): number
  isStoreReachable: () => Promise<boolean>
}

/** The metrics of a host. */
export interface Metrics extends Required<Observer> {
  /** Counts a request for a path that the host does not have. */
  askedElsewhere(): void
  /** Loads the library. Earlier events are counted once it is loaded. */
  load(): Promise<Registry>
}

/** Seconds; an event may take 25. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25]
/** Whose credential a request carried. */
const OWNERS = ['host', 'deployment']
/** The fates of a message. */
const FATES = ['sent', 'failed', 'unknown'] as const
/** The resources that a host can run short of. */
const SHORTAGES = ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC']
/** Owners whose calls are counted: the first ones of which a call failed. */
const MOST_OWNERS = 100
/** Stands for every word that the host does not know. */
const OTHER = 'other'

type Counts = Awaited<ReturnType<typeof loadCounts>>

/** Makes the metrics of a host, and of its process. */
export function createMetrics(state: HostState): Metrics {
  // Loaded when the host listens, or with the first event: a host should start fast.
  let loaded: Counts | undefined
  const load = lazily(async () => {
    loaded = await loadCounts(state)
    return loaded
  })
  /** The owners of which a call failed. */
  const owners = new Set<string>()
  const count = (write: (counts: Counts) => void) => (loaded ? write(loaded) : void load().then(write))

  return {
    load: async () => (await load()).registry,

    askedElsewhere: () =>
      count(({ events }) => events.add({ route: OTHER, event: OTHER, function: '' }, 'not_found')),

    answered(record) {
      const { route, event = OTHER, function: called, shortage: resource } = record
      count(({ events, messages, functions, ownerCalls, shortages }) => {
        if (resource !== undefined) shortages.inc({ resource })
        const name = called === undefined ? '' : functions.get(route)?.has(called) ? called : OTHER
        const other = record.clock === undefined ? record.outcome : 'future'
        const outcome = other === 'replayed' || other === 'future' ? other : (record.code ?? other)
        events.add({ route, event, function: name }, outcome, record.durationMs / 1000)
        countOwner(record, owners, ownerCalls)
        for (const fate of FATES) if (record[fate]) messages.inc({ route, fate }, record[fate])
      })
    },

    async call(call, send) {
      const { to, route: integration, method } = call
      const started = performance.now()
      const finish = (outcome: string) => {
        const seconds = (performance.now() - started) / 1000
        count(({ platformRequests, providerRequests }) =>
          to === 'platform'
            ? platformRequests.add({ callback: callbackOf(call) }, outcome, seconds)
            : providerRequests.add({ integration, method }, outcome, seconds),
        )
      }
      try {
        const response = await send()
        finish(statusClass(response.status))
        if (to === 'provider' && (response.status === 401 || response.status === 403)) {
          const owner = call.usesHostSecret() ? 'host' : 'deployment'
          count(({ credentialsRejected }) => credentialsRejected.inc({ integration, owner }))
        }
        return response
      } catch (error) {
        finish(failureOf(error))
        const resource = shortageOf(error)
        if (resource !== undefined) count(({ shortages }) => shortages.inc({ resource }))
        throw error
      }
    },
  }
}

async function loadCounts({ inFlight, circuits, isStoreReachable, ...routes }: HostState) {
  const definitions = await routes.definitions()
  // The default export alone: the bundle keeps no names of a CommonJS package that is loaded later.
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = (await import('prom-client')).default
  const registry = new Registry()
  const registers = [registry]

  const createCounter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers })

  /** `<name>s_total`, with the outcome as a label, and the histogram `<name>_duration_seconds`. */
  function createTally(name: string, help: string, labelNames: string[]) {
    const outcomes = createCounter(`${name}s_total`, `${help}.`, [...labelNames, 'outcome'])
    const ofDurations = { name: `${name}_duration_seconds`, help: `${help}: how long they took.` }
    const durations = new Histogram({ ...ofDurations, labelNames, buckets: BUCKETS, registers })
    return {
      add(labels: Record<string, string>, outcome: string, seconds?: number): void {
        outcomes.inc({ ...labels, outcome })
        if (seconds !== undefined) durations.observe(labels, seconds)
      },
    }
  }

  type SetGauge = (gauge: Pick<Gauge, 'set'>) => void | Promise<void>
  /** @param set is called at each scrape */
  const createGauge = (name: string, help: string, labelNames: string[], set: SetGauge) => {
    const gauge: Gauge = new Gauge({ name, help, labelNames, registers, collect: () => set(gauge) })
  }

  collectDefaultMetrics({ register: registry })
  const credentialsRejected = createCounter(
    'webhook_provider_credentials_rejected_total',
    'Requests that a provider refused with 401 or 403, by whose credential it was.',
    ['integration', 'owner'],
  )
  const messages = createCounter('webhook_messages_total', 'Messages by fate.', ['route', 'fate'])
  const ofShortages = 'Calls and events that failed because this host had too little of something.'
  const shortages = createCounter('webhook_host_shortages_total', ofShortages, ['resource'])
  for (const resource of SHORTAGES) shortages.inc({ resource }, 0)
  // A series that begins with 1 has not increased.
  for (const { name } of definitions) {
    for (const owner of OWNERS) credentialsRejected.inc({ integration: name, owner }, 0)
    for (const fate of FATES) messages.inc({ route: name, fate }, 0)
  }
  const info = 'Always 1; the labels tell the version of the host, and the commit that it was built from.'
  createGauge('webhook_build_info', info, ['version', 'revision'], (gauge) =>
    gauge.set({ version, revision }, 1),
  )
  createGauge('webhook_events_in_flight', 'Events under way.', [], (gauge) => gauge.set(inFlight()))
  const reachable = 'Whether the delivery store takes writes: 1, or 0.'
  createGauge('webhook_store_reachable', reachable, [], async (gauge) =>
    gauge.set((await isStoreReachable()) ? 1 : 0),
  )
  const ofCircuits = 'Circuits to the accounts of each integration, by state.'
  createGauge('webhook_provider_circuits', ofCircuits, ['integration', 'state'], (gauge) => {
    for (const [integration, states] of circuits())
      for (const state of circuitStates)
        gauge.set({ integration, state }, states.filter((each) => each === state).length)
  })
  return {
    registry,
    functions: new Map(definitions.map((definition) => [definition.name, namesOf(definition)])),
    credentialsRejected,
    messages,
    shortages,
    ownerCalls: createCounter(
      'webhook_owner_calls_total',
      `Calls of functions for the first ${MOST_OWNERS} owners of which one failed: ok, or failed.`,
      ['route', 'owner', 'outcome'],
    ),
    events: createTally(
      'webhook_event',
      'Events by outcome: ok, ignored, replayed, or the code of the problem',
      ['route', 'event', 'function'],
    ),
    providerRequests: createTally('webhook_provider_request', 'Requests to providers, each attempt', [
      'integration',
      'method',
    ]),
    platformRequests: createTally('webhook_platform_request', 'Requests to the platform, each attempt', [
      'callback',
    ]),
  }
}

/** An owner is counted from its first failure on, so that few are, and those that suffer. */
function countOwner(record: EventRecord, owners: Set<string>, calls: Pick<Counter, 'inc'>): void {
  const { route, event, owner = record.deployment, callsOwnServer, outcome } = record
  // No operator of the host can mend the faults of a sender or of a deployment's own server.
  if (owner === undefined || event !== 'FUNCTION_CALL' || callsOwnServer || outcome === 'refused') return
  const hasFailed = outcome === 'failed' || outcome === 'unknown'
  if (hasFailed && owners.size < MOST_OWNERS) owners.add(owner)
  if (owners.has(owner)) calls.inc({ route, owner, outcome: hasFailed ? 'failed' : 'ok' })
}

/** The name of each function of an integration, and its aliases. */
function namesOf({ functions }: IntegrationDefinition): ReadonlySet<string> {
  return new Set(Object.entries(functions).flatMap(([name, { aliases = [] }]) => [name, ...aliases]))
}

/** Why a call failed: the code of the host's own error, or what happened to the connection or the response. */
function failureOf(error: unknown): string {
  if (error instanceof CircuitOpenError) return 'circuit_open'
  if (isIntegrationError(error)) return error.code
  // The platform's: a success that is not JSON, or too long.
  if (error instanceof HttpFailure) return error.kind
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout'
  if (error instanceof Error && error.name === 'AbortError') return 'aborted'
  return 'unreachable'
}

function statusClass(status: number): string {
  return status === 429 ? '429' : `${Math.floor(status / 100)}xx`
}

/** The part of a deployment that a callback reads or writes, such as `status`. */
function callbackOf({ url }: OutboundCall): string {
  const [, part = 'deployment'] = /\/deployments\/[^/]+\/(\w+)/.exec(new URL(url).pathname) ?? []
  return part
}
