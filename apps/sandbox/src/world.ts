/**
 * Everything that runs in the sandbox: a platform, a mail provider, and the host between them.
 *
 * @module
 */
import { type PlatformEvent, platformEvent } from '@org/core'
import { createPlatformEmulator, deliver, type PlatformEmulator, type Served, serve } from '@org/core/testing'
import { createMailProvider, type MailProvider } from '@org/mailer/testing'
import { createHost, readConfig } from '@org/server'
import { createObserver, type Exchange, type LogLine } from './exchange.ts'

/** The environment of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The mail provider that the host speaks to, and whom the walk writes to. */
interface MailSetting {
  /** `undefined`: it is the real one. */
  emulator: MailProvider | undefined
  from: string
  to: string
  /** How many messages the walk sends in a batch. */
  batchSize: number
}

/** The sandbox while it runs. */
export interface World {
  /** Where the host answers; without a slash at the end. */
  url: string
  platform: PlatformEmulator
  mail: MailSetting
  /** Set: the host takes signed events alone. */
  webhookSecret: string | undefined
  /** What must never be printed. */
  secrets: readonly string[]
  /** What the host warned of at its start. */
  warnings: readonly LogLine[]
  /** Delivers an event as the platform does: over HTTP, with an id, and signed where there is a secret. */
  deliver(route: string, event: PlatformEvent, deliveryId: string): Promise<Exchange>
  /** From now on, tells of each event that somebody else delivers. */
  onVisit(listener: (exchange: Exchange) => void): void
  close(): Promise<void>
}

/** The sandbox can't start; the message says why, and what can be done. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
}

/** The provider takes what is sent there, counts it, and drops it. */
const BLACK_HOLE = 'test@blackhole.postmarkapp.com'
/** More than two calls of the provider hold. */
const EMULATED_BATCH = 1_203
const REAL_BATCH = 3

/** The variable that holds a mail token of a tenant, for `{{env.…}}`. */
export const TENANT_TOKEN = 'SANDBOX_TENANT_MAIL_TOKEN'

/**
 * Starts everything.
 *
 * @throws {SandboxError} where the port is taken, or a variable is missing
 * @throws {ConfigurationError} where a variable can't be used
 */
export async function startWorld(environment: Environment): Promise<World> {
  const servers: Served[] = []
  const close = async () => {
    for (const server of servers.splice(0).reverse()) await server.close()
  }
  try {
    return await start(environment, servers, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function start(
  environment: Environment,
  servers: Served[],
  close: () => Promise<void>,
): Promise<World> {
  const platformToken = randomToken()
  const platform = createPlatformEmulator({ token: platformToken })
  const platformServer = await serve(platform.fetch)
  servers.push(platformServer)
  const { mail, mailToken, variables } = await startMail(environment, servers)

  const config = readConfig({
    ...environment,
    ...variables,
    // The sandbox is no production, whatever the shell says: its platform lives on this machine.
    NODE_ENV: 'development',
    DELIVERY_STORE: 'memory:',
    PLATFORM_API_URL: platformServer.url,
    PLATFORM_API_TOKEN: platformToken,
  })
  const webhookSecret = config.webhookSecrets[0]
  const answered = new Map<string, Exchange>()
  const walking = new Set<string>()
  let visit: ((exchange: Exchange) => void) | undefined

  const observer = createObserver({
    platformUrl: platformServer.url,
    onEvent: (event) => recordDeployment(platform, event),
    onExchange(exchange) {
      const { deliveryId } = exchange
      if (deliveryId !== undefined && walking.has(deliveryId)) answered.set(deliveryId, exchange)
      else visit?.(exchange)
    },
  })
  const host = createHost(config, {
    environment: { ...environment, [TENANT_TOKEN]: mailToken },
    logger: observer.logger,
    fetch: observer.fetch,
  })
  const hostServer = await listen(observer.watch(host.fetch), config.port)
  servers.push(hostServer)

  return {
    url: `http://localhost:${hostServer.port}`,
    platform,
    mail,
    webhookSecret,
    secrets: [...config.secrets, mailToken],
    warnings: observer.log,
    async deliver(route, event, deliveryId) {
      walking.add(deliveryId)
      try {
        const url = `${hostServer.url}/${route}/webhook`
        await deliver(fetch, event, { id: deliveryId, secret: webhookSecret, url })
        const exchange = answered.get(deliveryId)
        if (!exchange) throw new Error('The answer did not come from this host.')
        return exchange
      } finally {
        walking.delete(deliveryId)
        answered.delete(deliveryId)
      }
    },
    onVisit(listener) {
      visit = listener
    },
    close,
  }
}

interface StartedMail {
  mail: MailSetting
  mailToken: string
  /** What the host is configured with. */
  variables: Environment
}

async function startMail(environment: Environment, servers: Served[]): Promise<StartedMail> {
  const realToken = environment.MAILER_SHARED_API_TOKEN?.trim()
  if (realToken) {
    const from = environment.MAILER_SHARED_FROM_EMAIL?.trim()
    if (!from) {
      throw new SandboxError(
        'MAILER_SHARED_API_TOKEN is set, so the walk uses the real mail provider: it also needs MAILER_SHARED_FROM_EMAIL, a sender that the provider has confirmed. (Without the token, the provider is emulated.)',
      )
    }
    const mail = { emulator: undefined, from, to: BLACK_HOLE, batchSize: REAL_BATCH }
    return { mail, mailToken: realToken, variables: {} }
  }
  const mailToken = randomToken()
  const emulator = createMailProvider({ apiTokens: [mailToken] })
  const server = await serve(emulator.fetch)
  servers.push(server)
  const mail = {
    emulator,
    from: 'Shop <shop@example.com>',
    to: 'ada@example.com',
    batchSize: EMULATED_BATCH,
  }
  return {
    mail,
    mailToken,
    variables: {
      MAILER_SHARED_API_TOKEN: mailToken,
      MAILER_SHARED_FROM_EMAIL: mail.from,
      MAILER_API_BASE: server.url,
    },
  }
}

/** A platform knows the deployments that it sends events about; so does this one, whoever sends them. */
function recordDeployment(platform: PlatformEmulator, event: unknown): void {
  const { data } = platformEvent.safeParse(event)
  if (data?.name !== 'DEPLOYMENT_CREATED') return
  const { id, inputs = {} } = data.deployment
  const known = platform.deployments.get(id)
  if (known) known.inputs = inputs
  else platform.addDeployment({ id, inputs })
}

async function listen(handle: (request: Request) => Promise<Response>, port: number): Promise<Served> {
  try {
    return await serve(handle, { port })
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    const reason = taken ? 'something else listens there' : error instanceof Error ? error.message : 'unknown'
    throw new SandboxError(
      `The sandbox can’t listen on port ${port}: ${reason}. Choose another one, for example PORT=${port === 3009 ? 3010 : 3009} npm start.`,
    )
  }
}

function randomToken(): string {
  return crypto.randomUUID()
}
