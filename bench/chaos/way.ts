import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createSecureServer } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { cert as expiredCert, key as expiredKey } from '../../apps/server/test/expired-certificate.ts'
import { cert, key } from '../../tooling/runtimes/certificate.ts'
import { nextPort } from '../shared/processes.ts'
import { startForwarder } from './forwarder.ts'

/** `refuse`: nobody listens. `expire`: the certificate has expired. Nothing of a call arrives. */
export type Break = 'refuse' | 'expire'

/** Starts a way with TLS to a server, which can break before anything arrives. */
export async function startWay(server: number) {
  const folder = mkdtempSync(join(tmpdir(), 'way-'))
  const authority = join(folder, 'authority.pem')
  writeFileSync(authority, cert)
  const [valid, expired] = [nextPort(), nextPort()]
  const gateway = createHttp2Gateway(server).listen(valid, '127.0.0.1')
  const outdated = createServer({ cert: expiredCert, key: expiredKey }).on('tlsClientError', () => {})
  outdated.listen(expired, '127.0.0.1')
  let to = valid
  let front = await startForwarder(() => to)
  const { port } = front
  let isRefused = false
  return {
    url: `https://127.0.0.1:${port}`,
    /** The variables of a process that trusts the certificate. */
    trust: { NODE_EXTRA_CA_CERTS: authority },
    break(how: Break): void {
      isRefused = how === 'refuse'
      if (isRefused) front.close()
      else to = expired
      front.cut()
    },
    async mend(): Promise<void> {
      if (isRefused) front = await startForwarder(() => to, port)
      isRefused = false
      to = valid
    },
    close(): void {
      for (const each of [front, gateway, outdated]) each.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A server that offers HTTP/2 and HTTP/1.1 over TLS, and passes calls on to a port of the loopback interface. */
function createHttp2Gateway(port: number) {
  const agent = new Agent({ keepAlive: true })
  return createSecureServer({ cert, key, allowHTTP1: true }, (call, response) => {
    const { method, url: path, headers } = call
    const own = Object.entries(headers).filter(([name]) => !name.startsWith(':'))
    const upstream = request({ agent, port, method, path, headers: Object.fromEntries(own) }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' })
      answer.pipe(response)
    })
    // The server behind it has cut the connection, and so does the gateway.
    upstream.on('error', () => call.socket.destroy())
    call.pipe(upstream)
  })
}
