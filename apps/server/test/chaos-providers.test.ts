import { describe, expect, it } from 'vitest'
import { arranged } from '../../../bench/chaos/run.ts'
import { sendAmbiguously } from '../../../bench/chaos/scenarios/ambiguous.ts'
import { sendOverGoodbyes, sendOverStale } from '../../../bench/chaos/scenarios/keep-alive.ts'
import { outlastPlatform } from '../../../bench/chaos/scenarios/platform-outage.ts'

describe('a host as a process', () => {
  it('never repeats a send with an unknown outcome, after eighteen kinds of failure', async () => {
    const environment = { REQUEST_TIMEOUT_MS: '3000' }
    await arranged({ store: 'sqlite', hosts: 1, environment }, async (arrangement) => {
      expect((await sendAmbiguously(arrangement)).violations).toEqual([])
    })
  })

  it('knows the outcome of every send although the provider closes idle connections', async () => {
    const { figures, violations } = await sendOverStale(30)
    expect(violations).toEqual([])
    expect(figures).toMatchObject({ 'unknown through the host': 0 })
  })

  it('sends each mail once although the provider often says goodbye or refuses the next call', async () => {
    const { figures, violations } = await sendOverGoodbyes(30)
    expect(violations).toEqual([])
    expect(figures).toMatchObject({ 'unknown of them': 0 })
  })

  it('keeps an application that it can’t publish, and publishes it when the platform is back', async () => {
    await arranged({ store: 'sqlite', hosts: 1 }, async (arrangement) => {
      const { violations } = await outlastPlatform(arrangement, {
        deployments: 2,
        tries: 1,
        callbacks: /outputs$/,
      })
      expect(violations).toEqual([])
    })
  })
})
