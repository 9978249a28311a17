/** The way to the mail provider, which can break before anything arrives. */
import dns from 'node:dns'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { cert } from '../../tooling/runtimes/certificate.ts'
import { createHttp2Gateway } from '../shared/http2-gateway.ts'
import { startForwarder } from './forwarder.ts'

/** `refused`: nobody listens. `dns`: the name has no address. `tls`: the handshake fails. */
export type Break = 'refused' | 'dns' | 'tls'

/** A fatal alert of TLS 1.2: handshake_failure. */
const ALERT = Uint8Array.of(21, 3, 3, 0, 2, 2, 40)

const fileOf = (name: string) => join(tmpdir(), `no-address-of-${name}`)

/** For a process that calls: names below `.test` are this machine, and the certificate of the gateway is trusted. */
export function prepareCaller(): void {
  const { lookup } = dns
  function lookupTest(name: string, options: dns.LookupOptions, done: (...result: unknown[]) => void) {
    if (!name.endsWith('.test')) return Reflect.apply(lookup, dns, [name, options, done])
    if (!existsSync(fileOf(name))) return lookup('127.0.0.1', options, done)
    done(
      Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), {
        code: 'ENOTFOUND',
        syscall: 'getaddrinfo',
      }),
    )
  }
  Object.assign(dns, { lookup: lookupTest })
  setDefaultCACertificates([...getCACertificates('default'), cert])
}

/** @param kind how it will break; by default the way stays whole, and the provider breaks */
export async function startWay(kind: Break | undefined, provider: () => number) {
  const listen = async (server: Server) => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const address = server.address()
    return typeof address === 'object' && address ? address.port : 0
  }
  const gateway = createHttp2Gateway(provider)
  const alert = createServer((socket) => void socket.on('error', () => {}).end(ALERT))
  const ports = kind === 'tls' ? { whole: await listen(gateway), broken: await listen(alert) } : undefined
  let isBroken = false
  const choose = () => (ports ? (isBroken ? ports.broken : ports.whole) : provider())
  let front = await startForwarder(choose)
  const name = `${crypto.randomUUID()}.test`
  const host = kind === 'dns' ? name : '127.0.0.1'
  return {
    url: `${kind === 'tls' ? 'https' : 'http'}://${host}:${front.port}`,
    async break() {
      isBroken = true
      if (kind === 'dns') writeFileSync(fileOf(name), '')
      if (kind === 'refused') front.close()
      else front.cut()
    },
    async mend() {
      if (isBroken && kind === 'refused') front = await startForwarder(choose, front.port)
      isBroken = false
      rmSync(fileOf(name), { force: true })
    },
    close() {
      for (const each of [front, gateway, alert]) each.close()
      rmSync(fileOf(name), { force: true })
    },
  }
}
