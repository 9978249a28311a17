/** The way to a server outside, which can break before anything arrives. */
import dns from 'node:dns'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { cert as expiredCert, key as expiredKey } from '../../apps/server/test/expired-certificate.ts'
import { cert } from '../../tooling/runtimes/certificate.ts'
import { createHttp2Gateway, listen, startForwarder } from '../shared/network.ts'

/**
 * `refused`: nobody listens. `dns`: the name has no address. `tls`: the handshake fails. `expired`: the certificate has
 * expired.
 */
export type Break = 'refused' | 'dns' | 'tls' | 'expired'

const fileOf = (name: string) => join(tmpdir(), `no-address-of-${name}`)

/** For a process that calls: names below `.test` are this machine, and the certificate of the gateway is trusted. */
export function prepareCaller(): void {
  const { lookup } = dns
  function lookupTest(name: string, options: dns.LookupOptions, done: (...result: unknown[]) => void) {
    if (!name.endsWith('.test')) return Reflect.apply(lookup, dns, [name, options, done])
    if (!existsSync(fileOf(name))) return lookup('127.0.0.1', options, done)
    const error = new Error(`getaddrinfo ENOTFOUND ${name}`)
    done(Object.assign(error, { code: 'ENOTFOUND', syscall: 'getaddrinfo' }))
  }
  Object.assign(dns, { lookup: lookupTest })
  setDefaultCACertificates([...getCACertificates('default'), cert])
}

/**
 * @param kind how it will break; by default the way stays whole, and the server breaks
 * @param server the port of the server, which itself speaks no TLS
 */
export async function startWay(kind: Break | undefined, server: number) {
  const isSecure = kind === 'tls' || kind === 'expired'
  const gateway = createHttp2Gateway(() => server)
  const outdated = createServer({ cert: expiredCert, key: expiredKey }).on('tlsClientError', () => {})
  const whole = isSecure ? await listen(gateway) : server
  const broken = kind === 'expired' ? await listen(outdated) : server
  let isBroken = false
  const choose = () => (isBroken ? broken : whole)
  let front = await startForwarder(choose)
  const { port } = front
  const name = `${crypto.randomUUID()}.test`
  return {
    url: `${isSecure ? 'https' : 'http'}://${kind === 'dns' ? name : '127.0.0.1'}:${port}`,
    async mend() {
      if (isBroken && kind === 'refused') front = await startForwarder(choose, { port })
      isBroken = false
      rmSync(fileOf(name), { force: true })
    },
    break() {
      isBroken = true
      if (kind === 'dns') writeFileSync(fileOf(name), '')
      if (kind === 'refused') front.close()
      else front.cut()
    },
    close() {
      for (const each of [front, gateway, outdated]) each.close()
      rmSync(fileOf(name), { force: true })
    },
  }
}
