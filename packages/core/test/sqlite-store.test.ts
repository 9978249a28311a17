/** The SQLite store and its file. The conformance suite runs on it in `stores.test.ts`. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { checkSqliteFile, type SqliteStoreOptions, sqliteStore } from '@org/core/stores/sqlite'
import { expect, it, onTestFinished } from 'vitest'

const request = { subject: 's', delivery: { id: 'evt_1', digest: 'd' }, leaseMs: 60_000 }
const response = { status: 200, code: undefined, at: undefined, body: 'encrypted' }

const newFile = () => join(mkdtempSync(join(tmpdir(), 'deliveries-')), 'nested', 'deliveries.db')

function open(options: SqliteStoreOptions) {
  const store = sqliteStore(options)
  onTestFinished(store.close)
  return {
    ...store,
    async run(subject: string, isLiving = false) {
      const result = await store.claim({ ...request, subject })
      if (result.state !== 'claimed') throw new Error(result.state)
      await store.complete(result.lease, { response, progress: {}, isLiving })
    },
  }
}

/** Opens the file as another process would. */
function openAside(file: string): DatabaseSync {
  const database = new DatabaseSync(file)
  onTestFinished(() => database.close())
  return database
}

it('creates its folder and a file that nobody else may read, and remembers its records after it is closed', async () => {
  const file = newFile()
  expect(await checkSqliteFile(file)).toBe(undefined)
  expect([statSync(file).mode & 0o777, readdirSync(dirname(file))]).toEqual([0o600, ['deliveries.db']])
  const store = open({ file })
  await store.run('s')
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
  for (const subject of ['a', 'b', 'c']) await store.run(subject)
  await store.run('living', true)
  time += (7 * 24 + 1) * 3_600_000
  expect(await store.read('a')).toBe(undefined)
  const records = openAside(file).prepare('SELECT key FROM records')
  const counts = [records.all().length]
  for (const subject of ['d', 'e']) {
    await store.claim({ ...request, subject })
    counts.push(records.all().length)
  }
  expect(counts).toEqual([4, 3, 3])
  expect(await store.read('living')).toMatchObject({ fence: 1 })
})

it('fails with the cause while another process has locked the file, and stops nothing else meanwhile', async () => {
  const file = newFile()
  const store = open({ file })
  await store.probe()
  const other = openAside(file)
  other.exec('BEGIN IMMEDIATE')
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 1)
  const locked = `The store ${file} can’t be used: another process has locked it.`
  await expect(Promise.all([store.claim(request), store.probe()])).rejects.toThrow(locked)
  clearInterval(timer)
  expect([turns > 100, await checkSqliteFile(file)]).toEqual([true, locked])
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
])('fails with the cause if its file %s, until that is over', async (_, cause, spoil) => {
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

it('fails if the file was removed or replaced under the store, until it is back', async () => {
  const file = newFile()
  const store = open({ file })
  await store.probe()
  renameSync(file, `${file}.away`)
  for (const spoil of [() => {}, () => writeFileSync(file, '')]) {
    spoil()
    const failure = 'it was removed or replaced while it was open; restart the host'
    await expect(Promise.all([store.probe(), store.claim(request)])).rejects.toThrow(failure)
  }
  renameSync(`${file}.away`, file)
  await store.probe()
})

const disk = mkdtempSync(join(tmpdir(), 'disk-'))
const mount = () => spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', disk]).status === 0
const unmount = () => spawnSync('umount', [disk]).status === 0
const canMount = mount() && unmount()
if (!canMount) process.stderr.write('SKIPPED: a full disk. Only root may mount one to test it.\n')

it.skipIf(!canMount)(
  'fails with the cause while the disk is full, leaves nothing there, and recovers',
  async () => {
    mount()
    onTestFinished(() => void unmount())
    const [file, filler] = [join(disk, 'deliveries.db'), join(disk, 'filler')]
    const fill = () => spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096'])
    const full = /can’t be used: .*(disk is full|disk I\/O error|ENOSPC)/
    fill()
    expect(await checkSqliteFile(file)).toMatch(full)
    expect(readdirSync(disk)).toEqual(['filler'])
    rmSync(filler)
    const store = open({ file })
    await store.probe()
    fill()
    await expect.poll(() => store.probe().catch((error: Error) => error.message)).toMatch(full)
    await expect(store.claim(request)).rejects.toThrow(full)
    rmSync(filler)
    await store.probe()
    expect(await store.claim(request)).toMatchObject({ state: 'claimed' })
  },
)
