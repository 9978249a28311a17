import type { LookupFunction } from 'node:net'
import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createEgress } from '../src/egress.ts'

/** An attacker's server; it counts who came, and with what. */
const visits: { path: string; token: string | null }[] = []
let attacker: Served

beforeAll(async () => {
  attacker = await serve(async (request) => {
    visits.push({ path: new URL(request.url).pathname, token: request.headers.get('x-mailer-server-token') })
    return Response.redirect(`${attacker.url}/stolen`, 307)
  })
})
afterAll(() => attacker.close())
beforeEach(() => {
  visits.length = 0
})

/** Resolves any name to these addresses, one more with each call. */
function resolveTo(...answers: string[][]): LookupFunction {
  let calls = 0
  return (_, options, callback) => {
    const addresses = answers[Math.min(calls, answers.length - 1)] ?? []
    calls += 1
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    if (options.all) callback(null, found)
    else callback(null, found[0]?.address ?? '', found[0]?.family)
  }
}

const headers = { 'x-mailer-server-token': 'token-of-a-tenant' }

/** Addresses that no public provider has, in the spellings that people try. */
const forbidden = [
  // Loopback.
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '0x7f.0x0.0x0.0x1',
  '１２７.０.０.１',
  '①②⑦.0.0.1',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::0001]',
  // Mapped, compatible and translated IPv4.
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:169.254.169.254]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::10.0.0.1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2002:a00:1::]',
  '[2001:0:7f00:1::]',
  // Unspecified and “this network”.
  '0.0.0.0',
  '0',
  '0.0.0.1',
  '0x0',
  '[::]',
  '[::0]',
  '[0:0:0:0:0:0:0:0]',
  // Private.
  '10.0.0.1',
  '10.255.255.255',
  '0x0a.0.0.1',
  '012.0.0.1',
  '167772161',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '192.168.255.255',
  '3232235521',
  '0xc0a80001',
  '[fc00::1]',
  '[fd00::1]',
  '[fd12:3456:789a:1::1]',
  '[fdff:ffff::1]',
  // Link-local and the metadata services.
  '169.254.169.254',
  '169.254.0.1',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '169.254.43518',
  '[fe80::1]',
  '[febf::1]',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16.nip.invalid@127.0.0.1',
  // Carrier-grade NAT, benchmarking, documentation, protocol assignments.
  '100.64.0.1',
  '100.127.255.255',
  '198.18.0.1',
  '198.19.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.1',
  '[2001:db8::1]',
  // Multicast, reserved and broadcast.
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '[ff02::1]',
  '[ff0e::1]',
]

describe('in production, a URL that a deployment brings', () => {
  const egress = createEgress({ production: true, allow: [] })

  it(`leads to none of ${forbidden.length} spellings of addresses that are not public`, async () => {
    expect(forbidden.length).toBeGreaterThanOrEqual(80)
    for (const host of forbidden) {
      const url = `https://${host}:${attacker.port}/server`
      // What is no URL at all can't be called either.
      if (!URL.canParse(url)) continue
      const refusal = egress.refuse(new URL(url))
      await expect(egress.fetch(url, { headers }), host).rejects.toThrow()
      expect(refusal === undefined ? `${host} was let through` : refusal).toMatch(/^must /)
    }
    expect(visits).toEqual([])
  })

  it.each(['http://mail.example.com', 'ftp://mail.example.com', 'http://8.8.8.8'])(
    'must be https: not %s',
    (url) => {
      expect(egress.refuse(new URL(url))).toBe('must be an https:// URL')
    },
  )

  it.each(['https://mail.example.com', 'https://8.8.8.8', 'https://[2606:4700::1111]'])(
    'may lead to %s',
    (url) => {
      expect(egress.refuse(new URL(url))).toBeUndefined()
    },
  )

  it.each([
    ['one private address', [['10.0.0.1']]],
    ['a private address behind a public one', [['93.184.216.34', '127.0.0.1']]],
    ['the metadata service', [['169.254.169.254']]],
    ['a mapped loopback address', [['::ffff:127.0.0.1']]],
    ['no address', [[]]],
  ])('is not connected to where its name leads to %s', async (_, answers) => {
    const rebinding = createEgress({ production: true, allow: [], lookup: resolveTo(...answers) })
    expect(rebinding.refuse(new URL(`https://mail.example.com:${attacker.port}`))).toBeUndefined()
    await expect(
      rebinding.fetch(`https://mail.example.com:${attacker.port}/server`, { headers }),
    ).rejects.toThrow()
    expect(visits).toEqual([])
  })

  it('is not connected to where its name led elsewhere when it was looked at before', async () => {
    const rebinding = createEgress({ production: true, allow: [], lookup: resolveTo(['127.0.0.1']) })
    for (const _ of [1, 2, 3]) {
      await expect(
        rebinding.fetch(`https://mail.example.com:${attacker.port}/`, { headers }),
      ).rejects.toThrow()
    }
    expect(visits).toEqual([])
  })
})

describe('a host that EGRESS_ALLOW lists', () => {
  it('may be anywhere, and only there', async () => {
    const { host, port } = new URL(attacker.url)
    const egress = createEgress({ production: true, allow: [host] })
    const response = await egress.fetch(`${attacker.url}/server`, { headers })
    expect(visits).toEqual([{ path: '/server', token: 'token-of-a-tenant' }])
    // A redirect is an answer like any other: nobody goes there.
    expect(response.status).toBe(307)
    expect(egress.refuse(new URL(`http://127.0.0.2:${port}`))).toBe('must be an https:// URL')
  })

  it('answers with its body, and gets the body that was sent', async () => {
    const echo = await serve(
      async (request) => new Response(await request.text(), { headers: { 'x-a': 'b' } }),
    )
    const egress = createEgress({ production: true, allow: ['127.0.0.1'] })
    const response = await egress.fetch(echo.url, { method: 'POST', body: 'hello' })
    expect([response.headers.get('x-a'), await response.text()]).toEqual(['b', 'hello'])
    await echo.close()
  })
})

describe('outside production', () => {
  const egress = createEgress({ production: false, allow: [] })

  it('a mail server on the same machine is fine, by http', async () => {
    expect((await egress.fetch(attacker.url)).status).toBe(307)
    expect((await egress.fetch(`http://localhost:${attacker.port}`)).status).toBe(307)
  })

  it.each(['http://10.0.0.1', 'https://169.254.169.254', 'http://mail.example.com'])('%s is not', (url) => {
    expect(egress.refuse(new URL(url))).toMatch(/^must /)
  })
})
