/** Somebody who can write to the delivery store, and does not know the keys of the host. */
import { createHmac } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { DeliveryStore } from '@org/core'
import { redisStore } from '@org/core/stores/redis'
import { sqliteStore } from '@org/core/stores/sqlite'
import { createClient } from '@redis/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasRedis, startRedis } from '../../../bench/chaos/redis.ts'
import { calling, credentials, startHost } from './hosted.ts'

const recordKeys = [credentials.webhookSecret]

/** A store, and its texts by their keys, for anybody to read and write. */
interface OpenStore {
  store: DeliveryStore
  read(): Promise<Map<string, string>>
  write(key: string, text: string): Promise<unknown>
}

async function openSqlite(): Promise<OpenStore> {
  const file = join(mkdtempSync(join(tmpdir(), 'tampered-')), 'deliveries.db')
  const store = sqliteStore({ file, recordKeys })
  await store.probe()
  const database = new DatabaseSync(file)
  onTestFinished(async () => {
    database.close()
    await store.close()
  })
  return {
    store,
    async read() {
      const rows = database.prepare('SELECT key, text FROM records').all()
      return new Map(rows.map(({ key, text }) => [String(key), String(text)]))
    },
    async write(key, text) {
      database.prepare('UPDATE records SET text = ? WHERE key = ?').run(text, key)
    },
  }
}

async function openRedis(): Promise<OpenStore> {
  const server = await startRedis()
  const client = createClient({ url: server.url })
  await client.connect()
  onTestFinished(async () => {
    client.destroy()
    await server.close()
  })
  return {
    store: redisStore({ client, recordKeys }),
    async read() {
      const keys = await client.keys('deliveries:4:*')
      const texts = await Promise.all(keys.map(async (key) => [key, (await client.get(key)) ?? ''] as const))
      return new Map(texts)
    },
    write: (key, text) => client.set(key, text, { expiration: 'KEEPTTL' }),
  }
}

const found = (texts: Map<string, string>, part: string) =>
  [...texts].find(([, text]) => text.includes(part)) ?? ['', '']

describe.each([
  ['SQLite', openSqlite, true],
  ['Redis', openRedis, hasRedis],
] as const)('a record in %s', (_, openStore, isAvailable) => {
  /** Two deployments with an application each, of which one is the attacker's. */
  async function deployTwo() {
    const opened = await openStore()
    const lines: { level: string; message: string; reason?: unknown }[] = []
    const { send, world } = startHost({
      store: opened.store,
      variables: { PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret },
      logger: (level, message, data) => void lines.push({ level, message, ...data }),
    })
    let at = 0
    const deliver = async (name: string, id: string) => {
      const deployment = { id, inputs: { applicationName: id } }
      if (name === 'DEPLOYMENT_CREATED') world.platform.addDeployment(deployment)
      at += 1
      const event =
        name === 'FUNCTION_CALL' ? calling('createUser', { emailAddress: 'a@example.com' }) : { name }
      return send(
        'idp-server',
        { ...event, deployment },
        { id: `evt_${at}`, secret: credentials.webhookSecret },
      )
    }
    const applicationOf = async (id: string) =>
      String(Object((await deliver('DEPLOYMENT_CREATED', id)).body).outputs.applicationId)
    const victim = await applicationOf('victim')
    const evil = await applicationOf('evil')
    return { opened, deliver, victim, evil, world, lines }
  }

  it
    .skipIf(!isAvailable)
    .each<[string, (victim: string, evil: string, store: OpenStore) => Promise<unknown>]>([
      [
        'names the application of another deployment',
        async (victim, evil, store) => {
          const [key, text] = found(await store.read(), `"applicationId":"${evil}"`)
          return store.write(key, text.replace(evil, victim))
        },
      ],
      [
        'was copied from another deployment',
        async (victim, evil, store) => {
          const texts = await store.read()
          const [key] = found(texts, `"applicationId":"${evil}"`)
          const [, text] = found(texts, `"applicationId":"${victim}"`)
          return store.write(key, text)
        },
      ],
      [
        'is empty',
        async (_, evil, store) => {
          const [key] = found(await store.read(), `"applicationId":"${evil}"`)
          return store.write(key, '')
        },
      ],
      [
        'is signed as by a host without a key',
        async (victim, evil, store) => {
          const [key, text] = found(await store.read(), `"applicationId":"${evil}"`)
          const json = text.slice(24).replace(evil, victim)
          const signed = createHmac('sha256', 'integration host: records without a key')
          signed.update(`MAC, version 1"idp-server/deployment/evil"${json}`)
          return store.write(key, signed.digest('base64').slice(0, 24) + json)
        },
      ],
    ])('that %s is refused and logged, and nothing is read or deleted by it', async (_, tamper) => {
    const { opened, deliver, victim, evil, world, lines } = await deployTwo()
    const secrets = [...world.backend.instances.keys()]
    await tamper(victim, evil, opened)
    const requests = world.sent.filter(({ host }) => host === 'idp.test').length
    const events = ['DEPLOYMENT_CREATED', 'METRIC_UPDATE', 'FUNCTION_CALL', 'DEPLOYMENT_DELETED']
    for (const name of events) {
      const { status, body } = await deliver(name, 'evil')
      expect({ status, body }).toMatchObject({ status: 500, body: { code: 'internal_error' } })
      for (const secret of secrets) expect(JSON.stringify(body)).not.toContain(secret)
    }
    expect(world.sent.filter(({ host }) => host === 'idp.test')).toHaveLength(requests)
    expect([...world.workspace.applications.keys()].toSorted()).toEqual([victim, evil].toSorted())
    const reason = expect.stringContaining('The record of idp-server/deployment/evil')
    for (const name of events)
      expect(lines).toContainEqual(
        expect.objectContaining({ level: 'error', message: `${name} 500`, reason }),
      )
  })
})
