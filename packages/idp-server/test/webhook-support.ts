import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { createHandler } from '../src/webhook.ts'
import { applicationsPath, hostToken, runPlatformApi, tenantToken } from './support.ts'

type Dependencies = Parameters<typeof createHandler>[0]

/** Starts platform and provider for a test file, and resets them before each test. */
export function runWebhook() {
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
    const reported = platform.calls.filter(({ path }) => !/\/(outputs|downloads\/[^/]+)$/.test(path))
    const everything = log.join('\n') + JSON.stringify(reported)
    expect(everything).not.toMatch(/sk_(test|live)_/)
    for (const token of [hostToken, tenantToken]) expect(everything).not.toContain(token)
  })

  const send = (event: object, id?: string) => deliver((request) => handle(request), event, { id })
  const deployment = () => platform.deployments.get('dep_1')

  return Object.assign(provider, {
    platform,
    handler,
    send,
    deployment,
    /** The number of creates that the provider received. */
    creates: () => provider.asked().filter((request) => request === `POST ${applicationsPath}`).length,
    /** Adds `dep_1` to the platform, and delivers its DEPLOYMENT_CREATED with these inputs and a name. */
    create(inputs: Record<string, unknown> = {}, id?: string) {
      const all = { applicationName: 'Shop', ...inputs }
      if (!deployment()) platform.addDeployment({ id: 'dep_1', inputs: all })
      return send({ name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs: all } }, id)
    },
    remove: (id?: string) => send({ name: 'DEPLOYMENT_DELETED', deployment: { id: 'dep_1' } }, id),
    statuses: () => deployment()?.statusHistory.map(({ status }) => status) ?? [],
    logged: (level: 'info' | 'warn' | 'error') =>
      deployment()?.logs.flatMap((entry) => (entry.level === level ? entry.message : [])) ?? [],
  })
}
