import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createWebhookHandler, defineIntegration, eventNames } from '../src/index.ts'
import { createPlatformEmulator, deliver } from '../src/testing/index.ts'
import { calling, createHost } from './example.ts'
import { platformOver } from './platform-port.ts'

const deployment = { id: 'dep_1' }

it('fields that are not known are ignored, at every level', async () => {
  const { handle } = createHost()
  const event = {
    name: 'DOWNLOAD_STARTED',
    tenant: { id: 7 },
    deployment: { id: 'dep_1', plan: 'gold' },
    download: { file: 'middleware.ts', format: 'tar' },
    functionCall: { name: 'unused here', mode: 'fast' },
  }
  expect(await deliver(handle, event)).toMatchObject({ status: 200, body: { files: [{}] } })
})

it('inputs that are not known are ignored', async () => {
  const { handle } = createHost()
  const inputs = { token: 'token-1', colour: 'red' }
  const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }
  expect((await deliver(handle, event)).body).toMatchObject({ status: 'running' })
})

describe('a known field of the wrong type is an error', () => {
  it.each([
    ['id', { id: 7 }],
    ['id', { id: '' }],
    ['id', { id: 'x'.repeat(201) }],
    ['timestamp', { timestamp: 'yesterday' }],
    ['timestamp', { timestamp: 1_763_600_000 }],
    ['challenge', { challenge: { nested: true } }],
    ['deployment', { deployment: 'dep_1' }],
    ['deployment.id', { deployment: {} }],
    ['deployment.id', { deployment: { id: 5 } }],
    ['deployment.id', { deployment: { id: '..' } }],
    ['download.id', { download: { id: '.' } }],
    ['deployment.inputs', { deployment: { id: 'dep_1', inputs: ['a'] } }],
    ['deployment.outputs', { deployment: { id: 'dep_1', outputs: 'none' } }],
    ['download.id', { download: { id: 1 } }],
    ['download.file', { download: { file: ['.env.local'] } }],
    ['functionCall.name', { functionCall: { arguments: {} } }],
    ['functionCall.arguments', { functionCall: { name: 'count', arguments: 'to' } }],
  ])('in “%s”, as in %j', async (path, fields) => {
    const { handle } = createHost()
    const { status, body } = await deliver(handle, { name: 'HEALTH_CHECK', ...fields })
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: 'invalid_event', errors: [{ path }] },
    })
  })

  it('and each of several is named', async () => {
    const { handle } = createHost()
    const { body } = await deliver(handle, { ...calling(''), id: 1, deployment })
    expect(body).toMatchObject({ errors: [{ path: 'id' }, { path: 'functionCall.name' }] })
  })
})

it('a timestamp may have an offset', async () => {
  const { handle } = createHost()
  for (const timestamp of ['2026-11-20T09:00:00Z', '2026-11-20T10:00:00.123+01:00']) {
    expect((await deliver(handle, { name: 'WEBHOOK_CHALLENGE', timestamp })).status).toBe(200)
  }
})

it('any media type that is JSON is taken', async () => {
  const { handle } = createHost()
  for (const type of [
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/cloudevents+json',
  ]) {
    const body = JSON.stringify({ name: 'WEBHOOK_CHALLENGE' })
    const init = { method: 'POST', headers: { 'content-type': type }, body }
    expect((await handle(new Request('http://host.test', init))).status).toBe(200)
  }
})

describe('a route that does not act on an event', () => {
  const placeholder = defineIntegration({
    name: 'elsewhere',
    title: 'Elsewhere',
    description: 'Is managed elsewhere.',
    events: ['HEALTH_CHECK'],
    inputs: z.object({}),
    outputs: z.object({}),
    functions: {},
    metrics: {},
    downloads: [],
  })
  const platform = createPlatformEmulator()
  platform.addDeployment(deployment)
  const unused = async () => Promise.reject(new Error('The store was used.'))
  const store = {
    claim: unused,
    renew: unused,
    advance: unused,
    complete: unused,
    release: unused,
    read: unused,
    ping: unused,
  }
  const handle = createWebhookHandler(
    placeholder,
    { health: async () => [] },
    { platform: platformOver(platform.fetch), store, logger: () => {}, settings: undefined },
  )
  const acted = ['WEBHOOK_CHALLENGE', 'HEALTH_CHECK']

  it.each(eventNames.filter((name) => !acted.includes(name)))(
    'answers %s with “ignored”, tells nobody and claims nothing',
    async (name) => {
      const event = { name, deployment, functionCall: { name: 'anything' }, download: { id: 'dl_1' } }
      expect(await deliver(handle, event, { id: 'evt_1' })).toMatchObject({
        status: 200,
        body: { status: 'ignored', reason: `/elsewhere does not act on ${name}.` },
      })
      expect(platform.calls).toEqual([])
    },
  )

  it('still answers challenge and health', async () => {
    expect((await deliver(handle, { name: 'WEBHOOK_CHALLENGE', challenge: 'c' })).body).toEqual({
      challenge: 'c',
    })
    expect((await deliver(handle, { name: 'HEALTH_CHECK' })).body).toEqual({ status: 'healthy', checks: [] })
  })
})
