/** The bundle between a platform and a provider that are called over HTTPS, with a certificate that is valid. */
import { writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { createServer } from 'node:https'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cert, key } from '../../../tooling/runtimes/certificate.ts'
import { calling, createFolder, mail, mailDeployment } from './hosted.ts'
import { portOf } from './raw-server.ts'
import { surround } from './surrounded.ts'

const around = await surround()
const NODE_EXTRA_CA_CERTS = join(createFolder(), 'ca.pem')
writeFileSync(NODE_EXTRA_CA_CERTS, cert)

/** Serves an emulator over HTTPS, and notes the version of HTTP of each call. */
async function secure(handler: (request: Request) => Promise<Response>, offersHttp2: boolean) {
  const versions: string[] = []
  async function answer(
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ) {
    const { method = '', url = '', httpVersion } = request
    versions.push(httpVersion)
    const headers = new Headers()
    for (const [name, value] of Object.entries(request.headers))
      if (!name.startsWith(':')) headers.set(name, String(value))
    const body = method === 'GET' ? null : new Blob(await request.toArray())
    const answered = await handler(new Request(`https://localhost${url}`, { method, headers, body }))
    response.statusCode = answered.status
    for (const [name, value] of answered.headers) response.setHeader(name, value)
    response.end(await answered.text())
  }
  const server = offersHttp2
    ? createSecureServer({ cert, key, allowHTTP1: true }, answer)
    : createServer({ cert, key }, answer)
  const sockets: TLSSocket[] = []
  server.on('secureConnection', (socket) => sockets.push(socket))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { host: `localhost:${await portOf(server)}`, versions }
}

describe.each([
  ['HTTP/1.1 alone', false, '1.1'],
  ['HTTP/2 as well', true, '2.0'],
])('the bundled host, where HTTPS servers offer %s,', (_, offersHttp2, version) => {
  it('calls the platform, its own provider and the server of a deployment, listed in EGRESS_ALLOW or not', async () => {
    around.reset()
    const platform = await secure(around.platform.fetch, offersHttp2)
    const provider = await secure(around.answerMail, offersHttp2)
    const own = await secure(around.answerMail, offersHttp2)
    const environment = {
      NODE_EXTRA_CA_CERTS,
      PLATFORM_API_URL: `https://${platform.host}`,
      MAILER_API_BASE: `https://${provider.host}`,
      EGRESS_ALLOW: own.host,
    }
    const host = around.ship({ environment })
    const sendEmail = calling('sendEmail', mail)
    const ofDeployment = { ...sendEmail, deployment: mailDeployment('dep_1', `https://${own.host}`) }
    const metrics = { name: 'METRIC_UPDATE', deployment: { id: 'dep_1', inputs: { serverType: 'shared' } } }
    for (const event of [sendEmail, ofDeployment, metrics])
      expect(await host.send('mailer', event)).toMatchObject({ status: 200 })
    expect(around.mail.messages).toHaveLength(2)
    expect(around.platform.deployments.get('dep_1')).toMatchObject({ metrics: { length: 4 } })
    const calls = [platform, provider, own].map(({ versions }) => versions)
    // The provider is asked for the metrics, too.
    expect(calls).toEqual([[version], [version, version], [version]])

    // Only outside production may a server that is not listed be on this machine.
    const development = around.ship({ environment: { ...environment, NODE_ENV: 'development' } })
    const baseUrl = `https://${own.host.replace('localhost', '127.0.0.1')}`
    const unlisted = { ...sendEmail, deployment: mailDeployment('dep_2', baseUrl) }
    expect(await development.send('mailer', unlisted)).toMatchObject({ status: 200 })
    expect(own.versions).toEqual([version, '1.1'])
    expect(around.mail.messages).toHaveLength(3)
  })
})
