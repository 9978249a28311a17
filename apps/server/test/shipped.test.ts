/** The bundle in production: a restart on its SQLite file, HTTP/2, and an OpenTelemetry SDK. */
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { constants } from 'node:http2'
import { expect, it, onTestFinished } from 'vitest'
import { createHttp2Gateway } from '../../../bench/shared/http2-gateway.ts'
import { cert } from '../../../tooling/runtimes/certificate.ts'
import { calling, mail } from './hosted.ts'
import { createFolder, signedRequest } from './shipped.ts'
import { surround } from './surrounded.ts'

const around = await surround()
const mailTo = (to: string) => calling('sendEmail', { ...mail, to })

it('the bundled host finishes events under way on SIGTERM, exits with 0, and replays them after a restart', async () => {
  const folder = createFolder()
  const start = () => around.ship({ environment: { DELIVERY_STORE: 'sqlite:data/deliveries.db' }, folder })
  const host = start()
  const provider = around.holdMail()
  const underWay = host.send('mailer', mailTo('draining@example.com'), 'evt_draining')
  await expect.poll(provider.arrived).toBe(1)
  host.kill('SIGTERM')
  await expect.poll(() => host.log.at(-1)?.message).toContain('SIGTERM')
  provider.letGo()
  expect(await underWay).toMatchObject({ status: 200 })
  expect([await host.exit, host.errors()]).toEqual([0, ''])
  expect(host.log.find(({ delivery }) => delivery === 'evt_draining')).toMatchObject({
    level: 'info',
    function: 'sendEmail',
    outcome: 'ok',
  })

  const replay = await start().send('mailer', mailTo('draining@example.com'), 'evt_draining')
  expect(replay.headers.get('idempotency-replayed')).toBe('true')
  expect(around.mail.messages).toHaveLength(1)
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
  const folder = createFolder()
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
