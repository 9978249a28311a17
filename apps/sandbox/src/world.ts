/**
 * Everything that runs in the sandbox: a platform, the providers, and the host between them.
 *
 * @module
 */
import { type PlatformEvent } from '@org/core'
import { platformEvent } from '@org/core/internal'
import { createPlatformEmulator, deliver, type PlatformEmulator, type Served, serve } from '@org/core/testing'
import { createHost, readConfig } from '@org/server'
import { type StartHost, startElsewhere } from './elsewhere.ts'
import { type Environment, SandboxError } from './environment.ts'
import { type Exchange, type LogLine, type OpenExchange, SOURCE_HEADER } from './exchange.ts'
import { type IdentitySetting, startIdentity } from './identity.ts'
import { type MailSetting, startMail } from './mail.ts'
import { createObserver } from './observer.ts'

/** The sandbox while it runs. */
export interface World extends IdentitySetting {
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
  /** What came of the walk's deliveries so far, by their ids. */
  exchanges: ReadonlyMap<string, Exchange>
  /** Delivers an event as the platform does: over HTTP, with an id, and signed where there is a secret. */
  deliver(route: string, event: PlatformEvent, deliveryId: string): Promise<Exchange>
  /** From now on, tells of each event that somebody else delivers. */
  onVisit(listener: (exchange: Exchange) => void): void
  /** From now on, tells whenever there is more to see of any event. */
  onChange(listener: (exchange: OpenExchange) => void): void
  /** The integration of each deployment, by its id. */
  deploymentRoutes: ReadonlyMap<string, string>
  /** Forgets what the walk left at the platform and at emulated providers, so that a person starts afresh. */
  tidy(): void
  close(): Promise<void>
}

/** The variable that holds a mail token of a tenant, for `{{env.…}}`. */
export const TENANT_TOKEN = 'SANDBOX_TENANT_MAIL_TOKEN'

/** Options of {@link startWorld}. */
export interface WorldOptions {
  /**
   * Starts the host that is watched; its providers have to be emulated.
   * @default a host in this process
   */
  startHost?: StartHost | undefined
}

/**
 * Starts everything.
 *
 * @throws {SandboxError} where the port is taken, or a variable is missing
 * @throws {ConfigurationError} where a variable can't be used
 */
export async function startWorld(environment: Environment, { startHost }: WorldOptions = {}): Promise<World> {
  const servers: Served[] = []
  const close = async () => {
    for (const server of servers.splice(0).reverse()) await server.close()
  }
  try {
    return await start(environment, servers, close, startHost)
  } catch (error) {
    await close()
    throw error
  }
}

async function start(
  environment: Environment,
  servers: Served[],
  close: () => Promise<void>,
  startHost: StartHost | undefined,
): Promise<World> {
  const platformToken = crypto.randomUUID()
  const platform = createPlatformEmulator({ token: platformToken })
  const platformServer = await serve(platform.fetch)
  servers.push(platformServer)
  const mail = await startMail(environment, servers)
  const identity = await startIdentity(environment, servers)

  const variables = {
    ...environment,
    ...mail.variables,
    ...identity.variables,
    // The sandbox is no production, whatever the shell says: its platform lives on this machine.
    NODE_ENV: 'development',
    DELIVERY_STORE: 'memory:',
    PLATFORM_API_URL: platformServer.url,
    PLATFORM_API_TOKEN: platformToken,
  }
  const config = readConfig(variables)
  const webhookSecret = config.webhookSecrets[0]
  const exchanges = new Map<string, Exchange>()
  const walking = new Set<string>()
  const deploymentRoutes = new Map<string, string>()
  let visit: ((exchange: Exchange) => void) | undefined
  let change: ((exchange: OpenExchange) => void) | undefined

  const observer = createObserver({
    platformUrl: platformServer.url,
    onEvent(event, route) {
      const id = recordDeployment(platform, event)
      if (id !== undefined) deploymentRoutes.set(id, route)
    },
    onChange: (exchange) => change?.(exchange),
    onExchange(exchange) {
      const { deliveryId } = exchange
      if (deliveryId !== undefined && walking.has(deliveryId)) exchanges.set(deliveryId, exchange)
      else visit?.(exchange)
    },
  })
  const hostVariables = { ...variables, [TENANT_TOKEN]: mail.setting.token }
  const handle = startHost
    ? await startElsewhere(startHost, hostVariables, observer.fetchFromElsewhere, servers)
    : createHost(config, { environment: hostVariables, logger: observer.logger, fetch: observer.fetch }).fetch
  const hostServer = await listen(observer.watch(handle), config.port)
  servers.push(hostServer)

  return {
    url: `http://localhost:${hostServer.port}`,
    platform,
    mail: mail.setting,
    ...identity.setting,
    webhookSecret,
    secrets: [...config.secrets, ...mail.secrets, ...identity.secrets],
    warnings: observer.log,
    exchanges,
    async deliver(route, event, deliveryId) {
      walking.add(deliveryId)
      exchanges.delete(deliveryId)
      try {
        const url = `${hostServer.url}/${route}/webhook`
        const send = (request: Request) => {
          request.headers.set(SOURCE_HEADER, 'walk')
          return fetch(request)
        }
        await deliver(send, event, { id: deliveryId, secret: webhookSecret, url })
        const exchange = exchanges.get(deliveryId)
        if (!exchange) throw new Error('The answer did not come from this host.')
        return exchange
      } finally {
        walking.delete(deliveryId)
      }
    },
    onVisit(listener) {
      visit = listener
    },
    onChange(listener) {
      change = listener
    },
    deploymentRoutes,
    tidy() {
      platform.reset()
      deploymentRoutes.clear()
      mail.setting.emulator?.reset()
      identity.setting.idpServer.emulator?.reset()
      identity.setting.idp.emulator?.reset()
    },
    close,
  }
}

/** A platform knows the deployments that it sends events about; so does this one, whoever sends them. */
function recordDeployment(platform: PlatformEmulator, event: unknown): string | undefined {
  const { data } = platformEvent.safeParse(event)
  if (data?.name !== 'DEPLOYMENT_CREATED') return undefined
  const { id, inputs = {} } = data.deployment
  const known = platform.deployments.get(id)
  if (known) known.inputs = inputs
  else platform.addDeployment({ id, inputs })
  return id
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
