/** Everything that runs in the sandbox: a platform, the providers, and the host between them. */
import { type Manifest, platformEvent } from '@org/core/hosting'
import { createPlatformEmulator, type Served, serve } from '@org/core/testing'
import { createHost, createMetrics, importIntegrations, readConfig, refuseOtherSites } from '@org/server'
import { proxy } from 'hono/proxy'
import { type Delivery, deliveryHeaders } from './deliver.ts'
import { type Exchange, isDone, type OpenExchange, SOURCE_HEADER } from './exchange.ts'
import { at } from './json.ts'
import { type Environment, listen } from './listen.ts'
import { createObserver } from './observer.ts'
import { startProviders } from './providers.ts'

/** The running sandbox. */
export type World = Awaited<ReturnType<typeof startWorld>>

/** Starts a host with these variables outside this process, which then can’t see its calls. */
export type StartHost = (variables: Environment) => Promise<Pick<Served, 'url' | 'close'>>

/** The variable with a tenant’s mail token, for `{{env.…}}`. */
export const TENANT_TOKEN = 'SANDBOX_TENANT_MAIL_TOKEN'

/**
 * Starts everything. Without `startHost`, the host runs in this process.
 * @throws {SandboxError} if the port is taken
 * @throws {ConfigurationError} if a variable is invalid
 */
export async function startWorld(environment: Environment, startHost?: StartHost) {
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
  const providers = await startProviders(servers)
  const { mail, identity } = providers
  const hostVariables = {
    ...environment,
    ...providers.variables,
    // Production would refuse a platform on this machine.
    NODE_ENV: 'development',
    DELIVERY_STORE: 'memory:',
    PLATFORM_API_URL: platformServer.url,
    PLATFORM_API_TOKEN: platformToken,
    [TENANT_TOKEN]: providers.variables.MAILER_SHARED_API_TOKEN,
  }
  const { integrations, faults: others } = await importIntegrations(environment.INTEGRATIONS)
  const config = readConfig(hostVariables, { others })
  const [webhookSecret] = config.webhookSecrets
  /** The sandbox’s own deliveries, until somebody takes their result. */
  const tickets = new Map<string, Exchange>()
  const deploymentRoutes = new Map<string, string>()
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
    onChange(exchange) {
      listeners.onChange(exchange)
      if (!isDone(exchange)) return
      const { source, ticket } = exchange
      if (source !== 'walk') listeners.onVisit(exchange)
      if (ticket !== undefined) tickets.set(ticket, exchange)
      if (at(exchange.request.body, 'name') === 'DEPLOYMENT_CREATED') providers.seed()
    },
  })
  /** The faults of each target. */
  const faults = {
    'Mail provider': mail.faults,
    'Identity provider': identity.faults,
    Platform: platform.faults,
  }
  for (const queue of Object.values(faults)) {
    const { take } = queue
    queue.take = (request) => {
      const fault = take(request)
      if (fault) observer.meetFault(request, fault)
      return fault
    }
  }
  const { logger, fetch: observedFetch } = observer
  const elsewhere = await startHost?.(hostVariables)
  if (elsewhere) servers.push(elsewhere)
  const watched = observer.watch(
    elsewhere
      ? (request) => proxy(elsewhere.url + new URL(request.url).pathname, request)
      : createHost(config, {
          ...{ environment: hostVariables, integrations, logger, fetch: observedFetch, createMetrics },
        }).fetch,
  )
  const guarded = async (request: Request) => {
    const refusal = refuseOtherSites('host', request)
    return refusal ? new Response(refusal, { status: 403 }) : watched(request)
  }
  const hostServer = await listen('host', guarded, { port: config.port, variable: 'PORT', environment })
  servers.push(hostServer)
  const url = `http://localhost:${hostServer.port}`
  const manifests = await fetch(`${url}/integrations`)
    .then((response): Promise<{ integrations: Manifest[] }> => response.json())
    .then((listed) => listed.integrations)
  providers.seed()

  return {
    ...providers,
    url,
    /** The usual port of the host, if something else listens there. */
    taken: hostServer.taken,
    platform,
    /** The manifests of the host’s integrations. */
    manifests,
    faults,
    /** If set, the host accepts only signed events. */
    webhookSecret,
    /** Must never be printed. */
    secrets: [...config.secrets, ...providers.secrets],
    listeners,
    /** The integration of each deployment, by the deployment’s id. */
    deploymentRoutes,
    /** The calls that the providers got, for example `POST /email 200`. */
    providerCalls: (): string[] =>
      [...mail.calls, ...identity.calls].map(({ method, path, status }) => `${method} ${path} ${status}`),
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
    /** Clears the platform and the providers after the walk. */
    reset(): void {
      platform.reset()
      deploymentRoutes.clear()
      providers.reset()
    },
  }
}
