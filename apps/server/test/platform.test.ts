/** The platform’s side of the callbacks: docs/platform-api.json, and the platform that docs/platform-api.md shows. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PlatformCall, serve } from '@org/core/testing'
import { createValidator } from '@org/openapi-checks/validate'
import { writeExamples } from '@org/tooling/examples'
import { expect, it, onTestFinished, vi } from 'vitest'
import { calling, credentials, mail as message, startHost } from './hosted.ts'

const home = join(import.meta.dirname, '..')
const document = JSON.parse(await readFile(join(home, '../../docs/platform-api.json'), 'utf8'))
const validate = createValidator(document)

/** The differences between a callback and the document. */
function faultsOf({ method, path, body, idempotencyKey }: PlatformCall): string[] {
  const [, , id = '', kind, downloadId] = path.split('/')
  const template = `/deployments/{id}${kind ? `/${kind}` : ''}${downloadId ? '/{downloadId}' : ''}`
  const operation = document.paths[template]?.[method.toLowerCase()]
  if (!operation) return [`There is no ${method} ${template}.`]
  const schema: string | undefined = operation.requestBody?.content['application/json'].schema.$ref
  return [
    ...validate('#/components/parameters/DeploymentId/schema', decodeURIComponent(id)),
    ...(schema ? validate(schema, body) : []),
    ...(schema ? validate('#/components/parameters/IdempotencyKey/schema', idempotencyKey) : []),
  ].map((fault) => `${method} ${path}: ${fault}`)
}

it.each([
  ['mailer', { serverType: 'shared' }, calling('getDeliveryStats'), []],
  ['idp', { serverType: 'shared' }, calling('countUsers'), ['downloads']],
  ['idp-server', { applicationName: 'Shop' }, calling('countUsers'), ['downloads']],
])(
  'the callbacks over the life of a deployment of /%s fit docs/platform-api.json',
  async (route, inputs, call, more) => {
    const { world, send } = startHost()
    const deployment = { id: 'dep/ü 1' }
    world.platform.addDeployment({ ...deployment, inputs })
    const invalid = { ...deployment, inputs: { serverType: 'nonsense', environmentType: 'nonsense' } }
    const events = [
      { name: 'DEPLOYMENT_CREATED', deployment: invalid },
      ...['DEPLOYMENT_CREATED', 'HEALTH_CHECK', 'METRIC_UPDATE'].map((name) => ({ name, deployment })),
      { name: 'DOWNLOAD_STARTED', deployment, download: { id: 'dl 1/ü' } },
      { ...call, deployment },
      { ...calling('nonsense'), deployment },
      { name: 'DEPLOYMENT_DELETED', deployment },
    ]
    for (const [index, event] of events.entries()) await send(route, event, { id: `evt ü ${index}` })
    const { calls } = world.platform
    expect(calls.flatMap(faultsOf)).toEqual([])
    const kinds = new Set(calls.map(({ path }) => path.split('/')[3] ?? 'record'))
    expect(kinds).toEqual(new Set(['record', 'status', 'outputs', 'metrics', 'logs', ...more]))
  },
)

it('the platform of docs/platform-api.md serves a host: deployments, reports, function calls and retries', async () => {
  const { platformToken, webhookSecret } = credentials
  const hostServer = await serve((request) => handle(request))
  onTestFinished(() => hostServer.close())
  vi.stubEnv('HOST_URL', hostServer.url)
  vi.stubEnv('PORT', '0')
  vi.stubEnv('PLATFORM_API_TOKEN', platformToken)
  vi.stubEnv('PLATFORM_WEBHOOK_SECRET', webhookSecret)
  onTestFinished(() => void vi.unstubAllEnvs())
  const [example] = await writeExamples(home, ['../../docs/platform-api.md'], 'readme')
  const { deployments, send, server } = await import(example?.path ?? '')
  onTestFinished(() => server.close().closeAllConnections())
  const platform = `http://127.0.0.1:${server.address().port}`
  const { host, world } = startHost({
    variables: { PLATFORM_API_URL: platform, PLATFORM_WEBHOOK_SECRET: webhookSecret },
  })
  const handle = async (request: Request) => host.fetch(request)
  world.overrides.set(new URL(platform).host, ({ url, method, headers, text }) =>
    fetch(url, { method, headers, ...(text && { body: text }) }),
  )
  deployments.set('dep_1', { id: 'dep_1', inputs: { serverType: 'shared' } })
  const deployment = { id: 'dep_1' }
  const created = { name: 'DEPLOYMENT_CREATED', deployment }
  await send('mailer', { ...created, deployment: { ...deployment, inputs: { fromEmail: 'nobody' } } })
  expect(deployments.get('dep_1')).toMatchObject({ status: 'failed', message: expect.any(String) })
  expect(await send('mailer', created)).toMatchObject({ status: 'running' })
  expect(deployments.get('dep_1')).toMatchObject({ status: 'running', message: undefined })
  await send('mailer', { name: 'METRIC_UPDATE', deployment })
  // The provider asks to wait for no time at all, so that nobody waits.
  world.mail.faults.add({ status: 429, headers: { 'retry-after': '0' }, times: 4 })
  expect(await send('mailer', { ...calling('sendEmail', message), deployment })).toHaveProperty(
    'result.messageId',
  )
  expect(world.mail.messages).toHaveLength(1)
  expect(await send('mailer', { name: 'DEPLOYMENT_DELETED', deployment })).toEqual({ status: 'stopped' })
  expect(deployments.get('dep_1')).toMatchObject({
    status: 'stopped',
    outputs: { fromEmail: 'shop@example.com' },
    sensitive: ['apiToken'],
    metrics: expect.arrayContaining([expect.objectContaining({ name: 'emails_sent' })]),
    logs: expect.arrayContaining([expect.objectContaining({ level: 'info' })]),
  })
  const repeated = {
    method: 'POST',
    headers: { authorization: `Bearer ${platformToken}`, 'idempotency-key': 'evt:logs.00000000' },
    body: JSON.stringify({ entries: [{ level: 'info', message: 'Once.', timestamp: 'now' }] }),
  }
  for (const _ of [1, 2])
    expect((await fetch(`${platform}/deployments/dep_1/logs`, repeated)).status).toBe(200)
  const { logs } = deployments.get('dep_1')
  expect(logs.filter(({ message }: { message: string }) => message === 'Once.')).toHaveLength(1)
})
