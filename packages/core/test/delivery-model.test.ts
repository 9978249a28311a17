import { describe, expect, it } from 'vitest'
import { explore, type Hazards, type Protocol } from './delivery-model.ts'

const ours: Protocol = {
  claim: true,
  fence: true,
  record: true,
  lookUp: true,
  settle: true,
  ensureHeld: true,
}
const hazards: Hazards = { crashes: 1, expiries: 1, late: 1, afterSettling: false }

describe('provisioning, in every order of events that two hosts can get into,', () => {
  it('ends in one application, and that one is published', () => {
    const { states, ends, violations, most } = explore(ours, hazards)
    expect(states).toBeGreaterThan(1_000)
    expect(ends).toBeGreaterThan(10)
    expect({ violations, most }).toEqual({ violations: 0, most: 1 })
  })

  it('does so under two crashes and two leases that run out, too', () => {
    const { violations, most } = explore(ours, { ...hazards, crashes: 2, expiries: 2 })
    expect({ violations, most }).toEqual({ violations: 0, most: 1 })
  })

  it.each<[string, Partial<Protocol>]>([
    [
      'any store',
      { claim: false, fence: false, record: false, lookUp: false, settle: false, ensureHeld: false },
    ],
    ['a claim, but with a look at the list', { claim: false, fence: false, record: false, settle: false }],
    [
      'a fence, a record and a look at the list',
      { fence: false, record: false, lookUp: false, settle: false, ensureHeld: false },
    ],
    ['a fence, and a look at its own clock', { fence: false, ensureHeld: false }],
    ['a record', { record: false }],
    ['a look at the list', { lookUp: false }],
    ['time to settle', { settle: false }],
    ['a look at its own clock before anything leaves', { ensureHeld: false }],
  ])('would not without %s', (_, without) => {
    expect(explore({ ...ours, ...without }, hazards).violations).toBeGreaterThan(0)
  })

  it('can’t where a create takes effect after the time to settle: what remains is a second application', () => {
    const { violations, most } = explore(ours, { ...hazards, afterSettling: true })
    expect(violations).toBeGreaterThan(0)
    expect(most).toBe(2)
  })
})
