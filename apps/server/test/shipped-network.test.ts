/** The shipped process as another machine sees it: both have a network namespace of their own, and a cable between. */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type Shipped, startShipped } from './shipped.ts'

const [here, there] = [`host-${process.pid}`, `stranger-${process.pid}`]
const address = '192.0.2.1'
const commands = [
  `netns add ${here}`,
  `netns add ${there}`,
  `-n ${here} link add cable type veth peer name cable netns ${there}`,
  `-n ${here} addr add ${address}/30 dev cable`,
  `-n ${there} addr add 192.0.2.2/30 dev cable`,
  ...[here, there].flatMap((name) => [`-n ${name} link set lo up`, `-n ${name} link set cable up`]),
]
const ip = (command: string) => spawnSync('ip', command.split(' ')).status === 0
const isSeparate = commands.every(ip)
const cleanUp = () => void [here, there].map((name) => ip(`netns delete ${name}`))
if (isSeparate) afterAll(cleanUp)
else {
  cleanUp()
  // Loud, so that nobody takes a run without these rights for one with them.
  process.stderr.write('SKIPPED: the host as another machine sees it. It needs root and ip.\n')
}

const answers = z.array(
  z.object({ status: z.int(), headers: z.record(z.string(), z.string()), text: z.string() }),
)
const ask = `const [url, requests] = process.argv.slice(1)
const { request } = require('node:http')
const send = ({ path, method, headers, body }) => new Promise((resolve) => {
  const outgoing = request(url + path, { method, headers }, async (response) => {
    let text = ''
    for await (const chunk of response) text += chunk
    resolve({ status: response.statusCode, headers: response.headers, text })
  })
  outgoing.on('error', ({ code }) => resolve({ status: 0, headers: {}, text: code }))
  outgoing.end(body)
})
Promise.all(JSON.parse(requests).map(send)).then((answers) => console.log(JSON.stringify(answers)))`

interface Asked {
  path: string
  method?: string
  headers?: Record<string, string>
  body?: string
}

const production = {
  NODE_ENV: 'production',
  DRAIN_DELAY_MS: '0',
  PLATFORM_API_URL: 'http://127.0.0.1:9',
  PLATFORM_WEBHOOK_SECRET: `whsec_${btoa('a secret of the platform')}`,
  CORS_ORIGINS: 'https://app.example.com',
}

/** Starts a host, lets the stranger ask, and reads on which addresses the host listens. */
async function look(environment: Record<string, string>, requests: readonly Asked[]) {
  const host: Shipped = startShipped({ environment, within: ['ip', 'netns', 'exec', here] })
  try {
    const { port } = new URL(await host.url)
    const listening = listeningOf(host.pid)
    const parameters = ['netns', 'exec', there, process.execPath, '-e', ask]
    const { stdout } = await promisify(execFile)('ip', [
      ...parameters,
      `http://${address}:${port}`,
      JSON.stringify(requests),
    ])
    return { listening, answered: answers.parse(JSON.parse(stdout)), log: host.log, port }
  } finally {
    host.kill('SIGTERM')
    await host.exit
  }
}

/** The local ends of listening sockets, as the kernel writes them: `0100007F:0BC1`. */
function listeningOf(pid: number | undefined): string[] {
  const lines = ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((kind) =>
    readFileSync(`/proc/${pid}/net/${kind}`, 'utf8').trim().split('\n').slice(1),
  )
  const sockets = lines.map((line) => line.trim().split(/\s+/))
  return sockets.flatMap(([, local = '', , state]) => (state === '0A' || state === '07' ? local : []))
}

const hex = (port: string) => Number(port).toString(16).toUpperCase().padStart(4, '0')

describe.skipIf(!isSeparate)('another machine', () => {
  it('reaches nothing of a host in development without a secret', async () => {
    const open = { PLATFORM_API_URL: production.PLATFORM_API_URL, HOST: '0.0.0.0' }
    const { listening, answered, port } = await look(open, [{ path: '/healthz' }])
    expect(listening).toEqual([`0100007F:${hex(port)}`])
    expect(answered).toMatchObject([{ status: 0, text: 'ECONNREFUSED' }])
  })

  it('finds one open port in production, and neither metrics nor deliveries', async () => {
    const json = { 'content-type': 'application/json' }
    const { listening, answered, port, log } = await look(production, [
      { path: '/healthz', headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' } },
      { path: '/readyz' },
      { path: '/metrics' },
      { path: '/deliveries/evt_1' },
      { path: '/.data/deliveries.db' },
      { path: '/mailer/webhook', method: 'POST', headers: json, body: '{"name":"WEBHOOK_CHALLENGE"}' },
    ])
    expect(listening).toEqual([`00000000:${hex(port)}`])
    expect(answered.map(({ status }) => status)).toEqual([200, 200, 404, 404, 404, 401])
    for (const { headers, text } of answered) {
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
      expect(headers['content-security-policy']).toContain("default-src 'none'")
      expect(
        Object.keys(headers).filter((name) => /^(server|x-powered-by|access-control-)/.test(name)),
      ).toEqual([])
      expect(text + JSON.stringify(headers)).not.toContain('evil')
    }
    const refused = expect.objectContaining({ code: 'invalid_signature', peer: '192.0.2.2' })
    await expect.poll(() => log).toContainEqual(refused)
  })
})
