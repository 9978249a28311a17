/** The way to the mail provider, which can break before anything arrives. */
import dns from 'node:dns'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { cert } from '../../tooling/runtimes/certificate.ts'
import { createHttp2Gateway } from '../shared/http2-gateway.ts'
import { nextPort } from '../shared/processes.ts'
import { startForwarder } from './forwarder.ts'

/** `refused`: nobody listens. `dns`: the name has no address. `tls`: the handshake fails. */
export type Break = 'refused' | 'dns' | 'tls'

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
 * @param kind how it will break; by default the way stays whole, and the provider breaks
 * @param provider the port of the provider
 */
export async function startWay(kind: Break | undefined, provider: number) {
  const port = nextPort()
  const gateway = createHttp2Gateway(() => provider).listen(port, '127.0.0.1')
  let isBroken = false
  // The provider itself speaks no TLS.
  const choose = () => (kind === 'tls' && !isBroken ? port : provider)
  let front = await startForwarder(choose)
  const name = `${crypto.randomUUID()}.test`
  const host = kind === 'dns' ? name : '127.0.0.1'
  return {
    url: `${kind === 'tls' ? 'https' : 'http'}://${host}:${front.port}`,
    async mend() {
      if (isBroken && kind === 'refused') front = await startForwarder(choose, front.port)
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
      for (const each of [front, gateway]) each.close()
      rmSync(fileOf(name), { force: true })
    },
  }
}
