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

/** Runs the program in the folder of the host. */
function runOrphans(variables: Record<string, string> = {}, ...parameters: string[]) {
  const options = { cwd: folder, env: { ...environment, ...variables } }
  return new Promise<{ code: number | null; output: string; errors: string }>((resolve) => {
    const program = [join(bundle, 'orphans.mjs'), ...parameters]
    const child = execFile(process.execPath, program, options, (_, output, errors) =>
      resolve({ code: child.exitCode, output, errors }),
    )
  })
}

/** The orphans, by the ids of their applications. */
async function findOrphans(...run: Parameters<typeof runOrphans>): Promise<Record<string, unknown>> {
  const { code, output, errors } = await runOrphans(...run)
  expect([code, errors]).toEqual([0, ''])
  // A name cannot change how a terminal shows the list.
  for (const character of ['\u001b', '\u202e']) expect(output).not.toContain(character)
  const { orphans }: { orphans: { applicationId: string }[] } = JSON.parse(output)
  return Object.fromEntries(orphans.map(({ applicationId, ...facts }) => [applicationId, facts]))
}

/** Deploys an application through a host. */
async function deploy(id: string, { by = host, timestamp = '', inputs = {} } = {}): Promise<string> {
  platform.addDeployment({ id })
  const deployment = { id, inputs: { applicationName: `Shop ${id}`, ...inputs } }
  const event = { name: 'DEPLOYMENT_CREATED', deployment, ...(timestamp && { timestamp }) }
  const { body } = await by.send('idp-server', event)
  expect(body).toMatchObject({ status: 'running' })
  return Object(body).outputs.applicationId
}

/** Deletes a deployment while the provider neither finds nor lists its application. */
async function removeInVain(id: string) {
  const body = { errors: [{ code: 'resource_not_found', message: 'not found' }] }
  provider.faults.add({ method: 'DELETE', status: 404, body })
  provider.faults.add({ method: 'GET', path: '/v1/platform/applications', status: 200, body: [] })
  const deployment = { id, inputs: { applicationName: `Shop ${id}` } }
  const event = { name: 'DEPLOYMENT_DELETED', timestamp: '2026-11-20T10:00:00Z', deployment }
  await host.send('idp-server', event)
}

const unrecorded = expect.objectContaining({ state: 'unrecorded' })

it('orphans.mjs lists the applications that belong to no deployment, with the reason, and changes nothing', async () => {
  await deploy('running')
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

  const orphaned = (reason: string, facts = {}) =>
    expect.objectContaining({ state: 'orphaned', reason, ...facts })
  expect(await findOrphans()).toEqual({
    [removed]: orphaned('The platform does not know its deployment removed.', {
      name: 'Shop removed',
      deploymentId: 'removed',
    }),
    [stopped]: orphaned('The platform shows its deployment stopped as stopped.'),
    [deleted]: orphaned('Its deployment deleted was deleted.'),
    [replaced]: orphaned(`Its deployment reused uses ${used}.`),
    [byHand]: unrecorded,
  })
  expect(provider.calls.slice(calls).map(({ method }) => method)).toEqual(['GET'])
})

it('orphans.mjs lists no application of a deployment that the platform publishes, if it is told the deployment', async () => {
  // Another host, with a store of its own.
  const application = await deploy('elsewhere', { by: ship() })
  expect(await findOrphans()).toHaveProperty(application, unrecorded)
  writeFileSync(join(folder, 'ids.txt'), 'running\r\nelsewhere\n\nnobody\n')
  expect(await findOrphans({}, 'ids.txt')).not.toHaveProperty(application)
  platform.removeDeployment('elsewhere')
  expect(await findOrphans({}, 'ids.txt')).toHaveProperty(application, unrecorded)
})

it('orphans.mjs searches the workspace of the token that it is given', async () => {
  const { tenantAccessToken: IDP_PLATFORM_API_KEY } = credentials
  await deploy('tenant', { inputs: { platformApiKey: IDP_PLATFORM_API_KEY } })
  const { applicationId } = provider.addApplication({ name: 'Stranger' }, 'tenant')
  expect(Object.keys(await findOrphans({ IDP_PLATFORM_API_KEY }))).toEqual([applicationId])
})

// At the same time, because each waits for a process of its own.
it.concurrent.each([
  ['without a token', { IDP_PLATFORM_API_KEY: '' }, 'IDP_PLATFORM_API_KEY is required'],
  ['with the store of no other process', { DELIVERY_STORE: 'memory:' }, 'memory:'],
  ['without its file', { DELIVERY_STORE: 'sqlite:elsewhere.db' }, 'there is no file elsewhere.db'],
  ['if the store is unreachable', { DELIVERY_STORE: 'redis://127.0.0.1:1' }, 'ECONNREFUSED'],
  ['if the platform refuses it', { PLATFORM_API_TOKEN: 'wrong-token' }, 'PLATFORM_API_TOKEN'],
])('orphans.mjs names nobody, and fails, %s', async (_, variables, message) => {
  const { code, output, errors } = await runOrphans(variables)
  expect([code, output]).toEqual([1, ''])
  expect(errors).toContain(message)
  expect(errors).not.toMatch(/wrong-token|at .*orphans\.mjs/)
})
