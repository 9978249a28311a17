import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { launch, makeFolder, nextPort } from '../shared/processes.ts'

/** Whether this machine has a Redis server, Debian’s package `redis-server`. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0
// Loud, so that nobody takes a test run without Redis for a run with it.
if (!hasRedis) process.stderr.write('SKIPPED: Redis. Install the Debian package redis-server.\n')

export type RedisServer = Awaited<ReturnType<typeof startRedis>>

/** Starts a Redis server on a free port, with the configuration that docs/scaling.md asks for. */
export async function startRedis() {
  const port = String(nextPort())
  const listening = ['--port', port, '--bind', '127.0.0.1', '--dir', makeFolder()]
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
  async function launchRedis() {
    const redis = launch('redis-server', { parameters: [...listening, ...durable] })
    await redis.ready(() => /ready to accept connections/i.test(redis.log.join()))
    return redis
  }
  let running = await launchRedis()
  return {
    url: `redis://127.0.0.1:${port}`,
    /** Its append-only file holds every write that it confirmed. */
    kill: () => running.kill(),
    async start() {
      running = await launchRedis()
    },
    pause: () => void running.child.kill('SIGSTOP'),
    resume: () => void running.child.kill('SIGCONT'),
    /** Sends a command over a connection of its own. */
    async ask(...command: string[]): Promise<string> {
      const reply = await promisify(execFile)('redis-cli', ['-e', '-p', port, ...command])
      return reply.stdout.trim()
    },
    close: () => running.kill(),
  }
}
