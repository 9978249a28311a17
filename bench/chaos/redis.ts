import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Whether this machine has a Redis server; Debian's package is `redis-server`. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0

/** A Redis server of our own, on a free port of the loopback interface. */
export interface RedisServer {
  url: string
  /** As a crash: by SIGKILL. What was answered is in the append-only file by then. */
  kill(): Promise<void>
  /** Starts it again on the same port, with what its file holds. */
  start(): Promise<void>
  /** As a machine that hangs. */
  pause(): void
  resume(): void
  /** Ends it, and removes its files. */
  close(): Promise<void>
}

/** Starts a Redis server that is configured as docs/scaling.md asks for. */
export async function startRedis(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'chaos-redis-'))
  const port = await freePort()
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '']
    const safety = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction']
    const server = spawn('redis-server', [...options, ...safety])
    child = server
    for await (const line of createInterface({ input: server.stdout })) {
      if (/ready to accept connections/i.test(line)) break
    }
    server.stdout.resume()
  }

  async function kill(): Promise<void> {
    const dying = child
    if (!dying || dying.exitCode !== null || dying.signalCode !== null) return
    const gone = new Promise((resolve) => dying.once('exit', resolve))
    dying.kill('SIGKILL')
    await gone
  }

  // A run that is ended in the middle leaves nothing behind.
  const end = () => void child?.kill('SIGKILL')
  process.once('exit', end)
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    kill,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async close() {
      process.off('exit', end)
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}
