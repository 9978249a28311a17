import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { sqliteStore } from '../src/stores/sqlite.ts'
import { describeDeliveryStore } from '../src/testing/index.ts'

describeDeliveryStore({ describe, it, expect, beforeEach }, 'sqlite', (now) =>
  sqliteStore({ file: ':memory:', now }),
)

describe('a store in a file', () => {
  const file = () => join(mkdtempSync(join(tmpdir(), 'deliveries-')), 'nested', 'deliveries.db')
  const request = { subject: 's', delivery: { id: 'evt_1', digest: 'd' }, leaseMs: 60_000 }

  it('makes its folder, and remembers after it was closed and opened again', async () => {
    const path = file()
    const first = sqliteStore({ file: path })
    const claimed = await first.claim(request)
    if (claimed.state !== 'claimed') throw new Error(claimed.state)
    await first.complete(claimed.lease, {
      answer: { status: 200, body: 'sealed' },
      progress: {},
      keepMs: 60_000,
    })
    first.close()
    expect(await sqliteStore({ file: path }).claim(request)).toEqual({
      state: 'done',
      answer: { status: 200, body: 'sealed' },
    })
  })

  it('is shared by two that have it open: one of them gets the claim', async () => {
    const path = file()
    const [one, two] = [sqliteStore({ file: path }), sqliteStore({ file: path })]
    expect(await one.claim(request)).toMatchObject({ state: 'claimed' })
    expect(await two.claim(request)).toMatchObject({ state: 'busy' })
  })
})
