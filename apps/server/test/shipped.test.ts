/** The bundle in production with HTTP/2 and an OpenTelemetry SDK. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { constants } from 'node:http2'
import { afterAll, expect, it } from 'vitest'
import { createHttp2Gateway } from '../../../bench/shared/http2-gateway.ts'
import { cert } from '../../../tooling/runtimes/certificate.ts'
import { calling, createFolder, mail } from './hosted.ts'
import { signedRequest } from './shipped.ts'
import { surround } from './surrounded.ts'

const around = await surround()
const sessions = new Set<unknown>()
let calls = 0
/** The mail provider over HTTP/2, which refuses every fourth call unprocessed. */
const gateway = createHttp2Gateway(
  () => Number(new URL(around.variables.MAILER_API_BASE).port),
  (stream) => {
    sessions.add(stream.session)
    calls += 1
    if (calls % 4 !== 3) return false
    stream.close(constants.NGHTTP2_REFUSED_STREAM)
    return true
  },
).listen(0, '127.0.0.1')
afterAll(() => void gateway.close())
await once(gateway, 'listening')
const address = gateway.address()
const authority = `${createFolder()}/authority.pem`
writeFileSync(authority, cert)
const host = around.ship({
  flags: ['--import', new URL('otel.mjs', import.meta.url).href],
  environment: {
    MAILER_API_BASE: `https://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    // So short that the client withholds the end of each body.
    REQUEST_TIMEOUT_MS: '6000',
    NODE_EXTRA_CA_CERTS: authority,
  },
})

it('the bundled host sends mails over one HTTP/2 connection, and those again that the provider did not process', async () => {
  const sendTo = (number: number) =>
    host.send('mailer', calling('sendEmail', { ...mail, to: `${number}@example.com` }))
  const answers = [await sendTo(0), await sendTo(1)]
  answers.push(...(await Promise.all(Array.from({ length: 20 }, (_, at) => sendTo(at + 2)))))
  expect(answers.map(({ status }) => status)).toEqual(Array(22).fill(200))
  const received = around.mail.messages.map(({ to }) => Number.parseInt(to[0] ?? '', 10))
  expect(received.sort((a, b) => a - b)).toEqual([...Array(22).keys()])
  expect([calls > 22, sessions.size]).toEqual([true, 1])
})

it('the bundled host with an OpenTelemetry SDK continues the trace of the sender, and flushes its spans on SIGTERM', async () => {
  const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
  const event = JSON.stringify(calling('sendEmail', mail))
  const request = await signedRequest(event, { url: `${await host.url}/mailer/webhook`, id: 'evt_traced' })
  request.headers.set('traceparent', `00-${parent.traceId}-${parent.spanId}-01`)
  expect((await fetch(request)).status).toBe(200)
  host.kill('SIGTERM')
  expect(await host.exit).toBe(0)
  const spans = JSON.parse(`[${host.errors().trim().replaceAll('\n', ',')}]`)
  const { traceId, spanId } = parent
  const received = expect.objectContaining({ name: 'POST /mailer/webhook', traceId, parent: spanId })
  expect(spans).toContainEqual(received)
  expect(spans).toContainEqual(expect.objectContaining({ name: 'POST mailer', traceId }))
  expect(host.log.find(({ delivery }) => delivery === 'evt_traced')).toMatchObject({ traceId })
})
