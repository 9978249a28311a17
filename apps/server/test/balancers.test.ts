/** The balancers of docs/scaling.md, in front of two bundled hosts that are restarted under load. */
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { deliver } from '@org/core/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { nextPort } from '../../../bench/shared/processes.ts'
import { calling, createFolder, mail } from './hosted.ts'
import { isNightly } from './nightly.ts'
import { secret } from './shipped.ts'
import { surround } from './surrounded.ts'

const guide = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8')
const { ship } = await surround()

/** Starts a balancer with the example of the guide, in front of hosts on these ports. */
async function startBalancer(name: 'haproxy' | 'nginx', ports: readonly number[]): Promise<string> {
  const [, example = ''] = new RegExp(`^\`\`\`${name}\n(.*?)^\`\`\``, 'ms').exec(guide) ?? []
  const port = nextPort()
  const rooted = example
    .replace(/(bind |listen )\S*?80\b/, `$1127.0.0.1:${port}`)
    // A host on a busy machine may take longer than an interval.
    .replace('mode http\n', 'mode http\n  timeout check 60s\n')
    .replaceAll(/10\.0\.0\.([12]):3009/g, (_, host) => `127.0.0.1:${ports[host - 1]}`)
  const own = createFolder()
  const file = `${own}/balancer.conf`
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${own};`,
  )
  const http = `access_log off; ${paths.join(' ')}\n${rooted}`
  const whole = `daemon off; user root; pid ${own}/pid; error_log ${own}/log;\nevents {}\nhttp {\n${http}}\n`
  writeFileSync(file, name === 'nginx' ? whole : rooted)
  const balancer = spawn(name, name === 'nginx' ? ['-c', file] : ['-db', '-f', file], { stdio: 'ignore' })
  onTestFinished(() => void balancer.kill('SIGTERM'))
  const url = `http://127.0.0.1:${port}`
  const isReady = () => fetch(`${url}/readyz`).then(({ ok }) => ok)
  await expect.poll(() => isReady().catch(() => false)).toBe(true)
  return url
}

describe.each(['haproxy', 'nginx'] as const)('hosts behind %s', (name) => {
  const runs = isNightly && spawnSync(name, ['-v']).status === 0
  if (!runs) process.stderr.write(`SKIPPED: hosts behind ${name}. They run nightly, if it is there.\n`)
  it.runIf(runs)('are restarted one after another, and every event gets its response', async () => {
    const ports = [nextPort(), nextPort()]
    const folder = createFolder()
    const environment = { DELIVERY_STORE: 'sqlite:deliveries.db', DRAIN_DELAY_MS: '1500' }
    const start = (port: number) => ship({ folder, environment: { ...environment, PORT: String(port) } })
    const hosts = ports.map(start)
    for (const host of hosts) await host.url
    const url = `${await startBalancer(name, ports)}/mailer/webhook`
    let isOver = false
    const failed: unknown[] = []
    const senders = Array.from({ length: 6 }, async () => {
      while (!isOver) {
        const answer = deliver(fetch, calling('sendEmail', mail), { url, secret, id: crypto.randomUUID() })
        const { status, body } = await answer.catch((error) => ({ status: 0, body: String(error) }))
        if (status !== 200) failed.push(body)
      }
    })
    const getsEvents = ({ log }: ReturnType<typeof ship>) =>
      expect.poll(() => log.filter((line) => 'route' in line).length).toBeGreaterThan(20)
    for (const [at, old] of hosts.entries()) {
      await getsEvents(old)
      old.kill('SIGTERM')
      expect(await old.exit).toBe(0)
      await getsEvents(start(ports[at] ?? 0))
    }
    isOver = true
    await Promise.all(senders)
    expect(failed).toEqual([])
  })
})
