/**
 * Provisioning as a machine, explored in every order of events: two hosts, redeliveries, crashes, leases that
 * expire under a live holder, and creates whose outcome the caller does not learn.
 */
import { describe, expect, it } from 'vitest'

const ours = {
  /** A delivery claims the deployment first. */
  claim: true,
  /** The store refuses writes without a valid lease. */
  fence: true,
  /** Each step is recorded. */
  record: true,
  /** The provider's list is searched for an earlier application before a create. */
  lookUp: true,
  /** No create replaces an earlier one that may still take effect. */
  settle: true,
  /** A host sends nothing after its lease, by its own clock. */
  ensureHeld: true,
}
/** The faults that may happen: `expiries` under a live holder, and `late` creates without a response. */
const hazards = { crashes: 1, expiries: 1, late: 1 }

const idle = { step: 'idle', fence: 0, application: 0 }

const start = {
  ...hazards,
  deliveries: 4,
  hosts: [idle, idle],
  fence: 0,
  holder: -1,
  expired: false,
  intent: 'none',
  recorded: 0,
  done: false,
  /** The applications at the provider, and the creates that may still take effect. */
  applications: [] as number[],
  pending: 0,
  created: 0,
  published: 0,
}
type State = typeof start

function* moves(state: State, protocol: typeof ours): Generator<State> {
  const { hosts, holder, expired, intent, pending } = state
  const holds = (index: number) => holder === index && state.fence === hosts[index]?.fence && !expired
  const create = { created: state.created + 1, applications: [...state.applications, state.created + 1] }

  if (pending > 0) {
    yield { ...state, pending: pending - 1 }
    yield { ...state, pending: pending - 1, ...create }
  }
  // An intent settles after the longest time of an event and of a create that may still take effect.
  const isSending = hosts.some(({ step }, index) => step === 'intended' && holds(index))
  if (intent === 'pending' && !isSending && pending === 0) yield { ...state, intent: 'settled' }
  if (hosts[holder]?.step === 'idle' && !expired) yield { ...state, expired: true }

  for (const [index, host] of hosts.entries()) {
    const isHeld = holds(index)
    const mayWrite = !protocol.fence || isHeld
    const maySend = !protocol.claim || !protocol.ensureHeld || isHeld
    /** The host takes a step, or gives up if it is not allowed. */
    const go = (step: Partial<typeof idle>, change: Partial<State> = {}, isAllowed = true) =>
      isAllowed
        ? { ...state, ...change, hosts: hosts.with(index, { ...host, ...step }) }
        : { ...state, hosts: hosts.with(index, idle) }
    const release = (change: Partial<State> = {}) => go(idle, isHeld ? { ...change, holder: -1 } : change)
    const recording = (change: Partial<State>) => (protocol.record ? change : {})

    if (host.step !== 'idle') {
      if (state.crashes > 0) yield go(idle, { crashes: state.crashes - 1 })
      if (state.expiries > 0 && holder === index && !expired)
        yield { ...state, expiries: state.expiries - 1, expired: true }
    }
    if (host.step === 'idle') {
      if (state.deliveries === 0 || state.done) continue
      const [deliveries, fence] = [state.deliveries - 1, state.fence + 1]
      if (!protocol.claim) yield go({ step: 'claimed' }, { deliveries })
      else if (holder === -1 || expired)
        yield go({ step: 'claimed', fence }, { deliveries, fence, holder: index, expired: false })
    } else if (host.step === 'claimed') {
      const [listed = 0] = protocol.lookUp ? state.applications : []
      const application = (protocol.record && state.recorded) || listed
      if (application > 0) yield go({ step: 'created', application })
      else if (protocol.settle && intent === 'pending') yield release()
      else yield go({ step: 'intended' }, recording({ intent: 'pending' }), mayWrite)
    } else if (host.step === 'intended') {
      yield go({ step: 'created', application: create.created }, create, maySend)
      if (!maySend || state.late === 0) continue
      // No response: the create has taken effect, or it still may.
      yield release({ late: state.late - 1, ...create })
      yield release({ late: state.late - 1, pending: pending + 1 })
    } else if (host.step === 'created') {
      yield go({ step: 'recorded' }, recording({ recorded: host.application }), mayWrite)
    } else if (host.step === 'recorded') {
      yield go({ step: 'published' }, { published: host.application }, maySend)
    } else {
      yield go(idle, { done: true, holder: -1 }, mayWrite)
    }
  }
}

/**
 * Visits every state. A violation is an end without exactly one application, published; `most` is the largest
 * number of applications at a time.
 */
function explore(protocol: typeof ours, faults: typeof hazards) {
  const first: State = { ...start, ...faults }
  const seen = new Set([JSON.stringify(first)])
  const waiting = [first]
  const found = { ends: 0, violations: 0, most: 0 }
  for (let state = waiting.pop(); state; state = waiting.pop()) {
    const { applications, done, published } = state
    found.most = Math.max(found.most, applications.length)
    const next = [...moves(state, protocol)]
    // The platform redelivers an event that is not done, so only a done one is an end.
    if (next.length === 0 && done) {
      found.ends += 1
      if (applications.length !== 1 || applications[0] !== published) found.violations += 1
    }
    for (const one of next) {
      const key = JSON.stringify(one)
      if (!seen.has(key)) waiting.push(one)
      seen.add(key)
    }
  }
  return found
}

describe('provisioning in every order of events on two hosts', () => {
  it.each([1, 2])('ends with one published application after %i crashes and expired leases', (times) => {
    const { ends, ...found } = explore(ours, { ...hazards, crashes: times, expiries: times })
    expect(ends).toBeGreaterThan(10)
    expect(found).toEqual({ violations: 0, most: 1 })
  })

  it.each<(keyof typeof ours)[]>([
    ['claim', 'fence', 'record', 'settle'],
    ['fence', 'ensureHeld'],
    ['record'],
    ['lookUp'],
    ['settle'],
    ['ensureHeld'],
  ])('can end otherwise without %s', (...without) => {
    const weaker = { ...ours, ...Object.fromEntries(without.map((part) => [part, false])) }
    expect(explore(weaker, hazards).violations).toBeGreaterThan(0)
  })
})
