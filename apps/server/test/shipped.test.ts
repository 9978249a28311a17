/** The bundle in production: signatures, effects, providers, the log, and a restart on its SQLite file. */
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { constants } from 'node:http2'
import { sign } from '@org/core'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { createHttp2Gateway } from '../../../bench/shared/http2-gateway.ts'
import { cert } from '../../../tooling/runtimes/certificate.ts'
import { calling, mail } from './hosted.ts'
import { listen } from './raw-server.ts'
import { createFolder, secret, signedRequest } from './shipped.ts'
import { surround } from './surrounded.ts'

const BODY_LIMIT = 20_000
const folder = createFolder()
const around = await surround()
const attacker = await listen((_, response) => response.end())
/** EGRESS_ALLOW lists this one. It answers with redirects and with the status 600. */
const odd = await listen((request, response) => {
  const location = `http://${attacker.host}/stolen`
  response.writeHead(request.url?.startsWith('/redirect') ? 307 : 600, { location }).end('{}')
})
afterAll(() => {
  odd.close()
  attacker.close()
})
const start = () =>
  around.ship({
    environment: {
      DELIVERY_STORE: 'sqlite:data/deliveries.db',
      BODY_LIMIT: String(BODY_LIMIT),
      EGRESS_ALLOW: odd.host,
      ENV_REFERENCE_ALLOW: '*',
      TENANT_TOKEN: 'tenant-token-of-a-variable',
    },
    folder,
  })
let host = start()

const mailTo = (to: string) => calling('sendEmail', { ...mail, to })
const sentTo = (address: string) => around.mail.messages.filter(({ to }) => to.includes(address))
const withServer = (baseUrl?: string, apiToken = 'tenant-token') => ({
  id: 'dep_1',
  inputs: { serverType: 'dedicated', apiToken, baseUrl, fromEmail: 'a@example.com' },
})

it.each([
  ['without a signature', undefined],
  ['signed six minutes ago', { timestamp: new Date(Date.now() - 360_000) }],
])('the bundled host waits for the body of no request that is %s', async (_, given) => {
  const signed = given && (await sign({ secret, id: 'e', body: '{}', ...given }))
  const headers = { 'content-type': 'application/json', 'content-length': '1000', ...signed }
  const unfinished = request(`${await host.url}/mailer/webhook`, { method: 'POST', headers })
  onTestFinished(() => void unfinished.destroy())
  unfinished.on('error', () => {}).flushHeaders()
  const [response]: IncomingMessage[] = await once(unfinished, 'response')
  expect(response?.statusCode).toBe(401)
})

it('the bundled host answers redeliveries from the record', async () => {
  const send = () => host.send('mailer', mailTo('once@example.com'), 'evt_once')
  const copies = await Promise.all(Array.from({ length: 5 }, send))
  expect(copies.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
  const replay = await send()
  expect(replay).toMatchObject({ status: 200, body: { result: { to: 'once@example.com' } } })
  expect(replay.headers.get('idempotency-replayed')).toBe('true')
  expect(sentTo('once@example.com')).toHaveLength(1)
})

it('the bundled host repeats a read after a reset, a send after the status 429, and no send whose response is lost', async () => {
  around.mail.faults.add({ method: 'GET', path: /outbound/, cut: 'before' })
  expect(await host.send('mailer', calling('getDeliveryStats'))).toMatchObject({ status: 200 })
  around.mail.faults.add({ method: 'POST', path: '/email', status: 429, headers: { 'retry-after': '0' } })
  expect(await host.send('mailer', mailTo('later@example.com'))).toMatchObject({ status: 200 })
  expect(sentTo('later@example.com')).toHaveLength(1)
  around.mail.faults.add({ method: 'POST', path: '/email', cut: 'after' })
  const unknown = { status: 409, body: { code: 'outcome_unknown', retryable: false } }
  for (const _ of [1, 2])
    expect(await host.send('mailer', mailTo('lost@example.com'), 'evt_lost')).toMatchObject(unknown)
  expect(sentTo('lost@example.com')).toHaveLength(1)
})

it('the bundled host follows no redirect of a provider, and survives the status 600', async () => {
  for (const path of ['redirect', 'odd']) {
    const event = { ...calling('getDeliveryStats'), deployment: withServer(`http://${odd.host}/${path}`) }
    expect(await host.send('mailer', event)).toMatchObject({ status: 502, body: { code: 'provider_error' } })
  }
  expect(attacker.connections()).toBe(0)
})

it.each([
  ['baseUrl', 'must lead to a public address', withServer('https://169.254.169.254')],
  ['apiToken', 'names PLATFORM_API_TOKEN', withServer(undefined, '{{env.PLATFORM_API_TOKEN}}')],
  [
    'apiToken',
    'not sent to a URL of the deployment',
    withServer('https://mail.example.com', '{{env.TENANT_TOKEN}}'),
  ],
])('the bundled host in production refuses a %s that %s', async (field, message, deployment) => {
  const errors = [{ path: `deployment.inputs.${field}`, message: expect.stringContaining(message) }]
  expect(await host.send('mailer', { name: 'DEPLOYMENT_CREATED', deployment })).toMatchObject({
    status: 422,
    body: { code: 'invalid_inputs', errors },
  })
  expect(JSON.stringify(host.log)).not.toMatch(/platform-token|tenant-token-of/)
})

it('the bundled host accepts a body of BODY_LIMIT bytes, and refuses a longer one with and without content-length', async () => {
  const url = `${await host.url}/auth/webhook`
  const status = async (size: number) => {
    const text = JSON.stringify({ name: 'WEBHOOK_CHALLENGE', unknown: '' })
    const body = text.replace('""', `"${'x'.repeat(size - text.length)}"`)
    return (await fetch(await signedRequest(body, { url }))).status
  }
  expect([await status(BODY_LIMIT), await status(BODY_LIMIT + 1)]).toEqual([200, 413])
  const { headers } = await signedRequest('x', { url })
  const body = new Blob(['x'.repeat(BODY_LIMIT + 1)]).stream()
  const chunked: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' }
  expect((await fetch(url, chunked)).status).toBe(413)
})

it('the bundled host logs one line of JSON for each event, without secrets and mail addresses', async () => {
  await host.send('mailer', mailTo('logged@example.com'), 'evt_logged')
  const facts = { level: 'info', route: 'mailer', function: 'sendEmail', status: 200, outcome: 'ok' }
  // The host writes its log after the response.
  const lines = () => host.log.filter(({ delivery }) => delivery === 'evt_logged')
  await expect.poll(lines).toMatchObject([facts])
  expect(JSON.stringify(host.log)).not.toMatch(
    /@example\.com|mail-token|platform-token|whsec_|sk_test|traceId/,
  )
})

it('the bundled host serves the metrics of its events, its process and its store to its operator alone', async () => {
  const ask = async (token = '') =>
    fetch(`${await host.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  expect((await ask()).status).toBe(401)
  const refusal = expect.objectContaining({ level: 'warn', route: '/metrics', peer: '127.0.0.1' })
  await expect.poll(() => host.log).toContainEqual(refusal)
  const metrics = await (await ask(around.variables.OPERATOR_TOKEN)).text()
  expect(metrics).toMatch(/^webhook_events_total\{.*function="sendEmail",outcome="ok"\} [1-9]/m)
  expect(metrics).toMatch(/^process_resident_memory_bytes [1-9]\d+$/m)
  expect(metrics).toMatch(/^webhook_store_reachable 1$/m)
})

it('the bundled host finishes events under way on SIGTERM, exits with 0, and replays them after a restart', async () => {
  const provider = around.holdMail()
  const before = provider.arrived()
  const underWay = host.send('mailer', mailTo('draining@example.com'), 'evt_draining')
  await expect.poll(provider.arrived).toBe(before + 1)
  host.kill('SIGTERM')
  await expect.poll(() => host.log.at(-1)?.message).toContain('SIGTERM')
  provider.letGo()
  expect(await underWay).toMatchObject({ status: 200 })
  expect([await host.exit, host.errors()]).toEqual([0, ''])

  host = start()
  const replay = await host.send('mailer', mailTo('draining@example.com'), 'evt_draining')
  expect(replay.headers.get('idempotency-replayed')).toBe('true')
  expect(sentTo('draining@example.com')).toHaveLength(1)
  expect(readdirSync(folder)).toEqual(['data'])
})

it('the bundled host sends mails over HTTP/2, and those again that the provider did not process', async () => {
  const sessions = new Set<unknown>()
  let calls = 0
  const gateway = createHttp2Gateway(
    () => Number(new URL(around.variables.MAILER_API_BASE ?? '').port),
    (stream) => {
      sessions.add(stream.session)
      calls += 1
      if (calls % 4 !== 3) return false
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
      return true
    },
  ).listen(0, '127.0.0.1')
  onTestFinished(() => void gateway.close())
  await once(gateway, 'listening')
  const address = gateway.address()
  writeFileSync(`${folder}/authority.pem`, cert)
  const { send, url, kill } = around.ship({
    environment: {
      MAILER_API_BASE: `https://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
      // So short that the client withholds the end of each body.
      REQUEST_TIMEOUT_MS: '6000',
      NODE_EXTRA_CA_CERTS: `${folder}/authority.pem`,
    },
  })
  await url
  const sendTo = (number: number) => send('mailer', mailTo(`${number}@h2.example.com`))
  const answers = [await sendTo(0), await sendTo(1)]
  answers.push(...(await Promise.all(Array.from({ length: 20 }, (_, at) => sendTo(at + 2)))))
  kill('SIGKILL')
  expect(answers.map(({ status }) => status)).toEqual(Array(22).fill(200))
  const received = around.mail.messages.flatMap(({ to }) => /^\d+(?=@h2)/.exec(to[0] ?? '') ?? [])
  expect(received.map(Number).sort((a, b) => a - b)).toEqual([...Array(22).keys()])
  expect([calls > 22, sessions.size]).toEqual([true, 1])
})

it('the bundled host with an OpenTelemetry SDK continues the trace of the sender, and flushes its spans on SIGTERM', async () => {
  const traced = around.ship({ flags: ['--import', new URL('otel.mjs', import.meta.url).href] })
  const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
  const event = JSON.stringify(calling('sendEmail', mail))
  const request = await signedRequest(event, { url: `${await traced.url}/mailer/webhook` })
  request.headers.set('traceparent', `00-${parent.traceId}-${parent.spanId}-01`)
  expect((await fetch(request)).status).toBe(200)
  traced.kill('SIGTERM')
  expect(await traced.exit).toBe(0)
  const spans = JSON.parse(`[${traced.errors().trim().replaceAll('\n', ',')}]`)
  const { traceId, spanId } = parent
  const received = expect.objectContaining({ name: 'POST /mailer/webhook', traceId, parent: spanId })
  expect(spans).toContainEqual(received)
  expect(spans).toContainEqual(expect.objectContaining({ name: 'POST mailer', traceId }))
  expect(traced.log.find(({ route }) => route === 'mailer')).toMatchObject({ traceId })
})
