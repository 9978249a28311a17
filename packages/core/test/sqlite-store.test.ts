import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { checkSqliteFile, type SqliteStoreOptions, sqliteStore } from '@org/core/stores/sqlite'
import { afterEach, describe, expect, it } from 'vitest'

const request = { subject: 's', delivery: { id: 'evt_1', digest: 'd' }, leaseMs: 60_000 }
const response = { status: 200, code: undefined, at: undefined, body: 'encrypted' }
const week = 7 * 24 * 60 * 60 * 1000

const newFile = () => join(mkdtempSync(join(tmpdir(), 'deliveries-')), 'nested', 'deliveries.db')
const undo: (() => unknown)[] = []

afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each()
})

function open(options: SqliteStoreOptions) {
  const store = sqliteStore(options)
  undo.push(() => store.close())
  return store
}

/** Opens the file as another process would. */
function openAside(file: string): DatabaseSync {
  const database = new DatabaseSync(file)
  undo.push(() => database.close())
  return database
}

describe('the SQLite store in a file', () => {
  it('creates its folder, and remembers its records after it is closed', async () => {
    const file = newFile()
    const store = open({ file })
    const result = await store.claim(request)
    if (result.state !== 'claimed') throw new Error(result.state)
    void store.complete(result.lease, { response, progress: {}, isLiving: false })
    await store.close()
    await expect(store.claim(request)).rejects.toThrow('is closed')
    expect(await open({ file }).claim(request)).toEqual({ state: 'done', response, fence: 1 })
  })

  it('does each event once for four processes that start at the same time with no file', async () => {
    // One more than a transaction takes.
    const [file, events] = [newFile(), 201]
    const program = join(import.meta.dirname, 'sqlite-process.ts')
    const start = () =>
      promisify(execFile)(process.execPath, ['--conditions=@org/source', program, file, `${events}`])
    const outputs = await Promise.all([1, 2, 3, 4].map(start))
    const states: string[] = outputs.flatMap(({ stdout }) => JSON.parse(stdout))
    expect(states.filter((state) => state === 'completed')).toHaveLength(events)
    expect(states.filter((state) => /^(completed|busy|done)$/.test(state))).toHaveLength(4 * events)
  })

  it('removes two expired records with each write', async () => {
    const file = newFile()
    let time = Date.now()
    const store = open({ file, now: () => time })
    const run = async (subject: string, isLiving: boolean) => {
      const result = await store.claim({ ...request, subject })
      if (result.state !== 'claimed') throw new Error(result.state)
      await store.complete(result.lease, { response, progress: {}, isLiving })
    }
    for (const subject of ['a', 'b', 'c']) await run(subject, false)
    await run('living', true)
    time += week + 3_600_000
    expect(await store.read('a')).toBe(undefined)
    const records = openAside(file).prepare('SELECT key FROM records')
    expect(records.all()).toHaveLength(4)
    await store.claim({ ...request, subject: 'd' })
    expect(records.all()).toHaveLength(3)
    await store.claim({ ...request, subject: 'e' })
    expect(records.all()).toHaveLength(3)
    expect(await store.read('living')).toMatchObject({ fence: 1 })
  })
})

describe('a SQLite file that can’t be used', () => {
  it('and is locked by another process fails with the cause, and stops nothing else meanwhile', async () => {
    const file = newFile()
    const store = open({ file })
    await store.probe()
    const other = openAside(file)
    other.exec('BEGIN IMMEDIATE')
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    await expect(Promise.all([store.claim(request), store.probe()])).rejects.toThrow(
      `The store ${file} can’t be used: another process has locked it.`,
    )
    clearInterval(timer)
    expect(turns).toBeGreaterThan(100)
    expect(await store.read('s')).toBe(undefined)
    other.exec('COMMIT')
    expect(await store.claim(request)).toMatchObject({ state: 'claimed' })
  })

  it.each<[string, string, (file: string) => void]>([
    ['is no database', 'file is not a database', (file) => writeFileSync(file, 'A text. '.repeat(99))],
    [
      'was written by another version',
      'it has format 99, and this host reads format 4: drain the host that wrote it',
      (file) => openAside(file).exec('PRAGMA user_version = 99; CREATE TABLE other (id INTEGER)'),
    ],
    ['is empty', 'it is empty, as after a copy that failed', (file) => writeFileSync(file, '')],
    ['is a folder', 'EISDIR', (file) => mkdirSync(file)],
  ])('and %s fails with the cause, until that is over', async (_, cause, spoil) => {
    const file = newFile()
    mkdirSync(dirname(file))
    spoil(file)
    const store = open({ file })
    const failure = `The store ${file} can’t be used: ${cause}`
    await expect(store.probe()).rejects.toThrow(failure)
    await expect(checkSqliteFile(file)).rejects.toThrow(failure)
    rmSync(dirname(file), { recursive: true })
    await store.probe()
  })

  it('because it was removed or replaced under the store fails with the cause, until it is back', async () => {
    const file = newFile()
    const store = open({ file })
    await store.probe()
    renameSync(file, `${file}.away`)
    for (const spoil of [() => {}, () => writeFileSync(file, '')]) {
      spoil()
      for (const use of [store.probe(), store.claim(request)])
        await expect(use).rejects.toThrow('it was removed or replaced while it was open; restart the host')
    }
    renameSync(`${file}.away`, file)
    await store.probe()
  })

  const disk = mkdtempSync(join(tmpdir(), 'disk-'))
  const mount = () => spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', disk]).status === 0
  const unmount = () => spawnSync('umount', [disk]).status === 0
  const canMount = mount() && unmount()
  if (!canMount) process.stderr.write('SKIPPED: a full disk. Only root may mount one to test it.\n')

  it.skipIf(!canMount)('because the disk is full fails with the cause, and recovers', async () => {
    mount()
    undo.push(unmount)
    const [file, filler] = [join(disk, 'deliveries.db'), join(disk, 'filler')]
    const fill = () => spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096'])
    const store = open({ file })
    await store.probe()
    fill()
    const full = /can’t be used: .*(disk is full|disk I\/O error|ENOSPC)/
    await expect.poll(() => store.probe().catch((error: Error) => error.message)).toMatch(full)
    await expect(store.claim(request)).rejects.toThrow(full)
    rmSync(filler)
    await store.probe()
    expect(await store.claim(request)).toMatchObject({ state: 'claimed' })
    await store.close()
    rmSync(file)
    fill()
    expect(await checkSqliteFile(file)).toMatch(full)
    rmSync(filler)
    expect(await checkSqliteFile(file)).toBe(undefined)
  })
})
