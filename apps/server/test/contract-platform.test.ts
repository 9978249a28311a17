import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deliver, type PlatformCall, type Served, serve } from '@org/core/testing'
import { createMailProvider } from '@org/mailer/testing'
import { createValidator } from '@org/openapi-checks/validate'
import { prepareExamples } from '@org/tooling/readme'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createHost, readConfig } from '../src/host.ts'
import { createWorld, credentials } from './hosted.ts'
import { calling, mail as message } from './measured.ts'

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

  /** The differences between a call and the document. */
  function faultsOf({ method, path, body, idempotencyKey }: PlatformCall): string[] {
    const [, , id = '', kind, downloadId] = path.split('/')
    const template = `/deployments/{id}${kind ? `/${kind}` : ''}${downloadId ? '/{downloadId}' : ''}`
    const operation = document.paths[template]?.[method.toLowerCase()]
    if (!operation) return [`There is no ${method} ${template}.`]
    const reference: string | undefined = operation.requestBody?.content['application/json'].schema.$ref
    const parameter = (name: string, value: unknown) =>
      validate(`#/components/parameters/${name}/schema`, value)
    const ofBody = reference
      ? [...parameter('IdempotencyKey', idempotencyKey), ...validate(reference, body)]
      : []
    return [...parameter('DeploymentId', decodeURIComponent(id)), ...ofBody]
  }

  it.each(Object.entries(lives))(
    'match the platform’s document over the life of a deployment of /%s',
    async (route, { inputs, call }) => {
      const world = createWorld()
      const host = world.start()
      world.platform.addDeployment({ id: 'dep/ü 1', inputs })
      const deployment = { id: 'dep/ü 1' }
      const events = [
        {
          name: 'DEPLOYMENT_CREATED',
          deployment: { ...deployment, inputs: { serverType: 'nonsense', environmentType: 'nonsense' } },
        },
        { name: 'DEPLOYMENT_CREATED', deployment },
        { name: 'HEALTH_CHECK', deployment },
        { name: 'METRIC_UPDATE', deployment },
        { name: 'DOWNLOAD_STARTED', deployment, download: { id: 'dl 1/ü' } },
        { ...call, deployment },
        { ...call, functionCall: { ...call.functionCall, arguments: { nonsense: 1 } }, deployment },
        { name: 'DEPLOYMENT_DELETED', deployment },
      ]
      for (const [index, event] of events.entries())
        await deliver(host.fetch, event, { url: `http://host.test/${route}/webhook`, id: `evt ü ${index}` })
      const { calls } = world.platform
      expect(
        calls.flatMap((each) => faultsOf(each).map((fault) => `${each.method} ${each.path}: ${fault}`)),
      ).toEqual([])
      const kinds = new Set(calls.map(({ path }) => path.split('/')[3] ?? 'record'))
      const expected = [
        'record',
        'status',
        'outputs',
        'metrics',
        'logs',
        ...(route === 'mailer' ? [] : ['downloads']),
      ]
      expect([...kinds].toSorted()).toEqual(expected.toSorted())
    },
  )
})

describe('the platform of docs/platform-api.md', async () => {
  const { blocks, compile } = await prepareExamples(home, ['../../docs/platform-api.md'])
  const mail = createMailProvider({ apiTokens: [credentials.mailToken] })
  let hostServer: Served

  beforeAll(() => {
    vi.stubEnv('PORT', '0')
    vi.stubEnv('PLATFORM_API_TOKEN', credentials.platformToken)
    vi.stubEnv('PLATFORM_WEBHOOK_SECRET', credentials.webhookSecret)
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await hostServer?.close()
  })

  it('compiles', async () => {
    expect(blocks).toHaveLength(1)
    expect(await compile()).toBe('')
  })

  it('serves a host: deployments, reports, function calls and retries', async () => {
    const port = await freePort()
    vi.stubEnv('HOST_URL', `http://127.0.0.1:${port}`)
    const { deployments, send, server } = await import(blocks[0]?.path ?? '')
    const platform = `http://127.0.0.1:${server.address().port}`
    const host = createHost(
      readConfig({
        PLATFORM_API_URL: platform,
        PLATFORM_API_TOKEN: credentials.platformToken,
        PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret,
        MAILER_API_BASE: 'http://mail.test',
        MAILER_SHARED_API_TOKEN: credentials.mailToken,
        MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
      }),
      {
        logger: () => {},
        fetch: (input, init) => {
          const request = new Request(input, init)
          return request.url.startsWith(platform) ? fetch(request) : mail.fetch(request)
        },
      },
    )
    hostServer = await serve(async (request) => host.fetch(request), { port })
    deployments.set('dep_1', { id: 'dep_1', inputs: { serverType: 'shared' } })

    const deployment = { id: 'dep_1' }
    expect(await send('mailer', { name: 'DEPLOYMENT_CREATED', deployment })).toMatchObject({
      status: 'running',
    })
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
    const again = () =>
      fetch(`${platform}/deployments/dep_1/logs`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${credentials.platformToken}`,
          'idempotency-key': 'evt:logs.00000000',
        },
        body: JSON.stringify({ entries: [{ level: 'info', message: 'Once.', timestamp: 'now' }] }),
      })
    for (const { status } of [await again(), await again()]) expect(status).toBe(200)
    const { logs } = deployments.get('dep_1')
    expect(logs.filter(({ message }: { message: string }) => message === 'Once.')).toHaveLength(1)
    await new Promise((resolve) => server.close(resolve).closeAllConnections())
  })
})

async function freePort(): Promise<number> {
  const taken = await serve(async () => new Response())
  await taken.close()
  return taken.port
}
