import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import { sqliteStore } from '../src/delivery/stores/sqlite.ts'
import { describeDeliveryStore } from '../src/testing/index.ts'

describeDeliveryStore({ describe, it, expect, beforeEach }, 'sqlite', (now) =>
  sqliteStore({ file: ':memory:', now }),
)

describe('a store in a file', () => {
  const file = () => join(mkdtempSync(join(tmpdir(), 'deliveries-')), 'nested', 'deliveries.db')
  const request = { subject: 's', delivery: { id: 'evt_1', digest: 'd' }, leaseMs: 60_000 }

  async function claimed(path: string) {
    const store = sqliteStore({ file: path })
    const result = await store.claim(request)
    if (result.state !== 'claimed') throw new Error(result.state)
    return { lease: result.lease, store }
  }

  it('makes its folder, and remembers after it was closed and opened again', async () => {
    const path = file()
    const { lease, store } = await claimed(path)
    await store.complete(lease, { answer: { status: 200, body: 'sealed' }, progress: {}, keepMs: 60_000 })
    store.close()
    expect(await sqliteStore({ file: path }).claim(request)).toEqual({
      state: 'done',
      answer: { status: 200, body: 'sealed' },
    })
  })

  it('of an earlier version is read, and goes on with what it had', async () => {
    const path = file()
    const { lease, store } = await claimed(path)
    await store.complete(lease, { answer: { status: 200, body: 'sealed' }, progress: {}, keepMs: 60_000 })
    store.close()
    const older = new DatabaseSync(path)
    older.exec(`ALTER TABLE answers DROP COLUMN code; ALTER TABLE answers DROP COLUMN at;
      ALTER TABLE subjects DROP COLUMN claimed`)
    older.close()
    const newer = sqliteStore({ file: path })
    expect(await newer.claim(request)).toEqual({ state: 'done', answer: { status: 200, body: 'sealed' } })
    expect(await newer.read('s')).toMatchObject({ fence: 1, answers: [{ delivery: 'evt_1', status: 200 }] })
  })

  it('is shared by two that have it open: one of them gets the claim', async () => {
    const path = file()
    const [one, two] = [sqliteStore({ file: path }), sqliteStore({ file: path })]
    expect(await one.claim(request)).toMatchObject({ state: 'claimed' })
    expect(await two.claim(request)).toMatchObject({ state: 'busy' })
  })
})
