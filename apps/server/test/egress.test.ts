import { createServer } from 'node:tls'
import { causeOf } from '@org/core/errors'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createOutbound } from '../src/outbound/outbound.ts'
import { createNodeRuntime } from '../src/runtimes/node-runtime.ts'
import { cert, key } from './expired-certificate.ts'
import { listen, portOf } from './raw-server.ts'

const attacker = await listen((_, response) => response.end())
const [, port] = attacker.host.split(':')
afterAll(() => attacker.close())

/** Addresses that no public provider has, in the spellings that attackers try. */
const forbidden = `
  127.0.0.1 127.1 127.255.255.254 2130706433 0x7f.1 0177.0.0.1 127.0.0.1. １２７.０.０.１ ①②⑦.0.0.1
  127。0。0。1 %31%32%37.0.0.1 [::1] [0000:0000:0000:0000:0000:0000:0000:0001] [::ffff:127.0.0.1]
  [::ffff:7f00:1] [::ffff:10.0.0.1] [::ffff:169.254.169.254] [::127.0.0.1] [64:ff9b::7f00:1]
  [64:ff9b:1::1] [2002:7f00:1::] [2001:0:7f00:1::] 0.0.0.0 0 0.0.0.1 [::] 10.0.0.1 012.0.0.1 167772161
  172.16.0.1 172.31.255.255 192.168.0.1 0xc0a80001 [fc00::1] [fdff:ffff::1] 169.254.169.254
  2852039166 0251.0376.0251.0376 [fe80::1] [febf::1] [fd00:ec2::254] 100.100.100.200 100.64.0.1
  100.127.255.255 168.63.129.16.nip.invalid@127.0.0.1 192.0.0.192 198.18.0.1 198.19.255.255 192.0.2.1
  198.51.100.1 203.0.113.1 [2001:db8::1] 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 [ff02::1]`

function createEgress(
  { production = true, allow = [''] } = {},
  resolve?: Parameters<typeof createNodeRuntime>[1],
) {
  const runtime = createNodeRuntime({ production, egressAllow: allow }, resolve)
  const { egress } = createOutbound({ ...runtime, logger: () => {} }).provider('mailer')
  if (!egress) throw new Error('Node has a rule.')
  return { fetch: egress.fetch, refuse: (url: string) => egress.refuse(new URL(url)) }
}

describe('in production, the base URL of a deployment', () => {
  const egress = createEgress()

  it('leads to no address that is not public, in any spelling', async () => {
    for (const host of forbidden.trim().split(/\s+/)) {
      const url = `https://${host}:${port}`
      // An invalid URL can't be called either.
      if (!URL.canParse(url)) continue
      expect(egress.refuse(url), url).toMatch(/^must /)
      await expect(egress.fetch(url), url).rejects.toThrow('must ')
    }
    expect(attacker.connections()).toBe(0)
  })

  it('may be https: alone, to a name or a public address', () => {
    for (const url of ['https://mail.example.com', 'https://8.8.8.8', 'https://[2606:4700::1111]'])
      expect(egress.refuse(url)).toBeUndefined()
    for (const url of ['http://mail.example.com', 'ftp://mail.example.com', 'http://8.8.8.8'])
      expect(egress.refuse(url)).toBe('must be an https:// URL')
  })

  it.each([
    ['the metadata service', ['169.254.169.254']],
    ['a private address behind a public one', ['93.184.216.34', '127.0.0.1']],
    ['a mapped loopback address', ['::ffff:127.0.0.1']],
    ['no address', []],
  ])('is not called if its name leads to %s', async (_, addresses) => {
    const sent = createEgress({}, async () => addresses).fetch(`https://mail.example.com:${port}`)
    await expect(sent).rejects.toThrow('leads to an address that is not public')
    expect(attacker.connections()).toBe(0)
  })

  it('may be any that EGRESS_ALLOW lists', async () => {
    const listing = createEgress({ allow: [`localhost:${port}`] })
    expect((await listing.fetch(`http://localhost:${port}/server`)).status).toBe(200)
    expect(listing.refuse(`http://127.0.0.2:${port}`)).toBe('must be an https:// URL')
  })
})

it('outside production, the base URL of a deployment may lead to the same machine by http, and to no other private address', async () => {
  const egress = createEgress({ production: false })
  for (const host of ['127.0.0.1', 'localhost'])
    expect((await egress.fetch(`http://${host}:${port}`)).status).toBe(200)
  for (const url of ['http://10.0.0.1', 'https://169.254.169.254', 'http://mail.example.com'])
    expect(egress.refuse(url)).toMatch(/^must /)
})

it.each([
  ['127.0.0.1', /^CERT_HAS_EXPIRED: certificate has expired \(valid from Jan .* GMT\) \(mail/, 2],
  ['10.0.0.1', /^CERT_HAS_EXPIRED: certificate has expired \(mail/, 1],
])(
  'the dates of an expired certificate are read once, and not if the name now leads to an address that breaks the rule: %s',
  async (now, reason, connections) => {
    let opened = 0
    const server = createServer({ key, cert }).on('tlsClientError', () => {})
    server.on('connection', () => {
      opened += 1
    })
    onTestFinished(() => void server.close())
    const url = `https://mail.example.com:${await portOf(server)}`
    const addresses = ['127.0.0.1', now, '127.0.0.1']
    const egress = createEgress({ production: false }, async () => [addresses.shift() ?? ''])
    for (const further of [0, 1]) {
      expect(causeOf(await egress.fetch(url).catch((error: unknown) => error), url)).toMatch(reason)
      expect(opened).toBe(connections + further)
    }
  },
)
