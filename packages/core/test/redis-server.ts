import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Whether this machine has a Redis server; Debian's package is `redis-server`. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0

/** Starts a Redis server of our own, reachable through a socket file alone. */
export async function startRedis(): Promise<{ path: string; stop(): void; pause(): void; resume(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'))
  const path = join(folder, 'redis.sock')
  const options = ['--port', '0', '--unixsocket', path, '--dir', folder, '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', options)
  for await (const line of createInterface({ input: child.stdout })) {
    if (/ready to accept connections/i.test(line)) break
  }
  return {
    path,
    stop: () => void child.kill('SIGKILL'),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  }
}
