/** The platform that docs/platform-api.md shows. */
import { join } from 'node:path'
import { serve } from '@org/core/testing'
import { writeExamples } from '@org/tooling/examples'
import { expect, it, onTestFinished, vi } from 'vitest'
import { calling, credentials, mail as message, startHost } from './hosted.ts'

it('the platform of docs/platform-api.md serves a host: deployments, reports, function calls and retries', async () => {
  const { platformToken, webhookSecret } = credentials
  const hostServer = await serve(async (request) => host.fetch(request))
  onTestFinished(() => hostServer.close())
  const variables = { PLATFORM_API_TOKEN: platformToken, PLATFORM_WEBHOOK_SECRET: webhookSecret }
  for (const [name, value] of Object.entries({ ...variables, HOST_URL: hostServer.url, PORT: '0' }))
    vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const guide = '../../docs/platform-api.md'
  const [example] = await writeExamples(join(import.meta.dirname, '..'), [guide], 'readme')
  const { deployments, send, server } = await import(example?.path ?? '')
  onTestFinished(() => server.close().closeAllConnections())
  const platform = `http://127.0.0.1:${server.address().port}`
  const { host, world } = startHost({ variables: { ...variables, PLATFORM_API_URL: platform } })
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
  const sent = await send('mailer', { ...calling('sendEmail', message), deployment })
  expect(world.mail.messages).toMatchObject([{ messageId: sent.result.messageId }])
  expect(await send('mailer', { name: 'DEPLOYMENT_DELETED', deployment })).toEqual({ status: 'stopped' })
  const repeated = {
    method: 'POST',
    headers: { authorization: `Bearer ${platformToken}`, 'idempotency-key': 'evt:logs.00000000' },
    body: JSON.stringify({ entries: [{ level: 'info', message: 'Once.', timestamp: 'now' }] }),
  }
  for (const _ of [1, 2])
    expect((await fetch(`${platform}/deployments/dep_1/logs`, repeated)).status).toBe(200)
  const { logs, ...record } = deployments.get('dep_1')
  expect(logs.length).toBeGreaterThan(1)
  expect(JSON.stringify(logs).match(/Once\./g)).toHaveLength(1)
  expect(record).toMatchObject({
    ...{ status: 'stopped', outputs: { fromEmail: 'shop@example.com' }, sensitive: ['apiToken'] },
    metrics: expect.arrayContaining([expect.objectContaining({ name: 'emails_sent' })]),
  })
})
