import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { sign } from '@org/core'
import { deliver } from '@org/core/testing'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { secret, sendEmail, signedRequest } from './deployed.ts'
import { calling } from './hosted.ts'
import { listen } from './raw-server.ts'
import { bundle, createFolder, startShipped } from './shipped.ts'
import { surround } from './surrounded.ts'

/** Debian's nobody. */
const nobody = { uid: 65_534, gid: 65_534 }
const canBeNobody =
  process.getuid?.() === 0 && spawnSync(process.execPath, ['--version'], nobody).status === 0
// Loud, so that nobody takes a run as an ordinary user for a run as root.
if (!canBeNobody) process.stderr.write('SKIPPED: the bundle as a user without rights. It needs root.\n')

const BODY_LIMIT = 20_000
const folder = createFolder()
const around = await surround()
const attacker = await listen((_, response) => response.end())
/** EGRESS_ALLOW lists this one. It answers with redirects and with the status 600. */
const odd = await listen((request, response) => {
  const location = `http://${attacker.host}/stolen`
  response.writeHead(request.url?.startsWith('/redirect') ? 307 : 600, { location }).end('{}')
})
chmodSync(folder, 0o755)
mkdirSync(`${folder}/data`)
if (canBeNobody) chownSync(`${folder}/data`, nobody.uid, nobody.gid)
const environment: Record<string, string | undefined> = {
  ...around.variables,
  DELIVERY_STORE: 'sqlite:data/deliveries.db',
  BODY_LIMIT: String(BODY_LIMIT),
  REQUEST_TIMEOUT_MS: '6000',
  EGRESS_ALLOW: odd.host,
  ENV_REFERENCE_ALLOW: '*',
  TENANT_TOKEN: 'tenant-token-of-a-variable',
  OPERATOR_TOKEN: 'operator-token-of-this-host',
}
const start = () => startShipped({ environment, folder, ...(canBeNobody && { user: nobody }) })
let host = start()
afterAll(async () => {
  host.kill('SIGKILL')
  await host.exit
  odd.close()
  attacker.close()
})

const send = async (route: string, event: object, id: string = crypto.randomUUID()) =>
  deliver(fetch, event, { id, secret, url: `${await host.url}/${route}/webhook` })
const mailTo = (to: string) => calling('sendEmail', { to, subject: 'Hi', textBody: 'x' })
const sentTo = (address: string) => around.mail.messages.filter(({ to }) => to.includes(address))
const withServer = (baseUrl?: string, apiToken = 'tenant-token') => ({
  id: 'dep_1',
  inputs: { serverType: 'dedicated', apiToken, baseUrl, fromEmail: 'a@example.com' },
})

describe('the bundled host verifies signatures:', () => {
  it('it refuses an event whose body was changed, before any call leaves', async () => {
    const before = around.mail.calls.length
    const { headers, url } = await signedRequest(sendEmail, { url: `${await host.url}/mailer/webhook` })
    const response = await fetch(url, { method: 'POST', headers, body: sendEmail.replace('ada', 'eve') })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ code: 'invalid_signature', retryable: false })
    expect(around.mail.calls).toHaveLength(before)
  })

  it.each([
    ['without a signature', undefined],
    ['signed six minutes ago', { timestamp: new Date(Date.now() - 360_000) }],
  ])('it waits for the body of no request that is %s', async (_, given) => {
    const signed = given && (await sign({ secret, id: 'e', body: sendEmail, ...given }))
    const headers = { 'content-type': 'application/json', 'content-length': '1000', ...signed }
    const unfinished = request(`${await host.url}/mailer/webhook`, { method: 'POST', headers })
    onTestFinished(() => void unfinished.destroy())
    unfinished.on('error', () => {}).flushHeaders()
    const [response]: IncomingMessage[] = await once(unfinished, 'response')
    expect(response?.statusCode).toBe(401)
  })
})

describe('the bundled host repeats no effect:', () => {
  it('it answers redeliveries from the record', async () => {
    const copies = Array.from({ length: 5 }, () => send('mailer', mailTo('once@example.com'), 'evt_once'))
    const statuses = (await Promise.all(copies)).map(({ status }) => status)
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true)
    const replay = await send('mailer', mailTo('once@example.com'), 'evt_once')
    expect(replay).toMatchObject({ status: 200, body: { result: { to: 'once@example.com' } } })
    expect(replay.headers.get('idempotency-replayed')).toBe('true')
    expect(sentTo('once@example.com')).toHaveLength(1)
  })

  it('it does not repeat a send whose response is lost', async () => {
    around.mail.faults.add({ method: 'POST', path: '/email', cut: 'after' })
    const unknown = { status: 409, body: { code: 'outcome_unknown', retryable: false } }
    expect(await send('mailer', mailTo('lost@example.com'), 'evt_lost')).toMatchObject(unknown)
    await send('mailer', mailTo('lost@example.com'), 'evt_lost')
    expect(sentTo('lost@example.com')).toHaveLength(1)
  })
})

describe('the bundled host calls providers:', () => {
  it('it repeats a read after a connection reset, and a send that is refused with the status 429', async () => {
    around.mail.faults.add({ method: 'GET', path: /outbound/, cut: 'before' })
    expect(await send('mailer', calling('getDeliveryStats'))).toMatchObject({ status: 200 })
    around.mail.faults.add({ method: 'POST', path: '/email', status: 429, headers: { 'retry-after': '0' } })
    expect(await send('mailer', mailTo('later@example.com'))).toMatchObject({ status: 200 })
    expect(sentTo('later@example.com')).toHaveLength(1)
  })

  it('it answers 504 if the provider stays silent for REQUEST_TIMEOUT_MS', async () => {
    around.mail.faults.add({ method: 'GET', path: /outbound/, hang: true })
    const late = { status: 504, body: { code: 'provider_timeout', retryable: true } }
    expect(await send('mailer', calling('getDeliveryStats'))).toMatchObject(late)
  })

  it('it answers 502 if the provider answers with the status 600', async () => {
    const event = { ...calling('getDeliveryStats'), deployment: withServer(`http://${odd.host}/odd`) }
    expect(await send('mailer', event)).toMatchObject({ status: 502, body: { code: 'provider_error' } })
  })

  it('it stops calling a provider that keeps failing, and no other', async () => {
    const { backend } = around
    backend.faults.add({ status: 500, times: Number.POSITIVE_INFINITY })
    const attempts = Array.from({ length: 30 }, () => send('idp', calling('countUsers')))
    for (const { status } of await Promise.all(attempts)) expect(status).toBe(502)
    const before = backend.calls.length
    const refused = await send('idp', calling('countUsers'))
    expect(refused).toMatchObject({ status: 502, body: { code: 'provider_error', retryable: true } })
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(backend.calls).toHaveLength(before)
    // The mail server is another provider, and has a circuit of its own.
    expect(await send('mailer', calling('getDeliveryStats'))).toMatchObject({ status: 200 })
  })
})

describe('the bundled host in production:', () => {
  it('it refuses a server of a deployment that is not public', async () => {
    const event = { name: 'DEPLOYMENT_CREATED', deployment: withServer('https://169.254.169.254') }
    const errors = [{ path: 'deployment.inputs.baseUrl' }]
    expect(await send('mailer', event)).toMatchObject({
      status: 422,
      body: { code: 'invalid_inputs', errors },
    })
  })

  it.each([
    [
      'a variable of its own',
      'names PLATFORM_API_TOKEN',
      withServer(undefined, '{{env.PLATFORM_API_TOKEN}}'),
    ],
    [
      'a variable to a foreign server',
      'not sent to a URL of the deployment',
      withServer('https://mail.example.com', '{{env.TENANT_TOKEN}}'),
    ],
  ])('it sends no deployment %s, even with ENV_REFERENCE_ALLOW=*', async (_, message, deployment) => {
    const errors = [{ path: 'deployment.inputs.apiToken', message: expect.stringContaining(message) }]
    expect(await send('mailer', { name: 'DEPLOYMENT_CREATED', deployment })).toMatchObject({
      status: 422,
      body: { code: 'invalid_inputs', errors },
    })
    expect(JSON.stringify(host.log)).toContain('ENV_REFERENCE_ALLOW is *')
    expect(JSON.stringify(host.log)).not.toMatch(/platform-token|tenant-token-of/)
  })

  it('it follows no redirect of a provider', async () => {
    const event = { ...calling('getDeliveryStats'), deployment: withServer(`http://${odd.host}/redirect`) }
    expect((await send('mailer', event)).status).toBeGreaterThanOrEqual(400)
    expect(attacker.connections()).toBe(0)
  })

  it('it accepts a body of BODY_LIMIT bytes, and refuses a longer one with and without content-length', async () => {
    const url = `${await host.url}/auth/webhook`
    const status = async (size: number) => {
      const text = JSON.stringify({ name: 'WEBHOOK_CHALLENGE', unknown: '' })
      const body = text.replace('""', `"${'x'.repeat(size - text.length)}"`)
      return (await fetch(await signedRequest(body, { url }))).status
    }
    expect(await status(BODY_LIMIT)).toBe(200)
    expect(await status(BODY_LIMIT + 1)).toBe(413)
    const { headers } = await signedRequest('x', { url })
    const body = new Blob(['x'.repeat(BODY_LIMIT + 1)]).stream()
    const chunked: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' }
    expect((await fetch(url, chunked)).status).toBe(413)
  })

  it('it logs one line of JSON for each event, without secrets and mail addresses', async () => {
    await send('mailer', mailTo('logged@example.com'), 'evt_logged')
    // The host writes its log after the response.
    const lines = () => host.log.filter(({ delivery }) => delivery === 'evt_logged')
    await expect.poll(lines).toMatchObject([
      {
        level: 'info',
        route: 'mailer',
        function: 'sendEmail',
        status: 200,
        outcome: 'ok',
        providerCalls: 1,
      },
    ])
    expect(JSON.stringify(host.log)).not.toMatch(/@example\.com|mail-token|platform-token|whsec_|sk_test/)
  })

  it('it serves the metrics of its events, its process and its store to its operator alone', async () => {
    const ask = async (token: string) =>
      fetch(`${await host.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    expect((await ask('operator')).status).toBe(401)
    const refusal = expect.objectContaining({ level: 'warn', route: '/metrics', peer: '127.0.0.1' })
    await expect.poll(() => host.log).toContainEqual(refusal)
    const metrics = await (await ask('operator-token-of-this-host')).text()
    expect(metrics).toMatch(/^webhook_events_total\{.*function="sendEmail",outcome="ok"\} [1-9]/m)
    expect(metrics).toMatch(/^process_resident_memory_bytes [1-9]\d+$/m)
    expect(metrics).toMatch(/^webhook_store_reachable 1$/m)
    // Nobody registered an OpenTelemetry SDK.
    expect(JSON.stringify(host.log)).not.toContain('traceId')
  })

  it('it finishes events under way on SIGTERM, exits with 0, and replays them after a restart', async () => {
    const mail = around.holdMail()
    const before = mail.arrived()
    const underWay = send('mailer', mailTo('draining@example.com'), 'evt_draining')
    await expect.poll(mail.arrived).toBe(before + 1)
    host.kill('SIGTERM')
    await expect.poll(() => host.log.at(-1)?.message).toContain('SIGTERM')
    mail.letGo()
    expect(await underWay).toMatchObject({ status: 200 })
    expect(await host.exit).toBe(0)
    expect(host.errors()).toBe('')

    host = start()
    const replay = await send('mailer', mailTo('draining@example.com'), 'evt_draining')
    expect(replay.headers.get('idempotency-replayed')).toBe('true')
    expect(sentTo('draining@example.com')).toHaveLength(1)
    expect(readdirSync(folder).sort()).toEqual(['data'])
  })

  it('it exits with 1 if its port is taken', async () => {
    const PORT = new URL(await host.url).port
    const second = startShipped({ environment: { ...environment, DELIVERY_STORE: 'memory:', PORT } })
    expect(await second.exit).toBe(1)
    expect(second.log.at(-1)).toMatchObject({ level: 'error', message: expect.stringContaining(PORT) })
  })

  it('it exits with 1 if its store can’t be opened, and names the variable and the cause', async () => {
    const file = `${bundle}/node.mjs`
    const failed = startShipped({ environment: { ...environment, DELIVERY_STORE: `sqlite:${file}` } })
    expect(await failed.exit).toBe(1)
    const cause = 'it is no SQLite database'
    expect(failed.errors()).toBe(`DELIVERY_STORE: The store ${file} can’t be used: ${cause}.\n`)
  })

  it.skipIf(!canBeNobody)('it exits with 1 if it can’t write the file of its store', async () => {
    const readOnly = createFolder()
    chmodSync(readOnly, 0o755)
    const byDefault = { ...environment, DELIVERY_STORE: undefined }
    const failed = startShipped({ environment: byDefault, folder: readOnly, user: nobody })
    expect(await failed.exit).toBe(1)
    expect(failed.errors()).toContain('DELIVERY_STORE')
    expect(failed.errors()).toContain(
      '.data/deliveries.db can’t be used: the host may not write in its folder.',
    )
  })
})

describe('the bundled host with an OpenTelemetry SDK:', () => {
  it('it continues the trace of the sender, and flushes its spans on SIGTERM', async () => {
    const traced = startShipped({
      environment: around.variables,
      flags: ['--import', new URL('otel.mjs', import.meta.url).href],
    })
    onTestFinished(() => traced.kill('SIGKILL'))
    const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
    const request = await signedRequest(sendEmail, { url: `${await traced.url}/mailer/webhook` })
    request.headers.set('traceparent', `00-${parent.traceId}-${parent.spanId}-01`)
    expect((await fetch(request)).status).toBe(200)
    traced.kill('SIGTERM')
    expect(await traced.exit).toBe(0)
    const spans = JSON.parse(`[${traced.errors().trim().replaceAll('\n', ',')}]`)
    const { traceId, spanId } = parent
    expect(spans).toContainEqual(
      expect.objectContaining({ name: 'POST /mailer/webhook', traceId, parent: spanId }),
    )
    expect(spans).toContainEqual(expect.objectContaining({ name: 'POST mailer', traceId }))
    expect(traced.log.find(({ route }) => route === 'mailer')).toMatchObject({ traceId })
  })
})
