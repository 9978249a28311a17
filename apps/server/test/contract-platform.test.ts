import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PlatformCall, serve } from '@org/core/testing'
import { createValidator } from '@org/openapi-checks/validate'
import { writeExamples } from '@org/tooling/examples'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { calling, credentials, mail as message, startHost } from './hosted.ts'

const home = join(import.meta.dirname, '..')
const document = JSON.parse(await readFile(join(home, '../../docs/platform-api.json'), 'utf8'))

describe('the callbacks of a host', () => {
  const validate = createValidator(document)
  const lives = {
    mailer: { inputs: { serverType: 'shared' }, call: calling('getDeliveryStats', {}) },
    idp: {
      inputs: { serverType: 'shared' },
      call: calling('createUser', { emailAddress: 'ada@example.com', password: 'correct horse' }),
    },
    'idp-server': { inputs: { applicationName: 'Shop' }, call: calling('countUsers', {}) },
  }

  /** The differences between a call and the document, as lines. */
  function faultsOf({ method, path, body, idempotencyKey }: PlatformCall): string[] {
    const [, , id = '', kind, downloadId] = path.split('/')
    const template = `/deployments/{id}${kind ? `/${kind}` : ''}${downloadId ? '/{downloadId}' : ''}`
    const operation = document.paths[template]?.[method.toLowerCase()]
    if (!operation) return [`There is no ${method} ${template}.`]
    const reference: string | undefined = operation.requestBody?.content['application/json'].schema.$ref
    const checks: [string, unknown][] = [
      ['#/components/parameters/DeploymentId/schema', decodeURIComponent(id)],
    ]
    if (reference)
      checks.push(['#/components/parameters/IdempotencyKey/schema', idempotencyKey], [reference, body])
    return checks.flatMap((check) => validate(...check)).map((fault) => `${method} ${path}: ${fault}`)
  }

  it.each(Object.entries(lives))(
    'match the platform’s document over the life of a deployment of /%s',
    async (route, { inputs, call }) => {
      const { world, send } = startHost()
      const deployment = { id: 'dep/ü 1' }
      world.platform.addDeployment({ ...deployment, inputs })
      const invalid = { ...deployment, inputs: { serverType: 'nonsense', environmentType: 'nonsense' } }
      const events = [
        { name: 'DEPLOYMENT_CREATED', deployment: invalid },
        { name: 'DEPLOYMENT_CREATED', deployment },
        { name: 'HEALTH_CHECK', deployment },
        { name: 'METRIC_UPDATE', deployment },
        { name: 'DOWNLOAD_STARTED', deployment, download: { id: 'dl 1/ü' } },
        { ...call, deployment },
        { ...calling(call.functionCall.name, { nonsense: 1 }), deployment },
        { name: 'DEPLOYMENT_DELETED', deployment },
      ]
      for (const [index, event] of events.entries()) await send(route, event, { id: `evt ü ${index}` })
      const { calls } = world.platform
      expect(calls.flatMap(faultsOf)).toEqual([])
      const kinds = new Set(calls.map(({ path }) => path.split('/')[3] ?? 'record'))
      const files = route === 'mailer' ? [] : ['downloads']
      expect(kinds).toEqual(new Set(['record', 'status', 'outputs', 'metrics', 'logs', ...files]))
    },
  )
})

describe('the platform of docs/platform-api.md', async () => {
  const [example] = await writeExamples(home, ['../../docs/platform-api.md'], 'readme')
  const { platformToken, webhookSecret } = credentials
  afterAll(() => void vi.unstubAllEnvs())

  it('serves a host: deployments, reports, function calls and retries', async () => {
    let handle: (request: Request) => Promise<Response>
    const hostServer = await serve((request) => handle(request))
    vi.stubEnv('HOST_URL', hostServer.url)
    vi.stubEnv('PORT', '0')
    vi.stubEnv('PLATFORM_API_TOKEN', platformToken)
    vi.stubEnv('PLATFORM_WEBHOOK_SECRET', webhookSecret)
    const { deployments, send, server } = await import(example?.path ?? '')
    const platform = `http://127.0.0.1:${server.address().port}`
    const { host, world } = startHost({
      variables: { PLATFORM_API_URL: platform, PLATFORM_WEBHOOK_SECRET: webhookSecret },
    })
    handle = async (request) => host.fetch(request)
    world.overrides.set(new URL(platform).host, ({ url, method, headers, text }) =>
      fetch(url, { method, headers, ...(text && { body: text }) }),
    )
    const { mail } = world
    deployments.set('dep_1', { id: 'dep_1', inputs: { serverType: 'shared' } })

    const deployment = { id: 'dep_1' }
    const inputs = { fromEmail: 'nobody' }
    await send('mailer', { name: 'DEPLOYMENT_CREATED', deployment: { ...deployment, inputs } })
    expect(deployments.get('dep_1')).toMatchObject({ status: 'failed', message: expect.any(String) })
    expect(await send('mailer', { name: 'DEPLOYMENT_CREATED', deployment })).toMatchObject({
      status: 'running',
    })
    expect(deployments.get('dep_1')).toMatchObject({ status: 'running', message: undefined })
    await send('mailer', { name: 'METRIC_UPDATE', deployment })
    // The provider asks to wait for no time at all, so that nobody waits.
    mail.faults.add({ status: 429, headers: { 'retry-after': '0' }, times: 4 })
    const sent = { ...calling('sendEmail', message), deployment }
    expect(await send('mailer', sent)).toHaveProperty('result.messageId')
    expect(mail.messages).toHaveLength(1)
    expect(await send('mailer', { name: 'DEPLOYMENT_DELETED', deployment })).toEqual({ status: 'stopped' })

    expect(deployments.get('dep_1')).toMatchObject({
      status: 'stopped',
      outputs: { fromEmail: 'shop@example.com' },
      sensitive: ['apiToken'],
      metrics: expect.arrayContaining([expect.objectContaining({ name: 'emails_sent' })]),
      logs: expect.arrayContaining([expect.objectContaining({ level: 'info' })]),
    })
    const authorization = `Bearer ${platformToken}`
    const repeated = {
      method: 'POST',
      headers: { authorization, 'idempotency-key': 'evt:logs.00000000' },
      body: JSON.stringify({ entries: [{ level: 'info', message: 'Once.', timestamp: 'now' }] }),
    }
    for (const _ of [1, 2])
      expect((await fetch(`${platform}/deployments/dep_1/logs`, repeated)).status).toBe(200)
    const { logs } = deployments.get('dep_1')
    expect(logs.filter(({ message }: { message: string }) => message === 'Once.')).toHaveLength(1)
    server.close().closeAllConnections()
    await hostServer.close()
  })
})
