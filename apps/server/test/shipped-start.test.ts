/** The start of the shipped process: refused configurations, the address, who reaches it, and the store’s files. */
import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { calling, createFolder, credentials, production } from './hosted.ts'
import { bundle, secret, shipWith } from './shipped.ts'

const { ship, end } = shipWith({ PLATFORM_API_URL: 'http://127.0.0.1:9', DRAIN_DELAY_MS: '0' })
afterAll(end)
const createUser = calling('createUser', { emailAddress: 'ada@example.com', password: 'hunter22' })

// At the same time, because they mostly wait.
describe.concurrent('the bundled host', () => {
  it('refuses to start with every fault of its configuration and its store, each by its name and without its value', async () => {
    const file = `${createFolder()}/deliveries.db`
    const other = new DatabaseSync(file)
    other.exec('PRAGMA journal_mode = WAL; PRAGMA user_version = 3; CREATE TABLE records (id INTEGER)')
    other.close()
    const before = readFileSync(file)
    const wrong = {
      LEASE_MS: '5000',
      PLATFORM_API_URL: 'https://platform.example?hidden=1#x',
      PLATFORM_API_TOKEN: 'hidden\ntoken',
      DELIVERY_STORE: `sqlite:${file}`,
      MAILER_SHARED_FROM_EMAIL: 'hidden\u2028 <shop@example.com>',
    }
    const { errors, exit } = ship({ environment: { ...wrong, NODE_ENV: ' Production\r' } })
    expect(await exit).toBe(1)
    const named = [...errors().matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name)
    const missing = ['CORS_ORIGINS', 'PLATFORM_WEBHOOK_SECRET']
    expect(named.toSorted()).toEqual([...Object.keys(wrong), ...missing].toSorted())
    expect(errors()).toContain('it has format 3, and this host reads format 4: drain the host')
    expect(errors()).not.toMatch(/hidden/i)
    // The host leaves a store of another format as it is.
    expect(readFileSync(file)).toEqual(before)
  })

  it('ends if its port is taken, or a part of its folder is missing, and says so', async () => {
    const PORT = new URL(await ship().url).port
    const second = ship({ environment: { PORT } })
    const program = createFolder()
    cpSync(bundle, program, { recursive: true })
    const [part = ''] = readdirSync(program).filter((file) => file.startsWith('webhook'))
    rmSync(join(program, part))
    const partial = ship({ program })
    expect([await second.exit, await partial.exit]).toEqual([1, 1])
    expect(second.log.at(-1)).toMatchObject({ level: 'error', message: expect.stringContaining(PORT) })
    const reason = expect.stringContaining(part)
    expect(partial.log.at(-1)).toMatchObject({ message: 'The host failed and ends.', reason })
  })

  it('listens on HOST, and tells its version and commit in its log, its metrics and its OpenAPI document', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    const { operatorToken: OPERATOR_TOKEN } = credentials
    const tokens = { MAILER_SHARED_API_TOKEN: 'token-of-the-mailer', IDP_PLATFORM_API_KEY: 'ak_shared' }
    const environment = { ...production, ...tokens, HOST: '127.0.0.2', OPERATOR_TOKEN }
    const { url, log } = ship({ environment })
    const at = (await url).replace('127.0.0.1', '127.0.0.2')
    const line = log.find(({ address }) => address)
    const built = line?.revision
    // A build from a cache has the commit of that build, and one outside of a repository has none.
    expect(built).toMatch(/^([\da-f]{12}|unknown)$/)
    expect(line).toMatchObject({
      ...{ level: 'info', message: `Listening on ${at}`, address: '127.0.0.2', version, store: 'memory' },
      integrations: {
        mailer: { sharedToken: true },
        idp: { sharedToken: false },
        'idp-server': { sharedToken: true },
        auth: { sharedToken: false },
      },
    })
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
    const read = async (path: string) => (await fetch(`${at}${path}`, { headers })).text()
    const metrics = await read('/metrics')
    expect(metrics).toContain(`webhook_build_info{version="${version}",revision="${built}"} 1`)
    expect(metrics).toMatch(/^process_resident_memory_bytes [1-9]\d+$/m)
    expect(JSON.parse(await read('/openapi.json')).info.version).toBe(`${version}+${built}`)
  })

  it('in production listens on every address, and in development without a secret on the loopback address, whatever HOST says', async () => {
    const reach = async (environment: Record<string, string>) => {
      const url = (await ship({ environment }).url).replace('127.0.0.1', '127.0.0.2')
      return fetch(`${url}/healthz`).then(
        ({ status }) => status,
        ({ cause }) => cause.code,
      )
    }
    expect(await reach(production)).toBe(200)
    expect(await reach({ HOST: '0.0.0.0' })).toBe('ECONNREFUSED')
  })

  it('in development without a secret accepts requests to this machine, and of no other site', async () => {
    const { url, log } = ship({ environment: { CORS_ORIGINS: 'https://app.example.com' } })
    const { port } = new URL(await url)
    /** `fetch` would not send the header Host. */
    async function statusOf(given: Record<string, string>, path: string, body?: string) {
      const headers = { 'content-type': 'application/json', ...given }
      const options = { host: '127.0.0.1', port, method: body ? 'POST' : 'GET', path, headers }
      const [{ statusCode }] = await once(request(options).end(body), 'response')
      return statusCode
    }
    const read = (headers: Record<string, string>) => statusOf(headers, '/integrations')
    const send = (headers: Record<string, string>) =>
      statusOf(headers, '/auth/webhook', '{"name":"WEBHOOK_CHALLENGE","challenge":"c"}')
    const local = { host: 'localhost:3009' }
    for (const headers of [
      { host: 'evil.example:80' },
      { host: 'localhost.evil.example' },
      { host: 'evil.example:80', origin: 'http://evil.example:80', 'sec-fetch-site': 'same-origin' },
      { ...local, origin: 'https://evil.example' },
      { ...local, origin: 'null' },
      { ...local, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' },
    ])
      expect([headers, await read(headers), await send(headers)]).toEqual([headers, 401, 401])
    expect(log.at(-1)).toMatchObject({ level: 'warn', peer: '127.0.0.1' })
    for (const host of ['localhost', 'localhost:3009', '127.0.0.1', '[::1]:3009'])
      expect([host, await send({ host, origin: `http://${host}` })]).toEqual([host, 200])
    const listed = { ...local, origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' }
    expect(await read(listed)).toBe(200)
  })

  it('keeps its store private and under its secret, through a rotation', async () => {
    const modeOf = (path: string) => statSync(path).mode & 0o777
    /** Sends the event to a host in this folder, with the first of its secrets, and says whether it was replayed. */
    async function isReplayed(folder: string, ...secrets: string[]): Promise<boolean> {
      const environment = { DELIVERY_STORE: undefined, PLATFORM_WEBHOOK_SECRET: secrets.join(' ') }
      const host = ship({ environment, folder, secret: secrets[0] })
      const response = await host.send('idp', createUser, 'evt_1')
      // Without keys of the identity provider, the refusal is final, and recorded.
      expect(response).toMatchObject({ status: 422, body: { code: 'missing_credentials' } })
      const modes = readdirSync(`${folder}/.data`).map((name) => modeOf(`${folder}/.data/${name}`))
      expect(new Set([modeOf(`${folder}/.data`), ...modes])).toEqual(new Set([0o700, 0o600]))
      host.kill('SIGTERM')
      await host.exit
      return response.headers.get('idempotency-replayed') === 'true'
    }
    function digestIn(folder: string): string | undefined {
      const database = new DatabaseSync(`${folder}/.data/deliveries.db`, { readOnly: true })
      const found = String(database.prepare('SELECT text FROM records').get()?.text)
      database.close()
      return /"digest":"([^"]+)"/.exec(found)?.[1]
    }
    const [open, signed] = [createFolder(), createFolder()]
    expect(await isReplayed(open)).toBe(false)
    expect(await isReplayed(signed, secret)).toBe(false)
    // The same event: a digest without a key would be the same, and a reader of the store could test guesses.
    expect(new Set([undefined, digestIn(open), digestIn(signed)]).size).toBe(3)
    expect(await isReplayed(signed, `whsec_${btoa('the next one of the platform')}`, secret)).toBe(true)
  })
})
