import {
  connectPlatform,
  createPlatformEmulator,
  deliver,
  type EmulatedDeployment,
  type PlatformEmulator,
} from '@org/core/testing'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { createHandler } from '../src/webhook.ts'
import { hostToken, type PlatformFixture, runPlatformApi, tenantToken } from './support.ts'

type Dependencies = Parameters<typeof createHandler>[0]

/** The webhook handler between the provider over real HTTP and the platform. */
export interface WebhookFixture extends PlatformFixture {
  platform: PlatformEmulator
  /** Makes a handler with the host's token. */
  handler(dependencies?: Partial<Dependencies>): ReturnType<typeof createHandler>
  /** Delivers an event. All events of a test go to one handler. */
  send(event: object, id?: string): ReturnType<typeof deliver>
  /** Adds `dep_1` to the platform, and delivers its DEPLOYMENT_CREATED with these inputs and a name. */
  create(inputs?: Record<string, unknown>, id?: string): ReturnType<typeof deliver>
  /** Delivers a DEPLOYMENT_DELETED with no more than the deployment's id. */
  remove(id?: string): ReturnType<typeof deliver>
  /** The platform's record of `dep_1`. */
  deployment(): EmulatedDeployment | undefined
  statuses(): string[]
  /** The messages of the deployment's log at one level. */
  logged(level: 'info' | 'warn' | 'error'): string[]
}

/** Starts platform and provider for a test file, and resets them before each test. */
export function runWebhook(): WebhookFixture {
  const provider = runPlatformApi()
  const platform = createPlatformEmulator()
  const log: string[] = []
  let handle: ReturnType<typeof createHandler>

  const handler = (dependencies: Partial<Dependencies> = {}) =>
    createHandler({
      platform: connectPlatform(platform.fetch),
      platformApiKey: hostToken,
      platformBaseUrl: provider.url,
      baseUrl: provider.url,
      logger: (...line) => void log.push(JSON.stringify(line)),
      ...dependencies,
    })

  beforeEach(() => {
    platform.reset()
    log.length = 0
    handle = handler()
    // The pause between two attempts is random: this makes it zero.
    vi.spyOn(Math, 'random').mockReturnValue(0)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    const told = platform.calls.filter(({ path }) => !/\/(outputs|downloads\/[^/]+)$/.test(path))
    const everything = log.join('\n') + JSON.stringify(told)
    expect(everything).not.toMatch(/sk_(test|live)_/)
    for (const token of [hostToken, tenantToken]) expect(everything).not.toContain(token)
  })

  const send: WebhookFixture['send'] = (event, id) => deliver((request) => handle(request), event, { id })
  const deployment = () => platform.deployments.get('dep_1')

  return Object.assign(provider, {
    platform,
    handler,
    send,
    deployment,
    create(inputs = {}, id) {
      const all = { applicationName: 'Shop', ...inputs }
      if (!deployment()) platform.addDeployment({ id: 'dep_1', inputs: all })
      return send({ name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs: all } }, id)
    },
    remove: (id) => send({ name: 'DEPLOYMENT_DELETED', deployment: { id: 'dep_1' } }, id),
    statuses: () => deployment()?.statusHistory.map(({ status }) => status) ?? [],
    logged: (level) =>
      deployment()?.logs.flatMap((entry) => (entry.level === level ? entry.message : [])) ?? [],
  } satisfies Omit<WebhookFixture, keyof PlatformFixture>)
}
