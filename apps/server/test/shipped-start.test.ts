/** The start of the shipped process: refused configurations, the address, who reaches it, and the store’s files. */
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { deliver } from '@org/core/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { calling } from './hosted.ts'
import { isNightly } from './nightly.ts'
import { bundle, createFolder, type StartOptions, secret, startShipped } from './shipped.ts'

const development = { PLATFORM_API_URL: 'http://127.0.0.1:9' }
const production = {
  ...development,
  NODE_ENV: 'production',
  DRAIN_DELAY_MS: '0',
  PLATFORM_WEBHOOK_SECRET: secret,
  CORS_ORIGINS: 'https://app.example.com',
}
const hosts: ReturnType<typeof startShipped>[] = []
afterAll(() => hosts.forEach((host) => void host.kill('SIGKILL')))

function start(environment: Record<string, string | undefined>, options: StartOptions = {}) {
  const host = startShipped({ environment, ...options })
  hosts.push(host)
  return host
}
const createUser = calling('createUser', { emailAddress: 'ada@example.com', password: 'hunter22' })

// At the same time, because they mostly wait.
describe.concurrent('the bundled host', () => {
  it('refuses to start with every fault of its configuration and its store, each by its name and without its value', async () => {
    const wrong = {
      NODE_ENV: ' Production\r',
      LEASE_MS: '5000',
      PLATFORM_API_URL: 'https://platform.example?hidden=1#x',
      PLATFORM_API_TOKEN: 'hidden\ntoken',
      ENV_REFERENCE_ALLOW: 'hidden-name',
      DELIVERY_STORE: 'sqlite:/proc/none/deliveries.db',
      MAILER_SHARED_FROM_EMAIL: 'hidden\u2028 <shop@example.com>',
    }
    const { errors, exit } = start(wrong)
    expect(await exit).toBe(1)
    const named = [...errors().matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name)
    const { NODE_ENV: _, ...faulty } = wrong
    expect(named.toSorted()).toEqual(
      [...Object.keys(faulty), 'CORS_ORIGINS', 'PLATFORM_WEBHOOK_SECRET'].toSorted(),
    )
    expect(errors()).toMatch(/\n {2}DELIVERY_STORE: .* folder can’t be created/)
    expect(errors()).not.toMatch(/hidden/i)
  })

  it('refuses to start on a store of another format by name, and leaves it as it is', async () => {
    const file = `${createFolder()}/deliveries.db`
    const other = new DatabaseSync(file)
    other.exec('PRAGMA journal_mode = WAL; PRAGMA user_version = 3; CREATE TABLE records (id INTEGER)')
    other.close()
    const before = readFileSync(file)
    const { errors, exit } = start({ ...development, DELIVERY_STORE: `sqlite:${file}` })
    expect(await exit).toBe(1)
    expect(errors()).toMatch(
      /^DELIVERY_STORE: .*it has format 3, and this host reads format 4: drain the host/,
    )
    expect(readFileSync(file)).toEqual(before)
  })

  // The host closes the connections after ten seconds, because they send nothing.
  it.runIf(isNightly)('outlives connections that use up its files', async () => {
    const { url } = start(development, { within: ['prlimit', '--nofile=64:64'] })
    const port = Number(new URL(await url).port)
    const closed = Array.from({ length: 100 }, () =>
      once(
        connect(port, '127.0.0.1')
          .on('error', () => {})
          .resume(),
        'close',
      ),
    )
    await Promise.all(closed)
    expect((await fetch(`${await url}/healthz`)).status).toBe(200)
  })

  it('listens on HOST, and tells its version and commit in its log, its metrics and its OpenAPI document', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    const OPERATOR_TOKEN = 'operator-token-of-this-host'
    const { url, log } = start({ ...production, HOST: '127.0.0.2', OPERATOR_TOKEN })
    const at = (await url).replace('127.0.0.1', '127.0.0.2')
    const built = log[0]?.revision
    // A build from a cache has the commit of that build, and one outside of a repository has none.
    expect(built).toMatch(/^([\da-f]{12}|unknown)$/)
    expect(log[0]).toMatchObject({ level: 'info', message: 'The host starts.', version, store: 'memory' })
    expect(log.find(({ address }) => address)).toMatchObject({
      message: `Listening on ${at}`,
      address: '127.0.0.2',
    })
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
    const read = async (path: string) => (await fetch(`${at}${path}`, { headers })).text()
    const metrics = await read('/metrics')
    expect(metrics).toContain(`webhook_build_info{version="${version}",revision="${built}"} 1`)
    expect(metrics).toMatch(/^process_resident_memory_bytes [1-9]\d+$/m)
    expect(JSON.parse(await read('/openapi.json')).info.version).toBe(`${version}+${built}`)
  })

  it('ends if its port is taken', async () => {
    const PORT = new URL(await start(development).url).port
    const { exit, log } = start({ ...development, PORT })
    expect(await exit).toBe(1)
    expect(log.at(-1)).toMatchObject({ level: 'error', message: expect.stringContaining(PORT) })
  })

  it.each(['prom-client', 'undici', 'webhook'])(
    'ends at once if a part of its folder is missing (%s), instead of with an event',
    async (name) => {
      const program = createFolder()
      cpSync(bundle, program, { recursive: true })
      const [part = ''] = readdirSync(program).filter((file) => file.startsWith(name))
      rmSync(join(program, part))
      const { exit, log } = start(development, { program })
      expect(await exit).toBe(1)
      const reason = expect.stringContaining(part)
      expect(log.at(-1)).toMatchObject({ message: 'The host failed and ends.', reason })
    },
  )

  it('in development without a secret accepts requests to this machine, and of no other site', async () => {
    const { url, log } = start({ ...development, CORS_ORIGINS: 'https://app.example.com' })
    const { port } = new URL(await url)
    const event = '{"name":"WEBHOOK_CHALLENGE","challenge":"c"}'
    /** The statuses of a GET, and of a POST to a webhook; `fetch` would not send the header Host. */
    const ask = (headers: Record<string, string>, body = '') =>
      new Promise((resolve, reject) => {
        const [method, path] = body ? ['POST', '/auth/webhook'] : ['GET', '/integrations']
        const all = { 'content-type': 'application/json', ...headers }
        const outgoing = request({ host: '127.0.0.1', port, method, path, headers: all })
        outgoing.on('response', ({ statusCode }) => resolve(statusCode)).on('error', reject)
        outgoing.end(body)
      })
    const local = { host: 'localhost:3009' }
    for (const headers of [
      { host: 'evil.example:80' },
      { host: 'localhost.evil.example' },
      { host: 'evil.example:80', origin: 'http://evil.example:80', 'sec-fetch-site': 'same-origin' },
      { ...local, origin: 'https://evil.example' },
      { ...local, origin: 'null' },
      { ...local, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' },
    ])
      expect([headers, await ask(headers), await ask(headers, event)]).toEqual([headers, 401, 401])
    expect(log.at(-1)).toMatchObject({ level: 'warn', peer: '127.0.0.1' })
    for (const host of ['localhost', 'localhost:3009', '127.0.0.1', '[::1]:3009'])
      expect([host, await ask({ host, origin: `http://${host}` }, event)]).toEqual([host, 200])
    const listed = { ...local, origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' }
    expect(await ask(listed)).toBe(200)
  })
})

// Not beside the others: each step waits for SQLite’s time limit.
it('the bundled host starts with a store that another process has locked, and works once it is free', async () => {
  const folder = createFolder()
  const other = new DatabaseSync(`${folder}/deliveries.db`)
  other.exec('PRAGMA journal_mode = WAL; BEGIN EXCLUSIVE')
  const { url, log } = start({ ...development, DELIVERY_STORE: `sqlite:${folder}/deliveries.db` })
  const readiness = async () => (await fetch(`${await url}/readyz`)).status
  const send = async (event: object, route: string) =>
    deliver(fetch, event, { url: `${await url}/${route}/webhook`, id: `evt_${route}` })
  expect(await send(createUser, 'idp')).toMatchObject({ status: 503, body: { code: 'overloaded' } })
  expect(await send({ name: 'WEBHOOK_CHALLENGE' }, 'auth')).toMatchObject({ status: 200 })
  expect(await readiness()).toBe(503)
  await expect
    .poll(() => log.map(({ message }) => message))
    .toContainEqual(expect.stringMatching(/^DELIVERY_STORE: .* another process has locked it/))
  other.exec('COMMIT')
  other.close()
  await expect.poll(readiness).toBe(200)
  // Until the host has taken back the claim whose answer was lost, the event is in progress.
  await expect.poll(() => send(createUser, 'idp')).toMatchObject({ body: { code: 'missing_credentials' } })
})

describe.concurrent('the bundled host keeps its store', () => {
  const next = `whsec_${btoa('the next one of the platform')}`
  const environment = { ...development, DELIVERY_STORE: undefined }

  /** Sends the event to a host in this folder, with the first of its secrets, and says whether it was replayed. */
  async function send(folder: string, ...secrets: (string | undefined)[]): Promise<boolean> {
    const host = start({ ...environment, PLATFORM_WEBHOOK_SECRET: secrets.join(' ') }, { folder })
    const url = `${await host.url}/idp/webhook`
    const response = await deliver(fetch, createUser, { url, id: 'evt_1', secret: secrets[0] })
    // Without keys of the identity provider, the refusal is final, and recorded.
    expect(response).toMatchObject({ status: 422, body: { code: 'missing_credentials' } })
    const modes = readdirSync(`${folder}/.data`).map((name) => modeOf(`${folder}/.data/${name}`))
    expect(new Set(modes)).toEqual(new Set([0o600]))
    host.kill('SIGTERM')
    await host.exit
    return response.headers.get('idempotency-replayed') === 'true'
  }
  function digestIn(folder: string): unknown {
    const database = new DatabaseSync(`${folder}/.data/deliveries.db`, { readOnly: true })
    const found = String(database.prepare('SELECT text FROM records').get()?.text)
    database.close()
    expect(found).toContain('"digest":"')
    return /"digest":"([^"]+)"/.exec(found)?.[1]
  }
  const modeOf = (path: string) => statSync(path).mode & 0o777

  it('private and under its secret, through a rotation', async () => {
    const [open, signed] = [createFolder(), createFolder()]
    expect(await send(open)).toBe(false)
    expect(modeOf(`${open}/.data`)).toBe(0o700)
    expect(await send(signed, secret)).toBe(false)
    // The same event: a digest without a key would be the same, and a reader of the store could test guesses.
    expect(digestIn(signed)).not.toEqual(digestIn(open))
    for (const secrets of [[secret], [next, secret]]) expect(await send(signed, ...secrets)).toBe(true)
  })

  it('by the commands of docs/operations.md, on every day', async () => {
    const guide = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
    const commands = [...guide.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = '']) => text)
    const folder = createFolder()
    const run = (part: string) => {
      const command = commands.find((text) => text.includes(part)) ?? 'exit 1'
      execFileSync('sh', ['-c', command], { cwd: `${folder}/.data` })
    }
    await send(folder)
    for (const part of ['VACUUM INTO', 'VACUUM INTO', 'install -m 600']) run(part)
    expect(await send(folder)).toBe(true)
  })
})

// The host and a stranger have a network namespace each, and a cable between them.
const [here, there] = [`host-${process.pid}`, `stranger-${process.pid}`]
const address = '192.0.2.1'
const ip = (command: string) => spawnSync('ip', command.split(' ')).status === 0
const isSeparate = [
  `netns add ${here}`,
  `netns add ${there}`,
  `-n ${here} link add cable type veth peer name cable netns ${there}`,
  `-n ${here} addr add ${address}/30 dev cable`,
  `-n ${there} addr add 192.0.2.2/30 dev cable`,
  ...[here, there].flatMap((name) => [`-n ${name} link set lo up`, `-n ${name} link set cable up`]),
].every(ip)
afterAll(() => [here, there].forEach((name) => void ip(`netns delete ${name}`)))
// Loud, so that nobody takes a run without these rights for one with them.
if (!isSeparate) process.stderr.write('SKIPPED: the host as another machine sees it. It needs root and ip.\n')

describe.runIf(isSeparate)('another machine', () => {
  const ask = `const [url, paths] = process.argv.slice(1)
const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
const send = (path) => fetch(url + path, path.endsWith('webhook') ? post : {}).then(({ status }) => status, ({ cause }) => cause.code)
Promise.all(JSON.parse(paths).map(send)).then((answers) => console.log(JSON.stringify(answers)))`

  /** Starts a host, lets the stranger ask for paths, and reads where the host listens: `0100007F`. */
  async function look(environment: Record<string, string>, paths: readonly string[]) {
    const host = start(environment, { within: ['ip', 'netns', 'exec', here] })
    const { port } = new URL(await host.url)
    const sockets = ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((kind) =>
      readFileSync(`/proc/${host.pid}/net/${kind}`, 'utf8').trim().split('\n').slice(1),
    )
    const listening = sockets.flatMap((line) => {
      const [, local = '', , state] = line.trim().split(/\s+/)
      return state === '0A' || state === '07' ? local.split(':', 1) : []
    })
    const parameters = ['netns', 'exec', there, process.execPath, '-e', ask]
    const given = [`http://${address}:${port}`, JSON.stringify(paths)]
    const { stdout } = await promisify(execFile)('ip', [...parameters, ...given])
    host.kill('SIGKILL')
    await host.exit
    return { listening, answered: JSON.parse(stdout), log: host.log }
  }

  it('reaches nothing of a host in development without a secret', async () => {
    const open = { ...development, HOST: '0.0.0.0' }
    expect(await look(open, ['/healthz'])).toMatchObject({
      listening: ['0100007F'],
      answered: ['ECONNREFUSED'],
    })
  })

  it('finds one open port in production, and neither metrics nor deliveries', async () => {
    const paths = ['/healthz', '/readyz', '/metrics', '/deliveries/evt_1', '/.data/deliveries.db']
    const { listening, answered, log } = await look(production, [...paths, '/mailer/webhook'])
    expect([listening, answered]).toEqual([['00000000'], [200, 200, 404, 404, 404, 401]])
    expect(log).toContainEqual(expect.objectContaining({ peer: '192.0.2.2' }))
  })
})
