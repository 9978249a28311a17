import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { launch } from '../shared/processes.ts'
import { until } from './clock.ts'
import type { Claim, Order, StoreWrite } from './dying-store.ts'

const START_MS = 30_000
const source = new URL('./host.ts', import.meta.url).pathname
/** Strips the types once for all starts, which halves the time of a start. */
const NODE_COMPILE_CACHE = new URL('../.data/compile-cache', import.meta.url).pathname

export interface HostProcessOptions {
  environment: Record<string, string>
  /** @default 30,000, as in production: a busy machine must not lose it */
  leaseMs?: number | undefined
  /** @default 1,000 */
  settleMs?: number
  onStoreWrite?: (write: StoreWrite) => void
}

export type HostProcess = Awaited<ReturnType<typeof startHost>>

/** Starts a host in a process of its own, and resolves when it is ready. */
export async function startHost(options: HostProcessOptions) {
  const { environment, leaseMs = 30_000, settleMs = 1_000, onStoreWrite } = options
  let { host, url } = await start()

  async function start() {
    const timing = { CHAOS_LEASE_MS: String(leaseMs), CHAOS_SETTLE_MS: String(settleMs) }
    const host = launch(process.execPath, {
      parameters: ['--disable-warning=ExperimentalWarning', '--conditions=@org/source', source],
      environment: { ...environment, ...timing, NODE_COMPILE_CACHE, PORT: '0' },
      ipc: true,
      onLine(line) {
        if (!line.startsWith('{"chaos":')) return false
        onStoreWrite?.(JSON.parse(line).chaos)
        return true
      },
    })
    const [, port] = await host.line(/"port":(\d+)/)
    const url = `http://127.0.0.1:${port}`
    await until('the host is ready', async () => (await fetch(`${url}/readyz`)).ok, START_MS)
    return { host, url }
  }

  return {
    get url() {
      return url
    },
    get process() {
      return host
    },
    /** Whether SIGSTOP holds it: in Linux, the first field after a process's name is its state. */
    get stopped() {
      const stat = host.alive ? readFileSync(`/proc/${host.child.pid}/stat`, 'utf8') : ''
      return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T')
    },
    /** Makes it send itself a signal at a later write to its store. */
    async signalAtWrite(order: Order) {
      host.child.send(order)
      await once(host.child, 'message')
    },
    /** Makes it end the leases of claims that another process has left. */
    async endLeases(claims: readonly Claim[]) {
      host.child.send({ endLeases: claims })
      await once(host.child, 'message')
    },
    kill: () => void host.child.kill('SIGKILL'),
    resume: () => void host.child.kill('SIGCONT'),
    async restart() {
      if (!host.alive) ({ host, url } = await start())
    },
  }
}
