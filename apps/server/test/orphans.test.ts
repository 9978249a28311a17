import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPlatformEmulator, serve } from '@org/core/testing'
import { createPlatformApi } from '@org/idp-server/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { hasRedis, startRedis } from '../../../bench/chaos/redis.ts'
import { bundle, createFolder, type Shipped, startShipped } from './shipped.ts'

const key = 'ak_of_the_workspace'
const tenantKey = 'ak_of_a_tenant'
const platform = createPlatformEmulator({ token: 'platform-token' })
const provider = createPlatformApi({
  accessTokens: [key, tenantKey],
  workspaces: { [key]: 'host', [tenantKey]: 'tenant' },
})
const folder = createFolder()
const servers = await Promise.all([platform, provider].map((each) => serve(each.fetch)))
afterAll(() => Promise.all(servers.map((server) => server.close())))
const [platformUrl = '', providerUrl = ''] = servers.map(({ url }) => url)
const environment: Record<string, string> = {
  PLATFORM_API_URL: platformUrl,
  PLATFORM_API_TOKEN: 'platform-token',
  IDP_PLATFORM_API_KEY: key,
  IDP_PLATFORM_API_BASE: `${providerUrl}/v1`,
  IDP_API_BASE: `${providerUrl}/v1`,
  DELIVERY_STORE: 'sqlite:deliveries.db',
}
const host = startShipped({ environment, folder })
afterAll(async () => {
  host.kill('SIGKILL')
  await host.exit
})

/** Runs the bundle in a process of its own, beside the host. */
function runOrphans(flags: readonly string[] = [], variables: Record<string, string> = {}) {
  const env = { ...environment, ...variables }
  return new Promise<{ code: number | null; output: string; errors: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [join(bundle, 'orphans.mjs'), ...flags],
      { cwd: folder, env },
      (_, output, errors) => resolve({ code: child.exitCode, output, errors }),
    )
  })
}

async function findOrphans(flags: readonly string[] = [], variables: Record<string, string> = {}) {
  const { code, output, errors } = await runOrphans(flags, variables)
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  return JSON.parse(output)
}

interface DeployOptions {
  by?: Shipped
  timestamp?: string
  inputs?: Record<string, string>
}

/** Deploys an application through a host. */
async function deploy(id: string, { by = host, timestamp, inputs }: DeployOptions = {}) {
  const deployment = { id, inputs: { applicationName: `Shop ${id}`, ...inputs } }
  platform.addDeployment(deployment)
  const { status, body } = await send({ name: 'DEPLOYMENT_CREATED', timestamp, deployment }, by)
  expect({ status, body }).toMatchObject({ status: 200 })
  return String(Object(body).outputs.applicationId)
}

/** Deletes a deployment while the provider neither finds nor lists its application. */
async function removeInVain(id: string, timestamp: string) {
  const body = { errors: [{ code: 'resource_not_found', message: 'not found' }] }
  provider.faults.add({ method: 'DELETE', status: 404, body })
  provider.faults.add({ method: 'GET', path: '/v1/platform/applications', status: 200, body: [] })
  const { body: answer } = await send({ name: 'DEPLOYMENT_DELETED', timestamp, deployment: { id } })
  expect(answer).toEqual({ status: 'stopped' })
}

const send = (event: object, by = host) => by.send('idp-server', event)

describe('orphans.mjs', () => {
  it('lists the applications that belong to no deployment, with the reason, and deletes nothing', async () => {
    const running = await deploy('running')
    const removed = await deploy('removed')
    platform.removeDeployment('removed')
    const stopped = await deploy('stopped')
    const shown = platform.deployments.get('stopped')
    if (shown) shown.status = 'stopped'
    const deleted = await deploy('deleted')
    await removeInVain('deleted', '2026-11-20T10:00:00Z')
    const replaced = await deploy('reused')
    await removeInVain('reused', '2026-11-20T10:00:00Z')
    const used = await deploy('reused', { timestamp: '2026-11-20T11:00:00Z' })
    const { applicationId: byHand } = provider.addApplication({ name: 'By \u001b[31mhand\u202e' }, 'host')
    const calls = provider.calls.length

    const report = await findOrphans()
    expect(report).toMatchObject({ applications: 7 })
    expect(report.orphans).toEqual([
      {
        applicationId: removed,
        name: 'Shop removed',
        state: 'orphaned',
        deploymentId: 'removed',
        reason: 'The platform does not know its deployment removed.',
      },
      expect.objectContaining({
        applicationId: stopped,
        state: 'orphaned',
        reason: 'The platform shows its deployment stopped as stopped.',
      }),
      expect.objectContaining({
        applicationId: deleted,
        state: 'orphaned',
        reason: 'Its deployment deleted was deleted.',
      }),
      expect.objectContaining({
        applicationId: replaced,
        state: 'orphaned',
        reason: `Its deployment reused uses ${used}.`,
      }),
      expect.objectContaining({ applicationId: byHand, state: 'unrecorded' }),
    ])
    const { code, output } = await runOrphans()
    expect(code).toBe(0)
    for (const id of [removed, stopped, deleted, replaced, byHand]) expect(output).toContain(id)
    expect(output).not.toContain(running)
    // A name cannot change how a terminal shows the list.
    for (const character of ['\u001b', '\u202e']) expect(output).not.toContain(character)
    expect(provider.calls.slice(calls).map(({ method }) => method)).toEqual(['GET', 'GET'])
    expect(provider.applications.size).toBe(7)
  })

  it('lists the application of a create that took effect after the host gave up', async () => {
    const inputs = { applicationName: 'Late' }
    platform.addDeployment({ id: 'late', inputs })
    provider.faults.add({ method: 'POST', path: '/v1/platform/applications', cut: 'before' })
    const created = await send({ name: 'DEPLOYMENT_CREATED', deployment: { id: 'late', inputs } })
    expect(created.status).toBe(504)
    const { applicationId } = provider.addApplication({ name: 'Late' }, 'host')
    const { orphans } = await findOrphans()
    expect(orphans).toContainEqual(expect.objectContaining({ applicationId, name: 'Late' }))
  })

  it('lists no application of a deployment that the platform publishes, if it is told the deployment', async () => {
    // Another host, with a store of its own.
    const other = startShipped({ environment: { ...environment, DELIVERY_STORE: 'memory:' } })
    const application = await deploy('elsewhere', { by: other })
    other.kill('SIGKILL')
    await other.exit
    const unrecorded = expect.objectContaining({ applicationId: application, state: 'unrecorded' })
    expect((await findOrphans()).orphans).toContainEqual(unrecorded)

    writeFileSync(join(folder, 'ids.txt'), 'running\r\nelsewhere\n\nnobody\n')
    const { orphans } = await findOrphans(['ids.txt'])
    expect(orphans.map(({ applicationId }: { applicationId: string }) => applicationId)).not.toContain(
      application,
    )
    platform.removeDeployment('elsewhere')
    expect((await findOrphans(['ids.txt'])).orphans).toContainEqual(unrecorded)
  })

  it('searches the workspace of the token that it is given', async () => {
    const application = await deploy('tenant', { inputs: { platformApiKey: tenantKey } })
    const { applicationId: stranger } = provider.addApplication({ name: 'Stranger' }, 'tenant')
    const { applications, orphans } = await findOrphans([], { IDP_PLATFORM_API_KEY: tenantKey })
    expect([applications, orphans]).toMatchObject([2, [{ applicationId: stranger }]])
    expect((await findOrphans()).orphans).not.toContainEqual(
      expect.objectContaining({ applicationId: application }),
    )
  })

  it.skipIf(!hasRedis)('reads the record of a host on Redis', async () => {
    const redis = await startRedis()
    const variables = { DELIVERY_STORE: redis.url }
    const other = startShipped({ environment: { ...environment, ...variables } })
    try {
      // A host listens before it has reached its store: an event is 503 until then.
      const readiness = `${await other.url}/readyz`
      await expect.poll(async () => (await fetch(readiness)).status).toBe(200)
      const application = await deploy('redis', { by: other })
      const { orphans } = await findOrphans([], variables)
      expect(JSON.stringify(orphans)).not.toContain(application)
    } finally {
      other.kill('SIGKILL')
      await other.exit
      await redis.close()
    }
  })
})

// At the same time, because each waits for a process of its own.
describe.concurrent('orphans.mjs names nobody, and fails,', () => {
  it.each([
    ['without a token', { IDP_PLATFORM_API_KEY: '' }, 'IDP_PLATFORM_API_KEY is required'],
    ['with a token that the provider refuses', { IDP_PLATFORM_API_KEY: 'ak_wrong' }, 'does not accept'],
    ['with the store of no other process', { DELIVERY_STORE: 'memory:' }, 'memory:'],
    [
      'with a file that is not there',
      { DELIVERY_STORE: 'sqlite:elsewhere.db' },
      'there is no file elsewhere.db',
    ],
    ['if the store is unreachable', { DELIVERY_STORE: 'redis://127.0.0.1:1' }, 'ECONNREFUSED'],
    ['if the platform refuses it', { PLATFORM_API_TOKEN: 'wrong-token' }, 'PLATFORM_API_TOKEN'],
    ['if the platform is unreachable', { PLATFORM_API_URL: 'http://127.0.0.1:1' }, 'PLATFORM_API_URL'],
  ])('%s', async (_, variables, message) => {
    const { code, output, errors } = await runOrphans([], variables)
    expect([code, output]).toEqual([1, ''])
    expect(errors).toContain(message)
    expect(errors).not.toMatch(/ak_wrong|wrong-token|at .*orphans\.mjs/)
  })
})
