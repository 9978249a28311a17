/** The start of the shipped process: refused configurations, the address, and the store’s files. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from '@org/core/stores/sqlite'
import { deliver } from '@org/core/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { calling } from './hosted.ts'
import { bundle, createFolder, startShipped } from './shipped.ts'

const development = { PLATFORM_API_URL: 'http://127.0.0.1:9' }
const production = {
  ...development,
  NODE_ENV: 'production',
  PLATFORM_WEBHOOK_SECRET: `whsec_${btoa('a secret of the platform')}`,
  CORS_ORIGINS: 'https://app.example.com',
}

async function start(environment: Record<string, string>, onFinished = onTestFinished) {
  const host = startShipped({ environment })
  onFinished(() => host.kill('SIGKILL'))
  const port = new URL(await host.url).port
  const line = host.log.find(({ message }) => message?.startsWith('Listening'))
  const warnings = host.log.filter(({ level }) => level === 'warn').map(({ message }) => message)
  return { ...host, port, line, warnings }
}

describe('the bundled host refuses to start', () => {
  it('with every fault of its configuration and its store at once, each by its name and without its value', async () => {
    const wrong = {
      NODE_ENV: ' Production\r',
      HOST: 'hidden.example',
      DRAIN_DELAY_MS: '-1',
      LEASE_MS: '5000',
      PLATFORM_API_URL: 'https://platform.example?hidden=1#x',
      PLATFORM_API_TOKEN: 'hidden\ntoken',
      OPERATOR_TOKEN: 'hidden\u0007',
      CORS_ORIGINS: ',',
      EGRESS_ALLOW: 'hidden..example',
      ENV_REFERENCE_ALLOW: 'hidden-name',
      DELIVERY_STORE: 'sqlite:/proc/none/deliveries.db',
      MAILER_SHARED_FROM_EMAIL: 'hidden\u2028 <shop@example.com>',
    }
    const { errors, exit } = startShipped({ environment: wrong })
    expect(await exit).toBe(1)
    const named = errors()
      .split('\n')
      .map((line) => /^ {2}(\w+)/.exec(line)?.[1])
      .filter((name) => name !== undefined)
    const { NODE_ENV: _, ...faulty } = wrong
    expect(named.toSorted()).toEqual([...Object.keys(faulty), 'PLATFORM_WEBHOOK_SECRET'].toSorted())
    expect(errors()).toContain('set WEBHOOK_AUTH=none')
    expect(errors()).toMatch(/\n {2}DELIVERY_STORE: .* folder can’t be created/)
    expect(errors()).not.toMatch(/hidden/i)
  })
})

it('the bundled host refuses a store of another format by name, and leaves it as it is', async () => {
  const folder = createFolder()
  const file = `${folder}/deliveries.db`
  const other = new DatabaseSync(file)
  other.exec('PRAGMA journal_mode = WAL; PRAGMA user_version = 3; CREATE TABLE records (id INTEGER)')
  other.close()
  const before = readFileSync(file)
  const { errors, exit } = startShipped({ environment: { ...development, DELIVERY_STORE: `sqlite:${file}` } })
  expect(await exit).toBe(1)
  expect(errors()).toContain('it has format 3, and this host reads format 4: drain the host that wrote it')
  expect(readFileSync(file)).toEqual(before)
})

// At the same time, because they mostly wait.
describe.concurrent('the bundled host', () => {
  it('starts with a store that another process has locked, and works once it is free', async ({
    expect,
    onTestFinished,
  }) => {
    const folder = createFolder()
    const other = new DatabaseSync(`${folder}/deliveries.db`)
    onTestFinished(() => other.close())
    other.exec('PRAGMA journal_mode = WAL; BEGIN EXCLUSIVE')
    const environment = { ...development, DELIVERY_STORE: `sqlite:${folder}/deliveries.db` }
    const { url, log } = await start(environment, onTestFinished)
    await expect
      .poll(() => log.map(({ message }) => message), { timeout: 10_000 })
      .toContainEqual(expect.stringMatching(/^DELIVERY_STORE: .* another process has locked it/))
    const readiness = async () => (await fetch(`${await url}/readyz`)).status
    const send = async (event: object, route: string) =>
      deliver(fetch, event, { url: `${await url}/${route}/webhook`, id: `evt_${route}` })
    const create = calling('createUser', { emailAddress: 'ada@example.com' })
    expect(await send(create, 'idp')).toMatchObject({ status: 503, body: { code: 'overloaded' } })
    expect(await send({ name: 'WEBHOOK_CHALLENGE' }, 'auth')).toMatchObject({ status: 200 })
    expect(await readiness()).toBe(503)
    other.exec('COMMIT')
    await expect.poll(readiness).toBe(200)
    // Until the host has taken back the claim whose answer was lost, the event is in progress.
    await expect.poll(() => send(create, 'idp')).toMatchObject({ body: { code: 'missing_credentials' } })
  })

  it('warns of a lock on the file of an earlier start, too', async ({ expect, onTestFinished }) => {
    const folder = createFolder()
    const file = `${folder}/deliveries.db`
    const store = sqliteStore({ file })
    await store.probe()
    await store.close()
    const other = new DatabaseSync(file)
    onTestFinished(() => other.close())
    other.exec('BEGIN EXCLUSIVE')
    const { log } = await start({ ...development, DELIVERY_STORE: `sqlite:${file}` }, onTestFinished)
    const messages = () => log.map(({ message }) => message)
    await expect
      .poll(messages, { timeout: 10_000 })
      .toContainEqual(expect.stringMatching(/^DELIVERY_STORE: .* another process has locked it/))
  })

  it('outlives connections that use up its files', async ({ onTestFinished }) => {
    const host = startShipped({ environment: development, within: ['prlimit', '--nofile=64:64'] })
    onTestFinished(() => host.kill('SIGKILL'))
    const url = await host.url
    const closed = Array.from({ length: 100 }, () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
        .on('error', () => {})
        .resume()
      return once(socket, 'close')
    })
    // The host closes them because they send nothing.
    await Promise.all(closed)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })
})

it('the bundled host tells its version in its log, its metrics and its OpenAPI document', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const { url, log } = await start(development)
  expect(log[0]).toMatchObject({ level: 'info', message: 'The host starts.', version })
  const read = async (path: string) => (await fetch(`${await url}${path}`)).text()
  expect(await read('/metrics')).toContain(`webhook_build_info{version="${version}"} 1`)
  expect(JSON.parse(await read('/openapi.json')).info.version).toBe(version)
})

describe('the bundled host listens', () => {
  it('on the loopback interface alone in development without a secret, whatever HOST says', async () => {
    const { line, warnings } = await start({ ...development, HOST: '0.0.0.0' })
    expect(line).toMatchObject({
      address: '127.0.0.1',
      message: expect.stringContaining('http://127.0.0.1:'),
    })
    expect(warnings).toEqual([expect.stringContaining('HOST is ignored')])
  })

  it.each([
    ['0.0.0.0', production],
    ['127.0.0.1', { ...production, NODE_ENV: 'development' }],
    ['127.0.0.2', { ...production, HOST: '127.0.0.2' }],
  ])('on %s, which its log names', async (address, environment) => {
    const { line, warnings } = await start(environment)
    expect(line).toMatchObject({ address, message: expect.stringContaining(`http://${address}:`) })
    expect(warnings).toEqual([])
  })
})

describe('the bundled host accepts a request by a browser', () => {
  const event = '{"name":"WEBHOOK_CHALLENGE","challenge":"c"}'
  const rebound = { host: 'evil.example:80' }
  const local = { host: 'localhost:3009' }
  const listed = { ...local, origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' }

  /** The status of a POST to a webhook, or of a GET; `fetch` would not send the header Host. */
  const ask = (port: string, headers: Record<string, string>, body = '') =>
    new Promise((resolve, reject) => {
      const [method, path] = body ? ['POST', '/auth/webhook'] : ['GET', '/integrations']
      const all = { 'content-type': 'application/json', ...headers }
      const outgoing = request({ host: '127.0.0.1', port, method, path, headers: all })
      outgoing.on('response', ({ statusCode }) => resolve(statusCode)).on('error', reject)
      outgoing.end(body)
    })

  it('in development without a secret if it is to this machine, and of no other site', async () => {
    const { port, log } = await start({ ...development, CORS_ORIGINS: 'https://app.example.com' })
    for (const headers of [
      rebound,
      { host: 'localhost.evil.example' },
      { ...rebound, origin: 'http://evil.example:80', 'sec-fetch-site': 'same-origin' },
      { ...local, origin: 'https://evil.example' },
      { ...local, origin: 'null' },
      { ...local, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' },
    ])
      expect([headers, await ask(port, headers), await ask(port, headers, event)]).toEqual([
        headers,
        401,
        401,
      ])
    expect(log.at(-1)).toMatchObject({ level: 'warn', peer: '127.0.0.1' })
    for (const host of ['localhost', 'localhost:3009', '127.0.0.1', '[::1]:3009']) {
      expect([host, await ask(port, { host }, event)]).toEqual([host, 200])
      expect(await ask(port, { host, origin: `http://${host}` }, event)).toBe(200)
    }
    expect(await ask(port, listed)).toBe(200)
  })

  it('by any name if events are signed, because a proxy may be in front', async () => {
    const { port } = await start(production)
    expect(await ask(port, { ...rebound, origin: 'https://evil.example' })).toBe(200)
  })
})

describe('the bundled host keeps its store', () => {
  const event = calling('createUser', { emailAddress: 'ada@example.com', password: 'hunter22' })
  const [first, second] = ['a secret of the platform', 'the next one of the platform'].map(
    (text) => `whsec_${btoa(text)}`,
  )

  /** Sends the event to a host in this folder, with the first of its secrets, and says whether it was replayed. */
  async function send(folder: string, ...secrets: (string | undefined)[]): Promise<boolean> {
    const PLATFORM_WEBHOOK_SECRET = secrets.join(' ')
    const environment = { ...development, PLATFORM_WEBHOOK_SECRET, DELIVERY_STORE: undefined }
    const host = startShipped({ environment, folder })
    try {
      const url = `${await host.url}/idp/webhook`
      const response = await deliver(fetch, event, { url, id: 'evt_1', secret: secrets[0] })
      // Without keys of the identity provider, the refusal is final, and recorded.
      expect(response).toMatchObject({ status: 422, body: { code: 'missing_credentials' } })
      expect(modesIn(`${folder}/.data`)).toEqual(new Set([0o600]))
      return response.headers.get('idempotency-replayed') === 'true'
    } finally {
      host.kill('SIGTERM')
      await host.exit
    }
  }
  function digestOf(folder: string): unknown {
    const database = new DatabaseSync(`${folder}/.data/deliveries.db`, { readOnly: true })
    const found = String(database.prepare('SELECT text FROM records').get()?.text)
    database.close()
    const [, digest] = /"digest":"([^"]+)"/.exec(found) ?? []
    expect(digest).toBeDefined()
    return digest
  }
  const modeOf = (path: string) => statSync(path).mode & 0o777
  const modesIn = (folder: string) => new Set(readdirSync(folder).map((name) => modeOf(`${folder}/${name}`)))

  it('private, and answers redeliveries before, during and after a rotation of its secret', async () => {
    const folder = createFolder()
    expect(await send(folder, first)).toBe(false)
    expect(modeOf(`${folder}/.data`)).toBe(0o700)
    const stored = readFileSync(`${folder}/.data/deliveries.db`, 'latin1')
    expect(stored).toContain('missing_credentials')
    for (const secrets of [[first], [second, first]]) expect(await send(folder, ...secrets)).toBe(true)
  })

  it('by the commands of docs/operations.md, on every day', async () => {
    const guide = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
    const commands = [...guide.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = '']) => text)
    const folder = createFolder()
    const cwd = `${folder}/.data`
    const run = (part: string) =>
      execFileSync('sh', ['-c', commands.find((text) => text.includes(part)) ?? 'exit 1'], { cwd })
    await send(folder)
    run('VACUUM INTO')
    run('VACUUM INTO')
    run('install -m 600')
    expect(await send(folder)).toBe(true)
  })

  it('under its secret', async () => {
    const [open, signed] = [createFolder(), createFolder()]
    await send(open)
    await send(signed, first)
    // The same event: a digest without a key would be the same, and a reader of the store could test guesses.
    expect(digestOf(signed)).not.toEqual(digestOf(open))
    expect(await send(signed, second, first)).toBe(true)
  })
})

describe('the bundled host', () => {
  it.each(['prom-client', 'undici', 'webhook'])(
    'ends at once if a part of its folder is missing (%s), instead of with an event',
    async (name) => {
      const program = createFolder()
      cpSync(bundle, program, { recursive: true })
      const [part = ''] = readdirSync(program).filter((file) => file.startsWith(name))
      rmSync(join(program, part))
      const host = startShipped({ environment: development, program })
      expect(await host.exit).toBe(1)
      expect(host.log.at(-1)).toMatchObject({
        message: 'The host failed and ends.',
        reason: expect.stringContaining(part),
      })
    },
  )
})
