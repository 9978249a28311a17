import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { afterEach, beforeEach, expect } from 'vitest'
import { createHandler } from '../src/webhook.ts'
import { runIdp } from './support.ts'

type Dependencies = Parameters<typeof createHandler>[0]

/** Starts platform and provider for a test file, and resets them before each test. */
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
      shared: { publishableKey: shared.publishableKey, secretKey: shared.secretKey },
      baseUrl: idp.url,
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

  const send = (event: object, id?: string) => deliver((request) => handle(request), event, { id })
  const deployment = () => platform.deployments.get('dep_1') ?? expect.fail('the platform has no dep_1')
  return Object.assign(idp, {
    platform,
    shared,
    own,
    ownInputs: { serverType: 'dedicated', publishableKey: own.publishableKey, secretKey: own.secretKey },
    handler,
    send,
    deployment,
    call: (name: string, given: object, id?: string) =>
      send({ name: 'FUNCTION_CALL', functionCall: { name, arguments: given } }, id),
    create(inputs: Record<string, unknown> = {}, using = handle) {
      platform.addDeployment({ id: 'dep_1', inputs })
      return deliver(using, { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } })
    },
    statuses: () => deployment().statusHistory.map(({ status }) => status),
    callers: () => idp.backend.calls.map(({ instanceId }) => instanceId),
  })
}
