/** Everything that runs in the sandbox: a platform, the providers, and the host between them. */
import { type Manifest, platformEvent } from '@org/core/internal'
import { createPlatformEmulator, type Served, serve } from '@org/core/testing'
import { createHost, createMetrics, readConfig, refuseOtherSites } from '@org/server'
import { type Delivery, deliveryHeaders } from './deliver.ts'
import { type StartHost, startElsewhere } from './elsewhere.ts'
import { type Exchange, type OpenExchange, SOURCE_HEADER } from './exchange.ts'
import { at } from './json.ts'
import { type Environment, listen } from './listen.ts'
import { createObserver } from './observer.ts'
import { startProviders } from './providers.ts'

/** The running sandbox. */
export type World = Awaited<ReturnType<typeof startWorld>>

/** The user that the examples of the contract name. */
const SEEDED = { id: 'user_2xPZv8ySAMPLEcQ4sKfT1b9d', first_name: 'Sam', email_address: ['sam@example.com'] }

/** The variable with a tenant’s mail token, for `{{env.…}}`. */
export const TENANT_TOKEN = 'SANDBOX_TENANT_MAIL_TOKEN'

/**
 * Starts everything.
 * @param options.startHost starts the observed host elsewhere, with emulated providers; without it, the host runs
 *   in this process
 * @throws {SandboxError} if the port is taken, or a variable is missing
 * @throws {ConfigurationError} if a variable is invalid
 */
export async function startWorld(
  environment: Environment,
  { startHost }: { startHost?: StartHost | undefined } = {},
) {
  const servers: Pick<Served, 'close'>[] = []
  const close = async () => {
    for (const server of servers.splice(0).reverse()) await server.close()
  }
  try {
    return { ...(await start(environment, servers, startHost)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function start(
  environment: Environment,
  servers: Pick<Served, 'close'>[],
  startHost: StartHost | undefined,
) {
  const platformToken = crypto.randomUUID()
  const platform = createPlatformEmulator({ token: platformToken })
  const platformServer = await serve(platform.fetch)
  servers.push(platformServer)
  const { providers, variables, secrets } = await startProviders(environment, servers)
  const { mail, idp, idpServer, samples, identityFaults } = providers

  const hostVariables = {
    ...environment,
    ...variables,
    // Production would refuse a platform on this machine.
    NODE_ENV: 'development',
    DELIVERY_STORE: 'memory:',
    PLATFORM_API_URL: platformServer.url,
    PLATFORM_API_TOKEN: platformToken,
    [TENANT_TOKEN]: mail.token,
  }
  const config = readConfig(hostVariables)
  const [webhookSecret] = config.webhookSecrets
  /** The sandbox’s own deliveries, until somebody takes their result. */
  const tickets = new Map<string, Exchange>()
  const deploymentRoutes = new Map<string, string>()
  /** Every instance has the user of the examples. */
  const seed = () => {
    const applications = [...(idpServer.emulator?.applications.values() ?? [])]
    const all = [idp.emulator?.instance, ...applications.flatMap(({ instances }) => instances)]
    for (const instance of all) if (instance?.users.size === 0) instance.createUser(SEEDED)
  }
  const listeners = {
    /** Runs after each event that the walk did not send. */
    onVisit: (_: Exchange): void => {},
    /** Runs after every change of every event. */
    onChange: (_: OpenExchange): void => {},
  }

  const observer = createObserver(platformServer.url, {
    onEvent(event, route) {
      const { data } = platformEvent.safeParse(event)
      if (data?.name !== 'DEPLOYMENT_CREATED') return
      // The platform knows every deployment that an event creates, even if another sender sends it.
      const { id, inputs = {} } = data.deployment
      const deployment = platform.deployments.get(id) ?? platform.addDeployment({ id })
      deployment.inputs = inputs
      deploymentRoutes.set(id, route)
    },
    onChange: (exchange) => listeners.onChange(exchange),
    onExchange(exchange) {
      const { source, ticket } = exchange
      if (source !== 'walk') listeners.onVisit(exchange)
      if (ticket !== undefined) tickets.set(ticket, exchange)
      if (at(exchange.request.body, 'name') === 'DEPLOYMENT_CREATED') seed()
    },
  })
  /** The faults of the emulated targets. A real provider can’t be broken. */
  const faults = Object.entries({
    'Mail provider': mail.emulator?.faults,
    'Identity provider': identityFaults,
    Platform: platform.faults,
  }).flatMap(([target, queue]) => (queue ? { target, queue } : []))
  for (const { queue } of faults) {
    const { take } = queue
    queue.take = (request) => {
      const fault = take(request)
      if (fault) observer.meetFault(request, fault)
      return fault
    }
  }
  const { logger, fetch: observedFetch } = observer
  const handle = startHost
    ? await startElsewhere(startHost, hostVariables, observer.fetchFromElsewhere, servers)
    : createHost(config, { environment: hostVariables, logger, fetch: observedFetch, createMetrics }).fetch
  const watched = observer.watch(handle)
  const guarded = async (request: Request) => {
    const refusal = refuseOtherSites('host', request)
    return refusal ? new Response(refusal, { status: 403 }) : watched(request)
  }
  const hostServer = await listen('host', guarded, { port: config.port, variable: 'PORT', environment })
  servers.push(hostServer)
  const url = `http://localhost:${hostServer.port}`
  const { integrations } = await fetch(`${url}/integrations`).then(
    (response): Promise<{ integrations: Manifest[] }> => response.json(),
  )
  seed()

  return {
    ...providers,
    url,
    /** The usual port of the host, if something else listens there. */
    taken: hostServer.taken,
    platform,
    /** What the host says about its integrations. */
    manifests: integrations,
    faults,
    /** If set, the host accepts only signed events. */
    webhookSecret,
    /** Must never be printed. */
    secrets: [...config.secrets, ...secrets],
    /** The warnings of the host at its start. */
    warnings: observer.log,
    listeners,
    /** The integration of each deployment, by the deployment’s id. */
    deploymentRoutes,
    /** Delivers an event as the platform does: over HTTP, and signed if there is a secret. */
    async deliver(delivery: Delivery, source: 'walk' | 'page'): Promise<Exchange> {
      const ticket = crypto.randomUUID()
      const headers = await deliveryHeaders(delivery, webhookSecret)
      headers[SOURCE_HEADER] = `${source} ${ticket}`
      const { body } = delivery
      const response = await fetch(`${url}/${delivery.route}/webhook`, { method: 'POST', headers, body })
      await response.arrayBuffer()
      const exchange = tickets.get(ticket)
      tickets.delete(ticket)
      if (!exchange) throw new Error('The host failed before it responded.')
      return exchange
    },
    /** Clears the platform and the emulated providers after the walk. */
    reset(): void {
      for (const emulator of [platform, mail.emulator, idpServer.emulator, idp.emulator]) emulator?.reset()
      deploymentRoutes.clear()
      for (const { provider, prepare } of samples) {
        provider.reset()
        prepare?.()
      }
      seed()
    },
  }
}
