/** A built host between emulators, with its log in a file, under light traffic, for an incident. */
import { spawnSync } from 'node:child_process'
import { openSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { sign } from '../../../packages/core/src/index.ts'
import { cert } from '../../../tooling/runtimes/certificate.ts'
import { until } from '../../shared/clock.ts'
import { launch, makeFolder, nextPort, type Process } from '../../shared/processes.ts'
import { type Break, startWay } from '../way.ts'
import { startOutside, webhookSecret } from '../world.ts'

const program = new URL('../../../apps/server/dist/node/node.mjs', import.meta.url).pathname
const OPERATOR_TOKEN = 'operator-token-of-the-drill'

export type Stage = Awaited<ReturnType<typeof createStage>>

/** Prepares everything outside the host. The host starts by itself. */
export async function createStage() {
  const outside = await startOutside()
  outside.platform.addDeployment({ id: 'dep_1' })
  const folder = makeFolder()
  const port = nextPort()
  const url = `http://127.0.0.1:${port}`
  const log = join(folder, 'host.log')
  const output = openSync(log, 'a')
  const ends: (() => unknown)[] = [outside.close]
  const store = `sqlite:${folder}/data/deliveries.db`
  const own = { OPERATOR_TOKEN, DELIVERY_STORE: store, PORT: String(port) }
  const variables: Record<string, string> = { ...outside.variables, ...own }
  let host: Process | undefined

  return {
    ...outside,
    folder,
    log,
    /** How the platform signs; an incident may change it. */
    signing: { secret: webhookSecret, aheadMs: 0 },
    variables,
    /** A command of the shell that runs before the host, in a place for mounts of its own. */
    setUp: ':',
    /** Runs at every call of the host, which waits for it. */
    onStep(work: typeof outside.atStep): void {
      outside.atStep = work
    },
    onEnd: (end: () => unknown) => void ends.unshift(end),
    /** Starts the host, as a service manager does that collects all its output. */
    start(): void {
      const shell = `${this.setUp} && exec "$@" 2>&1`
      const parameters = ['-m', 'sh', '-c', shell, 'sh', process.execPath, program]
      host = launch('unshare', { parameters, environment: variables, output })
    },
    isReady: () => until('the host is ready', async () => (await fetch(`${url}/readyz`)).ok),
    kill: async () => host?.kill(),
    /** Opens connections that send nothing, and others in place of those that the host closes. */
    holdConnections(count: number): void {
      const hold = () => {
        if (!host?.alive) return
        const idle = connect(port, '127.0.0.1').on('error', () => {})
        idle.on('close', () => setTimeout(hold, 50))
      }
      for (let opened = 0; opened < count; opened += 1) hold()
    },
    /** Fills the disk under a folder that the host alone has mounted. */
    fill(path: string): void {
      spawnSync('dd', ['if=/dev/zero', `of=/proc/${host?.child.pid}/root${path}/filler`])
    },
    /** Delivers an event, and waits for no response. */
    async send(route: string, event: object): Promise<void> {
      const body = JSON.stringify(event)
      const { secret, aheadMs } = this.signing
      const timestamp = new Date(Date.now() + aheadMs)
      const signed = await sign({ secret, id: crypto.randomUUID(), body, timestamp })
      const headers = { 'content-type': 'application/json', ...signed }
      fetch(`${url}/${route}/webhook`, { method: 'POST', headers, body }).catch(() => {})
    },
    async readMetrics(): Promise<string> {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, connection: 'close' }
      const response = await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(2_000) })
      if (!response.ok) throw new Error(`/metrics answers ${response.status}`)
      return response.text()
    },
    /** Puts a way in front of the server of a variable, and returns what breaks it. */
    async putInFrontOf(variable: string, kind: Break): Promise<() => void> {
      const way = await startWay(kind, Number(new URL(`${variables[variable]}`).port))
      this.onEnd(way.close)
      variables[variable] = way.url
      variables.NODE_EXTRA_CA_CERTS = join(folder, 'authority.pem')
      writeFileSync(variables.NODE_EXTRA_CA_CERTS, cert)
      return way.break
    },
    async close(): Promise<void> {
      await this.kill()
      for (const end of ends) await end()
    },
  }
}
