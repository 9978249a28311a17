import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { runProvider } from '../../core/test/provider.ts'
import { createIdpPlatformClient } from '../src/index.ts'
import { createPlatformApi } from '../src/testing/index.ts'
import { createHandler } from '../src/webhook.ts'

export { failureOf } from '../../core/test/provider.ts'

export const hostToken = 'ak_of_the_host'
export const tenantToken = 'ak_of_the_tenant'
export const root = '/v1/platform/applications'
/** A request to create an application. */
export const onCreate = { method: 'POST', path: root }
/** The list fails when it is read after a create. */
export const blindList = { method: 'GET', path: root, skip: 1, times: 3, status: 500 }
export const running = { status: 200, body: { status: 'running' } }
export const stopped = { status: 200, body: { status: 'stopped' } }
export const inputs = { applicationName: 'Shop' }
export const production = { environmentType: 'production', domain: 'shop.example.com' }

/** The answer to an event whose input or output is refused. */
export const refusal = (code: string, path: unknown, message: unknown = expect.any(String)) => ({
  status: 422,
  body: { code, errors: [{ path, message }] },
})
/** The answer while the platform does not tell what the event needs. */
export const unavailable = { status: 502, body: { code: 'platform_unavailable', retryable: true } }

/** The rest of an event, and its delivery id. */
interface EventOptions {
  id?: string
  eventId?: string
  inputs?: Record<string, unknown> | undefined
  outputs?: Record<string, unknown> | undefined
  timestamp?: string
}

/** Runs platform and provider for a test file, and resets them before each test. */
export function runWorld() {
  const provider = createPlatformApi({ accessTokens: [hostToken, tenantToken] })
  const platform = createPlatformEmulator()
  const { requests, wait, origin } = runProvider(provider)
  const url = () => `${origin()}/v1`
  const log: string[] = []

  /** Makes a host, with a store of its own by default. */
  function host(dependencies: Partial<Parameters<typeof createHandler>[0]> = {}) {
    const handle = createHandler({
      platform: connectPlatform(platform.fetch),
      verify: 'none',
      platformApiKey: hostToken,
      platformBaseUrl: url(),
      baseUrl: url(),
      logger: (...line) => void log.push(JSON.stringify(line)),
      ...dependencies,
    })
    const send = (event: object, eventId?: string) => deliver(handle, event, { id: eventId })
    const sendLife = (name: string, { id = 'dep_1', eventId, timestamp, ...carried }: EventOptions) =>
      send({ name, deployment: { id, ...carried }, ...(timestamp && { timestamp }) }, eventId)
    return {
      send,
      /** Sends DEPLOYMENT_CREATED of a deployment, which the platform learns first if it does not know it. */
      create(given: Record<string, unknown> = {}, options: EventOptions = {}) {
        const all = { ...inputs, ...given }
        const { id = 'dep_1' } = options
        if (!platform.deployments.has(id)) platform.addDeployment({ id, inputs: all })
        return sendLife('DEPLOYMENT_CREATED', { inputs: all, ...options })
      },
      remove: (options: EventOptions = {}) => sendLife('DEPLOYMENT_DELETED', options),
    }
  }

  let main: ReturnType<typeof host>
  beforeEach(() => {
    platform.reset()
    log.length = 0
    main = host()
    // The pause between two attempts is random: this makes it zero.
    vi.spyOn(Math, 'random').mockReturnValue(0)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    const reported = platform.calls.filter(({ path }) => !/\/(outputs|downloads\/[^/]+)$/.test(path))
    const everything = log.join('\n') + JSON.stringify(reported)
    expect(everything).not.toMatch(new RegExp(`sk_(test|live)_|${hostToken}|${tenantToken}`))
  })

  const deployment = (id = 'dep_1') => platform.deployments.get(id) ?? expect.fail(`there is no ${id}`)
  const asked = () => requests.map(({ method, path }) => `${method} ${path}`)
  return {
    provider,
    platform,
    requests,
    /** The requests as `POST /v1/platform/applications`. */
    asked,
    /** The tokens and keys of the requests. */
    credentials: () => [...new Set(requests.map(({ headers }) => headers.get('authorization')?.slice(7)))],
    url,
    client: () => createIdpPlatformClient({ platformApiKey: hostToken, baseUrl: url(), wait }),
    host,
    /** The same host for a whole test. */
    send: (...event: Parameters<typeof main.send>) => main.send(...event),
    create: (...event: Parameters<typeof main.create>) => main.create(...event),
    remove: (...event: Parameters<typeof main.remove>) => main.remove(...event),
    deployment,
    published: (id?: string) => deployment(id).outputs.applicationId,
    /** The number of creates that the provider received. */
    creates: () => asked().filter((request) => request === `POST ${root}`).length,
    statuses: () => deployment().statusHistory.map(({ status }) => status),
    logged: (level: 'info' | 'warn' | 'error') =>
      deployment().logs.flatMap((entry) => (entry.level === level ? entry.message : [])),
    /** The only application of the provider. */
    application: () => only(provider.applications.values()),
    /** The next calls to the platform of this kind fail. */
    failsTo: (method: string, path?: RegExp, status = 503) =>
      platform.faults.add({ method, ...(path && { path }), status, body: {}, times: 9 }),
    /** The response to the next creation is lost, and the list does not show it yet. */
    loseCreation: () => provider.faults.add({ ...onCreate, cut: 'after' }, blindList),
  }
}

/** Returns the only item of a collection. */
export function only<Item>(items: Iterable<Item>): Item {
  const [item, ...others] = items
  if (item === undefined || others.length > 0) expect.fail('The collection does not have exactly one item.')
  return item
}
