/** `orphans.mjs` of the bundle, beside a host on the same SQLite file. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createFolder, credentials } from './hosted.ts'
import { bundle } from './shipped.ts'
import { surround } from './surrounded.ts'

const { variables, platform, workspace: provider, ship } = await surround()
const folder = createFolder()
const environment = { ...variables, DELIVERY_STORE: 'sqlite:deliveries.db' }
const host = ship({ environment, folder })

/** Runs the bundle in a process of its own, in the folder of the host. */
function runOrphans(parameters: readonly string[] = [], variables: Record<string, string> = {}) {
  const options = { cwd: folder, env: { ...environment, ...variables } }
  return new Promise<{ code: number | null; output: string; errors: string }>((resolve) => {
    const program = [join(bundle, 'orphans.mjs'), ...parameters]
    const child = execFile(process.execPath, program, options, (_, output, errors) =>
      resolve({ code: child.exitCode, output, errors }),
    )
  })
}

/** The output, and the orphans by the ids of their applications. */
async function findOrphans(...run: Parameters<typeof runOrphans>) {
  const { code, output, errors } = await runOrphans(...run)
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  const { orphans }: { orphans: { applicationId: string }[] } = JSON.parse(output)
  return { output, orphans: new Map(orphans.map(({ applicationId, ...facts }) => [applicationId, facts])) }
}

const event = (name: string, id: string, timestamp?: string, inputs = {}) => ({
  name,
  timestamp,
  deployment: { id, inputs: { applicationName: `Shop ${id}`, ...inputs } },
})

/** Deploys an application through a host. */
async function deploy(
  id: string,
  { by = host, timestamp, inputs }: { by?: typeof host; timestamp?: string; inputs?: object } = {},
) {
  platform.addDeployment({ id })
  const { body } = await by.send('idp-server', event('DEPLOYMENT_CREATED', id, timestamp, inputs))
  expect(body).toMatchObject({ status: 'running' })
  return String(Object(body).outputs.applicationId)
}

/** Deletes a deployment while the provider neither finds nor lists its application. */
async function removeInVain(id: string) {
  const body = { errors: [{ code: 'resource_not_found', message: 'not found' }] }
  provider.faults.add({ method: 'DELETE', status: 404, body })
  provider.faults.add({ method: 'GET', path: '/v1/platform/applications', status: 200, body: [] })
  await host.send('idp-server', event('DEPLOYMENT_DELETED', id, '2026-11-20T10:00:00Z'))
}

it('orphans.mjs lists the applications that belong to no deployment, with the reason, and changes nothing', async () => {
  const running = await deploy('running')
  const removed = await deploy('removed')
  platform.removeDeployment('removed')
  const stopped = await deploy('stopped')
  Object.assign(platform.deployments.get('stopped') ?? {}, { status: 'stopped' })
  const deleted = await deploy('deleted')
  await removeInVain('deleted')
  const replaced = await deploy('reused')
  await removeInVain('reused')
  const used = await deploy('reused', { timestamp: '2026-11-20T11:00:00Z' })
  const { applicationId: byHand } = provider.addApplication({ name: 'By \u001b[31mhand\u202e' }, 'host')
  const calls = provider.calls.length

  const { output, orphans } = await findOrphans()
  const orphaned = (reason: string) => expect.objectContaining({ state: 'orphaned', reason })
  expect(orphans).toEqual(
    new Map<string, unknown>([
      [removed, orphaned('The platform does not know its deployment removed.')],
      [stopped, orphaned('The platform shows its deployment stopped as stopped.')],
      [deleted, orphaned('Its deployment deleted was deleted.')],
      [replaced, orphaned(`Its deployment reused uses ${used}.`)],
      [byHand, expect.objectContaining({ state: 'unrecorded' })],
    ]),
  )
  expect(orphans.get(removed)).toMatchObject({ name: 'Shop removed', deploymentId: 'removed' })
  expect(output).not.toContain(running)
  // A name cannot change how a terminal shows the list.
  for (const character of ['\u001b', '\u202e']) expect(output).not.toContain(character)
  expect(provider.calls.slice(calls).map(({ method }) => method)).toEqual(['GET'])
})

it('orphans.mjs lists no application of a deployment that the platform publishes, if it is told the deployment', async () => {
  // Another host, with a store of its own.
  const application = await deploy('elsewhere', { by: ship() })
  expect((await findOrphans()).orphans.get(application)).toMatchObject({ state: 'unrecorded' })
  writeFileSync(join(folder, 'ids.txt'), 'running\r\nelsewhere\n\nnobody\n')
  expect((await findOrphans(['ids.txt'])).orphans.has(application)).toBe(false)
  platform.removeDeployment('elsewhere')
  expect((await findOrphans(['ids.txt'])).orphans.get(application)).toMatchObject({ state: 'unrecorded' })
})

it('orphans.mjs searches the workspace of the token that it is given', async () => {
  const { tenantAccessToken } = credentials
  await deploy('tenant', { inputs: { platformApiKey: tenantAccessToken } })
  const { applicationId: stranger } = provider.addApplication({ name: 'Stranger' }, 'tenant')
  const { orphans } = await findOrphans([], { IDP_PLATFORM_API_KEY: tenantAccessToken })
  expect([...orphans.keys()]).toEqual([stranger])
})

// At the same time, because each waits for a process of its own.
it.concurrent.each([
  ['without a token', { IDP_PLATFORM_API_KEY: '' }, 'IDP_PLATFORM_API_KEY is required'],
  ['with a token that the provider refuses', { IDP_PLATFORM_API_KEY: 'ak_wrong' }, 'does not accept'],
  ['with the store of no other process', { DELIVERY_STORE: 'memory:' }, 'memory:'],
  ['without its file', { DELIVERY_STORE: 'sqlite:elsewhere.db' }, 'there is no file elsewhere.db'],
  ['if the store is unreachable', { DELIVERY_STORE: 'redis://127.0.0.1:1' }, 'ECONNREFUSED'],
  ['if the platform refuses it', { PLATFORM_API_TOKEN: 'wrong-token' }, 'PLATFORM_API_TOKEN'],
])('orphans.mjs names nobody, and fails, %s', async (_, variables, message) => {
  const { code, output, errors } = await runOrphans([], variables)
  expect([code, output]).toEqual([1, ''])
  expect(errors).toContain(message)
  expect(errors).not.toMatch(/ak_wrong|wrong-token|at .*orphans\.mjs/)
})
