/** Somebody who can write to the delivery store, and does not know the keys of the host. */
import { createHmac } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import type { Logger } from '@org/core'
import { redisStore } from '@org/core/stores/redis'
import { sqliteStore } from '@org/core/stores/sqlite'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { hasRedis, startRedis } from '../../../bench/chaos/redis.ts'
import { connectRedis } from '../src/stores/redis.ts'
import { createFolder, credentials, startHost } from './hosted.ts'

const { webhookSecret: secret } = credentials

/** A store in a file, and its records. */
async function openFile() {
  const file = `${createFolder()}/deliveries.db`
  const store = sqliteStore({ file, recordKeys: [secret] })
  onTestFinished(store.close)
  const ask = (statement: string, ...values: string[]) => {
    const database = new DatabaseSync(file)
    const rows = database.prepare(statement).all(...values)
    database.close()
    return rows
  }
  return {
    store,
    records: async () =>
      ask('SELECT key, text FROM records').map(({ key, text }) => [String(key), String(text)]),
    write: async (key: string, text: string) =>
      void ask('UPDATE records SET text = ? WHERE key = ?', text, key),
  }
}

/** A store in Redis, and its records. */
async function openRedis() {
  const redis = await startRedis()
  onTestFinished(redis.close)
  const client = await connectRedis(redis.url)
  onTestFinished(() => client.destroy())
  return {
    store: redisStore({ client, recordKeys: [secret] }),
    async records() {
      const keys = (await redis.ask('KEYS', '*')).split('\n')
      return Promise.all(keys.map(async (key) => [key, await redis.ask('GET', key)]))
    },
    write: async (key: string, text: string) => void (await redis.ask('SET', key, text, 'KEEPTTL')),
  }
}

const stores = [['SQLite', openFile] as const, ...(hasRedis ? [['Redis', openRedis] as const] : [])]

describe.each(stores)('in %s', (_store, open) => {
  it.each<[string, (text: string, evil: string, victim: string, ofVictim: string) => string]>([
    ['names the application of another deployment', (text, evil, victim) => text.replace(evil, victim)],
    ['was copied from another deployment', (_text, _evil, _victim, ofVictim) => ofVictim],
    ['is empty', () => ''],
    [
      'is signed as by a host without a key',
      (text, evil, victim) => {
        const json = text.slice(24).replace(evil, victim)
        const signed = createHmac('sha256', 'integration host: records without a key')
        signed.update(`MAC, version 1"idp-server/deployment/evil"${json}`)
        return signed.digest('base64').slice(0, 24) + json
      },
    ],
  ])('a record that %s is refused and logged, and nothing is read or deleted by it', async (_, tamper) => {
    const { store, records, write } = await open()
    const logger = vi.fn<Logger>()
    const { send, world } = startHost({ store, variables: { PLATFORM_WEBHOOK_SECRET: secret }, logger })
    const deliver = (name: string, id: string) => {
      const deployment = { id, inputs: { applicationName: id } }
      return send('idp-server', { name, deployment }, { id: crypto.randomUUID(), secret })
    }
    async function create(id: string) {
      world.platform.addDeployment({ id })
      const { body } = await deliver('DEPLOYMENT_CREATED', id)
      return String(Object(body).outputs.applicationId)
    }
    const [victim, evil] = [await create('victim'), await create('evil')]
    const all = await records()
    const find = (id: string) => all.find(([, text]) => text?.includes(`"applicationId":"${id}"`)) ?? []
    const [[key = '', text = ''], [, ofVictim = '']] = [find(evil), find(victim)]
    await write(key, tamper(text, evil, victim, ofVictim))

    world.sent.length = 0
    for (const name of ['DEPLOYMENT_CREATED', 'METRIC_UPDATE', 'DEPLOYMENT_DELETED']) {
      expect(await deliver(name, 'evil')).toMatchObject({ status: 500, body: { code: 'internal_error' } })
      const reason = expect.stringContaining('The record of idp-server/deployment/evil')
      expect(logger).toHaveBeenCalledWith('error', `${name} 500`, expect.objectContaining({ reason }))
    }
    expect(world.sent.filter(({ host }) => host === 'idp.test')).toEqual([])
  })
})
