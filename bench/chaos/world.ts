/** Hosts in processes of their own, and everything outside them as emulators in this process. */
import { join } from 'node:path'
import { createPlatformEmulator, serve } from '../../packages/core/src/testing/index.ts'
import { createPlatformApi } from '../../packages/idp-server/src/testing/index.ts'
import { createMailProvider } from '../../packages/mailer/src/testing/index.ts'
import { makeFolder, nextPort, startServer } from '../shared/processes.ts'
import { type RedisServer, startRedis } from './redis.ts'
import { createSender, type Sender } from './sender.ts'

/** A call of a host or a write to its store, before it takes effect or after. */
export interface Step {
  /** The same before and after; it counts the steps of all hosts. */
  number: number
  to: 'mail' | 'idp' | 'platform' | 'store'
  method: string
  /** Of a write to the store: the subject of its claim. */
  path: string
  when: 'before' | 'after'
  /** Of a write to the store: the owner of its claim, and the names of the steps that it records. */
  claim?: { owner: string; recorded: string[] }
}

/** Counts the effects outside the hosts, and their responses. A run is judged by it. */
export interface Journal {
  /** How many mails each address got. */
  timesSent: Map<string, number>
  /** Every application that was ever made. */
  applications: Set<string>
  /** The different outputs, as JSON, that were published for a deployment. */
  outputs: Map<string, Set<string>>
  /** The status is 0 if there was no response. */
  responses: { status: number; code: string | undefined }[]
}

/** Signs the platform's deliveries. */
export const webhookSecret = `whsec_${btoa('the secret of the chaos runs')}`

/** Starts everything outside the hosts. */
export async function startOutside(mailPort?: number) {
  const mail = createMailProvider({ apiTokens: ['shared-token'] })
  const idp = createPlatformApi()
  const platform = createPlatformEmulator()
  const journal: Journal = {
    timesSent: new Map(),
    applications: new Set(),
    outputs: new Map(),
    responses: [],
  }
  const outside = {
    mail,
    idp,
    platform,
    journal,
    steps: 0,
    /** Runs at every step, which waits for it. It can kill a host. */
    atStep: (_: Step): void | Promise<void> => {},
  }

  /** Serves an emulator, and writes its effects to the journal after each call. */
  const watched = (to: Step['to'], emulate: typeof fetch, record: () => void, port?: number) =>
    serve(
      async (request) => {
        const { pathname: path } = new URL(request.url)
        const step = { number: ++outside.steps, to, method: request.method, path }
        await outside.atStep({ ...step, when: 'before' })
        const copy = request.clone()
        const response = await emulate(request).finally(record)
        const [, , deployment = '', what] = path.split('/')
        if (to === 'platform' && what === 'outputs' && request.method !== 'GET' && response.ok) {
          const outputs = journal.outputs.get(deployment) ?? new Set()
          journal.outputs.set(deployment, outputs.add(JSON.stringify(await copy.json())))
        }
        await outside.atStep({ ...step, when: 'after' })
        return response
      },
      { port },
    )

  function recordMails(): void {
    for (const address of mail.messages.splice(0).flatMap(({ to }) => to))
      journal.timesSent.set(address, (journal.timesSent.get(address) ?? 0) + 1)
  }

  function recordApplications(): void {
    for (const id of idp.applications.keys()) journal.applications.add(id)
  }

  const servers = [
    await watched('mail', mail.fetch, recordMails, mailPort),
    await watched('idp', idp.fetch, recordApplications),
    await watched('platform', platform.fetch, () => {}),
    await serve(async (request) => {
      const { number = ++outside.steps, ...write }: Omit<Step, 'number'> & { number?: number } =
        await request.json()
      await outside.atStep({ ...write, number })
      return Response.json(number)
    }),
  ]
  const [mailServer, idpServer, platformServer, steps] = servers.map(({ url }) => url)
  return Object.assign(outside, {
    /** The variables of a host that calls the emulators. */
    variables: {
      PLATFORM_API_URL: `${platformServer}`,
      PLATFORM_WEBHOOK_SECRET: webhookSecret,
      MAILER_API_BASE: `${mailServer}`,
      MAILER_SHARED_API_TOKEN: 'shared-token',
      MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
      IDP_PLATFORM_API_KEY: 'ak_emulated',
      IDP_PLATFORM_API_BASE: `${idpServer}/v1`,
      IDP_API_BASE: `${idpServer}/v1`,
    },
    stepsUrl: `${steps}`,
    close: () => Promise.all(servers.map((server) => server.close())),
  })
}

const source = new URL('./host.ts', import.meta.url).pathname
/** Strips the types once for all starts, which halves the time of a start. */
const NODE_COMPILE_CACHE = new URL('../.data/compile-cache', import.meta.url).pathname
const NODE_OPTIONS = '--conditions=@org/source --disable-warning=ExperimentalWarning'

export type HostProcess = Awaited<ReturnType<typeof startHost>>

/** Starts a host in a process of its own, and resolves when it is ready. It restarts on the same port. */
async function startHost(given: Record<string, string>) {
  const port = nextPort()
  const environment = { ...given, NODE_COMPILE_CACHE, NODE_OPTIONS }
  const start = () => startServer(source, '/readyz', { environment, port, ipc: true })
  let running = await start()
  return {
    url: running.url,
    get process() {
      return running
    },
    async restart() {
      if (!running.alive) running = await start()
    },
  }
}

interface WorldOptions {
  store: 'redis' | 'sqlite'
  /** The variables of each host that it does not share with the others; `CHAOS_LEASE_MS` is its lease. */
  hosts: readonly Record<string, string>[]
  /** The port of the mail provider. */
  mailPort?: number
  /** Whether a write to the store is a step too. It costs two requests a write. */
  watchesStore?: boolean
}

export type World = Awaited<ReturnType<typeof startOutside>> & {
  hosts: HostProcess[]
  sender: Sender
  redis: RedisServer | undefined
}

/** Starts hosts and everything outside them, runs `body`, and ends what it has started. */
export async function arranged<Result>(
  { store, hosts: own, mailPort, watchesStore = false }: WorldOptions,
  body: (world: World) => Promise<Result>,
): Promise<Result> {
  const outside = await startOutside(mailPort)
  const redis = store === 'redis' ? await startRedis() : undefined
  const DELIVERY_STORE = redis?.url ?? `sqlite:${join(makeFolder(), 'deliveries.db')}`
  const shared = { DELIVERY_STORE, ...(watchesStore && { CHAOS_STEPS: outside.stepsUrl }) }
  const hosts: HostProcess[] = []
  Object.assign(outside.variables, shared)
  try {
    const start = async (variables: Record<string, string>, index: number) => {
      hosts[index] = await startHost({ ...outside.variables, ...variables })
    }
    await Promise.all(own.map(start))
    const sender = createSender(hosts, outside.journal)
    return await body(Object.assign(outside, { hosts, sender, redis }))
  } finally {
    await Promise.all([...hosts.map((host) => host.process.kill()), redis?.close(), outside.close()])
  }
}
