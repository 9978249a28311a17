/** The bundle that ships, as a process of its own, between a platform and providers over HTTP. */
import { type SpawnOptions, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { sign } from '@org/core'
import { createPlatformEmulator, deliver, serve } from '@org/core/testing'
import { createBackendApi } from '@org/idp/testing'
import { createMailProvider } from '@org/mailer/testing'

export const secret = `whsec_${btoa('a secret of the platform')}`

/** Starts a platform and providers, with the variables of a production host between them. */
export async function startSurroundings() {
  const secretKey = `sk_test_${'s'.repeat(42)}`
  const platform = createPlatformEmulator({ token: 'platform-token' })
  const mail = createMailProvider({ apiTokens: ['mail-token'] })
  const backend = createBackendApi({ instances: [{ secretKey, frontendHost: 'shared.clerk.accounts.dev' }] })
  const [instance] = backend.instances.values()
  let held = Promise.resolve()
  let arrived = 0
  const holdable = async (request: Request) => {
    arrived += 1
    await held
    return mail.fetch(request)
  }
  const servers = [await serve(platform.fetch), await serve(holdable), await serve(backend.fetch)]
  platform.addDeployment({ id: 'dep_1' })
  return {
    platform,
    mail,
    backend,
    variables: {
      NODE_ENV: 'production',
      DRAIN_DELAY_MS: '0',
      CORS_ORIGINS: 'https://app.example.com',
      DELIVERY_STORE: 'memory:',
      OPERATOR_TOKEN: 'operator-token-of-this-host',
      PLATFORM_API_URL: servers[0]?.url,
      PLATFORM_API_TOKEN: 'platform-token',
      PLATFORM_WEBHOOK_SECRET: secret,
      MAILER_API_BASE: servers[1]?.url,
      MAILER_SHARED_API_TOKEN: 'mail-token',
      MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
      IDP_API_BASE: `${servers[2]?.url}/v1`,
      IDP_SHARED_SECRET_KEY: secretKey,
      IDP_SHARED_PUBLISHABLE_KEY: instance?.publishableKey,
    },
    /** Forgets everything but one deployment. */
    reset() {
      mail.reset()
      platform.reset()
      platform.addDeployment({ id: 'dep_1' })
      arrived = 0
    },
    /** Holds every call to the mail provider until `letGo`. */
    holdMail(): { arrived: () => number; letGo: () => void } {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return { arrived: () => arrived, letGo: resolve }
    },
    async close() {
      for (const server of servers) await server.close()
    },
  }
}

/** A signed delivery, as the platform sends it. */
export async function signedRequest(
  body: string | Uint8Array<ArrayBuffer>,
  { url = 'https://host.test/mailer/webhook', id = String(crypto.randomUUID()) } = {},
): Promise<Request> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signed = await sign({ secret, id, body: bytes })
  const headers = { 'content-type': 'application/json', ...signed }
  return new Request(url, { method: 'POST', headers, body: bytes })
}

/** How a process is started. */
export interface StartOptions {
  environment?: Record<string, string | undefined>
  /** The working directory. @default an empty one */
  folder?: string
  /** The folder of the bundle. @default {@link bundle} */
  program?: string
  /** For Node. */
  flags?: readonly string[]
  user?: Pick<SpawnOptions, 'uid' | 'gid'>
  /** A command that runs another one, such as `unshare`. */
  within?: readonly string[]
}

/** One line of the host's log. */
type LogLine = Record<string, unknown> & { message?: string }

/** An empty folder. */
export const createFolder = () => mkdtempSync(join(tmpdir(), 'host-'))

/** A copy of the bundle outside of the repository, where nothing else can be loaded. */
export const bundle = createFolder()
// Others may run it too.
chmodSync(bundle, 0o755)
cpSync(new URL('../dist/node', import.meta.url), bundle, {
  recursive: true,
  filter: (path) => !/\.(map|cache)$/.test(path),
})

/** Starts the bundle on a free port, with a store in memory unless `environment` says otherwise. */
export function startShipped(options: StartOptions = {}) {
  const { environment, folder, program = bundle, flags = [], user = {}, within = [] } = options
  const node = [process.execPath, ...flags, join(program, 'node.mjs')]
  const [command = '', ...args] = [...within, ...node]
  const child = spawn(command, args, {
    cwd: folder ?? createFolder(),
    env: { PORT: '0', DELIVERY_STORE: 'memory:', ...environment },
    ...user,
  })
  const log: LogLine[] = []
  let errors = ''
  child.stderr?.on('data', (chunk) => {
    errors += chunk
  })
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  const { promise: url, resolve, reject } = Promise.withResolvers<string>()
  // Not every test asks for it.
  url.catch(() => {})
  const lines = createInterface({ input: child.stdout }).on('line', (text) => {
    const line: LogLine = JSON.parse(text)
    log.push(line)
    if (line.port) resolve(`http://127.0.0.1:${line.port}`)
  })
  exit.then(() => reject(new Error(`The host ended without listening: ${errors}`)))
  return {
    pid: child.pid,
    /** Rejects if the process ends without listening. */
    url,
    log,
    /** Delivers a signed event to a route, such as `mailer`. */
    send: async (route: string, event: object, id: string = crypto.randomUUID()) =>
      deliver(fetch, event, { id, secret, url: `${await url}/${route}/webhook` }),
    /** Everything on standard error. */
    errors: () => errors,
    /** Closes its standard output, as a reader does that goes away. */
    closeLog: () => void child.stdout.destroy(),
    /** Stops to read its standard output, until the function that it returns is called. */
    pauseLog() {
      lines.pause()
      return () => void lines.resume()
    },
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    exit,
  }
}
