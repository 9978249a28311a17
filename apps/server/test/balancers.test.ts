/** The balancers of docs/scaling.md, in front of two bundled hosts that are restarted under load. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { deliver } from '@org/core/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { nextPort } from '../../../bench/shared/processes.ts'
import { calling, createFolder, mail } from './hosted.ts'
import { secret } from './shipped.ts'
import { surround } from './surrounded.ts'

const guide = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8')
const SENDERS = 6
const { ship } = await surround()
const balancers: ChildProcess[] = []
afterAll(() => balancers.forEach((balancer) => void balancer.kill('SIGTERM')))

/** Starts a balancer with the example of the guide, in front of hosts on these ports. */
async function startBalancer(name: 'haproxy' | 'nginx', ports: readonly number[]): Promise<string> {
  const [, example = ''] = new RegExp(`^\`\`\`${name}\n(.*?)^\`\`\``, 'ms').exec(guide) ?? []
  const port = nextPort()
  const rooted = example
    .replace(/(bind |listen )\S*?80\b/, `$1127.0.0.1:${port}`)
    .replaceAll(/10\.0\.0\.([12]):3009/g, (_, host) => `127.0.0.1:${ports[host - 1]}`)
  const own = createFolder()
  const file = `${own}/balancer.conf`
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${own};`,
  )
  const http = `access_log off; ${paths.join(' ')}\n${rooted}`
  const whole = `daemon off; user root; pid ${own}/pid; error_log ${own}/log;\nevents {}\nhttp {\n${http}}\n`
  writeFileSync(file, name === 'nginx' ? whole : rooted)
  balancers.push(spawn(name, name === 'nginx' ? ['-c', file] : ['-db', '-f', file], { stdio: 'ignore' }))
  const url = `http://127.0.0.1:${port}`
  await expect
    .poll(() =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    .toBe(true)
  return url
}

describe.each(['haproxy', 'nginx'] as const)('hosts behind %s', (name) => {
  const isThere = spawnSync(name, ['-v']).status === 0
  if (!isThere) process.stderr.write(`SKIPPED: hosts behind ${name}. It needs the Debian package ${name}.\n`)

  it.skipIf(!isThere)('are restarted one after another, and every event gets its response', async () => {
    const ports = [nextPort(), nextPort()]
    const folder = createFolder()
    const environment = { DELIVERY_STORE: 'sqlite:deliveries.db', DRAIN_DELAY_MS: '1500' }
    const start = (port: number) => ship({ folder, environment: { ...environment, PORT: String(port) } })
    const hosts = new Map(ports.map((port) => [port, start(port)]))
    for (const host of hosts.values()) await host.url
    const url = `${await startBalancer(name, ports)}/mailer/webhook`
    let isOver = false
    const answers: unknown[] = []
    const senders = Array.from({ length: SENDERS }, async () => {
      while (!isOver) {
        const answer = deliver(fetch, calling('sendEmail', mail), { url, secret, id: crypto.randomUUID() })
        answers.push(await answer.then(({ status, body }) => (status === 200 ? status : body), String))
      }
    })
    const hasEvent = ({ log }: { log: object[] }) => log.some((line) => 'route' in line)
    for (const [port, old] of hosts) {
      await expect.poll(() => hasEvent(old)).toBe(true)
      old.kill('SIGTERM')
      expect(await old.exit).toBe(0)
      const next = start(port)
      await expect.poll(() => hasEvent(next)).toBe(true)
    }
    isOver = true
    await Promise.all(senders)
    expect(answers.filter((status) => status !== 200)).toEqual([])
    expect(answers.length).toBeGreaterThan(100)
  })
})
