/**
 * The protocol of provisioning as a machine with every order of events that can be: two hosts, redeliveries, a
 * crash, a lease that runs out under a live holder, and creates whose fate the caller does not learn.
 *
 * @module
 */

/** What a protocol does about the hazards; all of them together are ours. */
export interface Protocol {
  /** Deliveries ask for a claim first. */
  claim: boolean
  /** Writes to the record are refused without a valid lease. */
  fence: boolean
  /** What was done is written down, step by step. */
  record: boolean
  /** An earlier try is looked for in the provider's list before anything is created. */
  lookUp: boolean
  /** While an earlier create may still appear, none is made in its place. */
  settle: boolean
  /** Nothing leaves a host after its lease, by its own clock. */
  ensureHeld: boolean
}

/** What the world may do. */
export interface Hazards {
  crashes: number
  /** Leases that run out while their holder is alive, only slow. */
  expiries: number
  /** Creates of which the caller does not learn, and which take effect at any later time. */
  late: number
  /** Whether such a create may take effect even after the time to settle. */
  afterSettling: boolean
}

type Step = 'idle' | 'claimed' | 'intended' | 'created' | 'found' | 'recorded' | 'published'

interface Host {
  step: Step
  fence: number
  application: number
}

interface State {
  deliveries: number
  hazards: Hazards
  hosts: Host[]
  record: {
    fence: number
    holder: number | undefined
    expired: boolean
    intent: 'none' | 'pending' | 'settled'
    application: number
    done: boolean
  }
  /** What exists at the provider, and what may still appear there. */
  applications: number[]
  pending: number
  created: number
  published: number
}

/** What came of exploring a protocol. */
export interface Exploration {
  states: number
  /** States in which nothing more can happen. */
  ends: number
  /** Ends with another number of applications than one, or with one that is not the published one. */
  violations: number
  /** The most applications that were there at a time. */
  most: number
}

const HOSTS = 2
const DELIVERIES = 4
const idle: Host = { step: 'idle', fence: 0, application: 0 }

/** Goes through every state that a protocol can get into. */
export function explore(protocol: Protocol, hazards: Hazards): Exploration {
  const first: State = {
    deliveries: DELIVERIES,
    hazards,
    hosts: Array.from({ length: HOSTS }, () => idle),
    record: { fence: 0, holder: undefined, expired: false, intent: 'none', application: 0, done: false },
    applications: [],
    pending: 0,
    created: 0,
    published: 0,
  }
  const seen = new Set([JSON.stringify(first)])
  const waiting = [first]
  const found = { ends: 0, violations: 0, most: 0 }
  for (let state = waiting.pop(); state; state = waiting.pop()) {
    found.most = Math.max(found.most, state.applications.length)
    const next = [...moves(state, protocol)]
    // What the platform was not told is done is delivered again, so only what it was told is judged.
    if (next.length === 0 && state.record.done) {
      found.ends += 1
      const [only, ...others] = state.applications
      if (only === undefined || others.length > 0 || only !== state.published) found.violations += 1
    }
    for (const one of next) {
      const key = JSON.stringify(one)
      if (seen.has(key)) continue
      seen.add(key)
      waiting.push(one)
    }
  }
  return { states: seen.size, ...found }
}

function* moves(state: State, protocol: Protocol): Generator<State> {
  yield* worldMoves(state)
  for (const [index, host] of state.hosts.entries()) {
    if (host.step === 'idle') yield* start(state, index, protocol)
    else yield* proceed(state, index, host, protocol)
    yield* misfortunes(state, index, host)
  }
}

/** Late creates take effect or come to nothing, leases of the dead run out, and intents settle. */
function* worldMoves(state: State): Generator<State> {
  const { record, hazards } = state
  if (state.pending > 0) {
    const fewer = { ...state, pending: state.pending - 1 }
    yield fewer
    yield { ...fewer, applications: [...state.applications, state.created + 1], created: state.created + 1 }
  }
  // An event has less time than an intent to settle, so whoever holds the claim has sent its create by then.
  const isSending = state.hosts.some((host, index) => host.step === 'intended' && holds(state, index))
  if (record.intent === 'pending' && !isSending && (state.pending === 0 || hazards.afterSettling)) {
    yield { ...state, record: { ...record, intent: 'settled' } }
  }
  const isDead = record.holder !== undefined && state.hosts[record.holder]?.step === 'idle'
  if (isDead && !record.expired) yield { ...state, record: { ...record, expired: true } }
}

function* misfortunes(state: State, index: number, { step }: Host): Generator<State> {
  const { hazards, record } = state
  if (step === 'idle') return
  if (hazards.crashes > 0) {
    yield become(state, index, idle, { hazards: { ...hazards, crashes: hazards.crashes - 1 } })
  }
  if (hazards.expiries > 0 && record.holder === index && !record.expired) {
    const fewer = { ...hazards, expiries: hazards.expiries - 1 }
    yield { ...state, hazards: fewer, record: { ...record, expired: true } }
  }
}

function* start(state: State, index: number, protocol: Protocol): Generator<State> {
  const { record } = state
  if (state.deliveries === 0 || record.done) return
  const delivered = { deliveries: state.deliveries - 1 }
  if (!protocol.claim) return yield become(state, index, { ...idle, step: 'claimed' }, delivered)
  if (record.holder !== undefined && !record.expired) return
  const fence = record.fence + 1
  yield become(
    state,
    index,
    { ...idle, step: 'claimed', fence },
    {
      ...delivered,
      record: { ...record, fence, holder: index, expired: false },
    },
  )
}

function* proceed(state: State, index: number, host: Host, protocol: Protocol): Generator<State> {
  const { record } = state
  const isHeld = holds(state, index)
  const mayWrite = !protocol.fence || isHeld
  const mayLeave = !protocol.claim || !protocol.ensureHeld || isHeld
  const lost = become(state, index, idle, {})
  const release = (after: Partial<State> = {}) =>
    become(state, index, idle, {
      ...after,
      record: { ...record, ...after.record, ...(isHeld ? { holder: undefined } : {}) },
    })

  switch (host.step) {
    case 'claimed': {
      if (protocol.record && record.application > 0) {
        yield become(state, index, { ...host, step: 'found', application: record.application }, {})
        return
      }
      const [existing] = protocol.lookUp ? state.applications : []
      if (existing !== undefined) {
        yield become(state, index, { ...host, step: 'found', application: existing }, {})
        return
      }
      if (protocol.settle && record.intent === 'pending') return yield release()
      const intent = protocol.record ? ({ record: { ...record, intent: 'pending' } } as const) : {}
      yield mayWrite ? become(state, index, { ...host, step: 'intended' }, intent) : lost
      return
    }
    case 'intended': {
      if (!mayLeave) return yield lost
      const application = state.created + 1
      const made = { applications: [...state.applications, application], created: application }
      yield become(state, index, { ...host, step: 'created', application }, made)
      if (state.hazards.late === 0) return
      // Nobody learns of this one: it may have taken effect, may still, or may never.
      const hazards = { ...state.hazards, late: state.hazards.late - 1 }
      yield release({ hazards, ...made })
      yield release({ hazards, pending: state.pending + 1 })
      return
    }
    case 'created':
    case 'found': {
      const recorded = protocol.record ? { record: { ...record, application: host.application } } : {}
      yield mayWrite ? become(state, index, { ...host, step: 'recorded' }, recorded) : lost
      return
    }
    case 'recorded': {
      yield mayLeave
        ? become(state, index, { ...host, step: 'published' }, { published: host.application })
        : lost
      return
    }
    default: {
      const over = { record: { ...record, done: true, holder: undefined } }
      yield mayWrite ? become(state, index, idle, over) : lost
    }
  }
}

function holds({ record, hosts }: State, index: number): boolean {
  return record.holder === index && record.fence === hosts[index]?.fence && !record.expired
}

function become(state: State, index: number, host: Host, change: Partial<State>): State {
  return { ...state, ...change, hosts: state.hosts.map((other, at) => (at === index ? host : other)) }
}
