import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { afterEach, beforeEach, expect } from 'vitest'
import { runProvider } from '../../core/test/provider.ts'
import { createIdpClient, type IdpClientOptions } from '../src/index.ts'
import { createBackendApi, type InstanceOptions } from '../src/testing/index.ts'
import { createHandler } from '../src/webhook.ts'

export { failureOf } from '../../core/test/provider.ts'

/** The time of the provider's clock. */
export const NOW = '2026-11-20T09:00:00.000Z'

/** Runs the provider for a test file. The paths of its requests are decoded, and below the base URL. */
export function runIdp(...instances: InstanceOptions[]) {
  const [first = {}, ...others] = instances
  const backend = createBackendApi({ instances: [first, ...others], now: () => new Date(NOW) })
  const { wait, origin, ...run } = runProvider(
    backend,
    ({ pathname, search }) => pathname.replace(/^\/v1/, '') + decodeURIComponent(search),
  )
  const { secretKey } = backend.instance
  const url = () => `${origin()}/v1`
  return {
    ...run,
    backend,
    url,
    client: (options: Partial<IdpClientOptions> = {}) =>
      createIdpClient({ secretKey, baseUrl: url(), wait, ...options }),
  }
}

type Dependencies = Parameters<typeof createHandler>[0]

/** Runs platform and provider for a test file, and resets them before each test. */
export function runWebhook() {
  const idp = runIdp({}, { environmentType: 'production' })
  const [shared, own] = [...idp.backend.instances.values()]
  if (!shared || !own) throw new Error('The emulator starts with two instances.')
  const platform = createPlatformEmulator()
  const log: string[] = []
  let handle: ReturnType<typeof createHandler>

  const handler = (dependencies: Partial<Dependencies> = {}) =>
    createHandler({
      platform: connectPlatform(platform.fetch),
      verify: 'none',
      shared: { publishableKey: shared.publishableKey, secretKey: shared.secretKey },
      baseUrl: idp.url(),
      logger: (...line) => void log.push(JSON.stringify(line)),
      ...dependencies,
    })

  beforeEach(() => {
    platform.reset()
    log.length = 0
    handle = handler()
  })
  // Secret keys and personal data appear only in outputs and responses.
  afterEach(() => {
    const reported = platform.calls.filter(({ path }) => !/\/(outputs|downloads\/\w+)$/.test(path))
    expect(log.join('\n') + JSON.stringify(reported)).not.toMatch(/sk_(test|live)_\w|@example|pass phrase/)
  })

  const send = (event: object, using = handle) => deliver(using, event)
  const deployment = () => platform.deployments.get('dep_1') ?? expect.fail('the platform has no dep_1')
  return {
    ...idp,
    platform,
    shared,
    own,
    ownInputs: { serverType: 'dedicated', publishableKey: own.publishableKey, secretKey: own.secretKey },
    handler,
    send,
    deployment,
    call: (name: string, given: object, rest: object = {}) =>
      send({ name: 'FUNCTION_CALL', functionCall: { name, arguments: given }, ...rest }),
    create(inputs: Record<string, unknown> = {}, using = handle) {
      platform.addDeployment({ id: 'dep_1', inputs })
      return send({ name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }, using)
    },
    statuses: () => deployment().statusHistory.map(({ status }) => status),
    /** The instances whose keys were used. */
    callers: () => idp.backend.calls.map(({ instanceId }) => instanceId),
  }
}
