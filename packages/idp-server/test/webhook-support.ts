import {
  connectPlatform,
  createPlatformEmulator,
  deliver,
  type EmulatedDeployment,
  type PlatformEmulator,
} from '@org/core/testing'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { createHandler } from '../src/webhook.ts'
import { type Arrangement, hostToken, runPlatformApi, tenantToken } from './support.ts'

type Dependencies = Parameters<typeof createHandler>[0]

/** Provisioning as a webhook, between the provider over real HTTP and a platform. */
export interface WebhookArrangement extends Arrangement {
  platform: PlatformEmulator
  /** A handler with the host's own token, whatever else it is given. */
  handler(dependencies?: Partial<Dependencies>): ReturnType<typeof createHandler>
  /** Delivers an event to one handler for the whole test. */
  send(event: object, id?: string): ReturnType<typeof deliver>
  /** Creates the deployment, which the platform knows, with these inputs beside its name. */
  create(inputs?: Record<string, unknown>, id?: string): ReturnType<typeof deliver>
  /** Deletes the deployment with an event that carries no more than its id. */
  remove(id?: string): ReturnType<typeof deliver>
  /** What the platform knows of the deployment. */
  deployment(): EmulatedDeployment | undefined
  statuses(): string[]
  /** The messages of the deployment's log at one level. */
  logged(level: 'info' | 'warn' | 'error'): string[]
}

/** Runs platform and provider for a test file; they start each test as new. */
export function runWebhook(): WebhookArrangement {
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
    // The pause between two tries is random, up to a limit: this makes it none.
    vi.spyOn(Math, 'random').mockReturnValue(0)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    const told = platform.calls.filter(({ path }) => !/\/(outputs|downloads\/[^/]+)$/.test(path))
    const everything = log.join('\n') + JSON.stringify(told)
    expect(everything).not.toMatch(/sk_(test|live)_/)
    for (const token of [hostToken, tenantToken]) expect(everything).not.toContain(token)
  })

  const send: WebhookArrangement['send'] = (event, id) => deliver((request) => handle(request), event, { id })
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
  } satisfies Omit<WebhookArrangement, keyof Arrangement>)
}
