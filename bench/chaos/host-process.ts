import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { launch, type Process, sourceOptions } from '../shared/processes.ts'
import { until } from './clock.ts'
import type { Order, StoreWrite } from './dying-store.ts'

const START_MS = 30_000
const source = new URL('./host.ts', import.meta.url).pathname

/** How a host is started. */
export interface HostProcessOptions {
  environment: Record<string, string>
  /** @default 1,000 */
  leaseMs?: number
  /** @default 1,000 */
  settleMs?: number
  /** Runs at every write to its store. */
  onStoreWrite?: (write: StoreWrite) => void
}

/** A host in a process of its own. */
export interface HostProcess {
  /** Changes with every restart. */
  readonly url: string
  readonly process: Process
  /** Whether SIGSTOP holds it. */
  readonly stopped: boolean
  /** One entry for each time that it ended by itself with an exit code other than 0. */
  readonly falls: readonly string[]
  /** Sends itself a signal at a later write to its store. */
  signalAtWrite(order: Order): Promise<void>
  kill(): void
  pause(): void
  resume(): void
  /** Starts it again, if it has ended. */
  restart(): Promise<void>
}

/** Starts a host, and resolves when it is ready. */
export async function startHost(options: HostProcessOptions): Promise<HostProcess> {
  const { environment, leaseMs = 1_000, settleMs = 1_000, onStoreWrite } = options
  const falls: string[] = []
  let { host, url } = await start()

  async function start(): Promise<{ host: Process; url: string }> {
    const host = launch(process.execPath, {
      parameters: [...sourceOptions, source],
      environment: {
        ...environment,
        PORT: '0',
        CHAOS_LEASE_MS: String(leaseMs),
        CHAOS_SETTLE_MS: String(settleMs),
      },
      ipc: true,
      onLine(line) {
        if (!line.startsWith('{"chaos":')) return false
        onStoreWrite?.(JSON.parse(line).chaos)
        return true
      },
    })
    host.exit.then((code) => {
      if (code) falls.push(`exit ${code}: ${host.log.slice(-8).join('\n')}`)
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
    get stopped() {
      return host.alive && stateOf(host) === 'T'
    },
    falls,
    async signalAtWrite(order) {
      host.child.send(order)
      await once(host.child, 'message')
    },
    kill: () => void host.child.kill('SIGKILL'),
    pause: () => void host.child.kill('SIGSTOP'),
    resume: () => void host.child.kill('SIGCONT'),
    async restart() {
      if (!host.alive) ({ host, url } = await start())
    },
  }
}

/** The state of a process in Linux: the first field after its name. */
function stateOf({ child: { pid } }: Process): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[0]
}
