import {
  connectPlatform,
  createPlatformEmulator,
  type DeliveryAnswer,
  deliver,
  type EmulatedDeployment,
  type PlatformEmulator,
} from '@org/core/testing'
import { afterEach, beforeEach, expect } from 'vitest'
import type { IdpInstance } from '../src/testing/index.ts'
import { createHandler } from '../src/webhook.ts'
import { type IdpFixture, runIdp } from './support.ts'

type Dependencies = Parameters<typeof createHandler>[0]
type Handler = ReturnType<typeof createHandler>

/** The webhook handler between the provider over real HTTP and the platform. */
export interface WebhookFixture extends IdpFixture {
  platform: PlatformEmulator
  /** The shared application. */
  shared: IdpInstance
  /** The application of a dedicated deployment. */
  own: IdpInstance
  /** The keys of {@link own}, as inputs of a dedicated deployment. */
  readonly ownInputs: { serverType: string; publishableKey: string; secretKey: string }
  handler(dependencies?: Partial<Dependencies>): Handler
  /** Delivers an event. All events of a test go to one handler. */
  send(event: object, id?: string): Promise<DeliveryAnswer>
  /** Calls a function without a deployment, through {@link send}. */
  call(name: string, given: object, id?: string): Promise<DeliveryAnswer>
  /** Adds the deployment `dep_1` to the platform, and delivers its DEPLOYMENT_CREATED. */
  create(inputs?: Record<string, unknown>, handler?: Handler): Promise<DeliveryAnswer>
  /** The platform's record of `dep_1`. */
  deployment(): EmulatedDeployment
  statuses(): string[]
  /** The instance of each call to the provider, by its key. */
  callers(): (string | undefined)[]
}

/** Starts platform and provider for a test file, and resets them before each test. */
export function runWebhook(): WebhookFixture {
  const idp = runIdp({}, { environmentType: 'production' })
  const [shared, own] = [...idp.backend.instances.values()]
  if (!shared || !own) throw new Error('The emulator starts with two instances.')
  const platform = createPlatformEmulator()
  const log: string[] = []
  let handle: Handler

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
    const told = platform.calls.filter(({ path }) => !/\/(outputs|downloads\/\w+)$/.test(path))
    expect(log.join('\n') + JSON.stringify(told)).not.toMatch(/sk_(test|live)_\w|@example|pass phrase/)
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
