/** The bundle that ships, as processes of their own, and a platform and providers over HTTP around them. */
import { spawn } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { deliver, serve } from '@org/core/testing'
import { folderOf } from '../../../bench/deployments/bundles.ts'
import { createFolder, createWorld, credentials, production, variablesAt } from './hosted.ts'

export const secret = credentials.webhookSecret

/** A copy of the bundle outside of the repository, where nothing else can be loaded. */
export const bundle = createFolder()
cpSync(folderOf('node'), bundle, {
  recursive: true,
  filter: (path) => !/\.(map|cache)$/.test(path),
})

type Variables = Record<string, string | undefined>

/** How a process is started. */
export interface StartOptions {
  environment?: Variables
  /** The working directory. @default an empty one */
  folder?: string
  /** Signs the events of `send`. @default {@link secret} */
  secret?: string | undefined
  /** The folder of the bundle. @default {@link bundle} */
  program?: string
  /** A command that runs another one, such as `unshare`. */
  within?: readonly string[]
}

/** One line of the host's log. */
type LogLine = Record<string, unknown> & { message?: string }

/** Starts the bundle on a free port, with a store in memory unless `environment` says otherwise. */
function startShipped({ environment, program = bundle, within = [], ...options }: StartOptions) {
  const signedBy = 'secret' in options ? options.secret : secret
  const [command = '', ...args] = [...within, process.execPath, join(program, 'node.mjs')]
  const child = spawn(command, args, {
    cwd: options.folder ?? createFolder(),
    env: { PORT: '0', DELIVERY_STORE: 'memory:', ...environment },
  })
  const log: LogLine[] = []
  let errors = ''
  child.stderr.on('data', (chunk) => {
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
      deliver(fetch, event, { id, secret: signedBy, url: `${await url}/${route}/webhook` }),
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

/** Starts processes with these variables, beside those of each. `end` ends all. */
export function shipWith(variables: Variables) {
  const hosts: ReturnType<typeof startShipped>[] = []
  return {
    ship({ environment, ...options }: StartOptions = {}) {
      const host = startShipped({ environment: { ...variables, ...environment }, ...options })
      hosts.push(host)
      return host
    },
    async end() {
      for (const host of hosts) host.kill('SIGKILL')
      await Promise.all(hosts.map(({ exit }) => exit))
    },
  }
}

/** Starts a platform and providers over HTTP. `ship` starts a production host between them. */
export async function startSurroundings() {
  const world = createWorld()
  const { platform, mail, answerMail, workspace } = world
  const servers = await Promise.all([platform.fetch, answerMail, workspace.fetch].map((each) => serve(each)))
  const [platformUrl = '', mailUrl = '', idpUrl = ''] = servers.map(({ url }) => url)
  const variables = {
    ...production,
    ...variablesAt(platformUrl, mailUrl, idpUrl),
    DRAIN_DELAY_MS: '0',
    OPERATOR_TOKEN: credentials.operatorToken,
  }
  const { ship, end } = shipWith(variables)
  platform.addDeployment({ id: 'dep_1' })
  return {
    ...world,
    variables,
    ship,
    /** Forgets the mails, and every deployment but one. */
    reset() {
      mail.reset()
      platform.reset()
      platform.addDeployment({ id: 'dep_1' })
    },
    async close() {
      await end()
      for (const server of servers) await server.close()
    },
  }
}
