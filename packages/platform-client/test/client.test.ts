/** The client against the platform's emulator over HTTP, and `docs/platform-api.json`, which describes its calls. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { IntegrationError, type Platform } from '@org/core'
import { toJsonSchema } from '@org/core/authoring'
import { callbackBodies } from '@org/core/hosting'
import { createPlatformEmulator, type Fault, serve } from '@org/core/testing'
import { lint } from '@org/openapi-checks/lint'
import { createValidator } from '@org/openapi-checks/validate'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createPlatformClient, type PlatformClientOptions } from '../src/index.ts'
import { deploymentRecord } from '../src/schema.ts'

const token = 'platform-token-1'
const running = { status: 'running' } as const
const platform = createPlatformEmulator({ token })
const server = await serve(platform.fetch)
afterAll(() => server.close())
afterEach(() => vi.useRealTimers().restoreAllMocks())
beforeEach(() => {
  platform.reset()
  platform.addDeployment({ id: 'dep_1' })
})

/** A client with the right token, which retries at once. */
const connect = (options: Partial<PlatformClientOptions> = {}) =>
  createPlatformClient({ baseUrl: server.url, token, backoffMs: 0, ...options })

/** The error that a call throws, which never shows the token. */
async function failureOf(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => expect.fail('The call succeeded.'),
    (reason: unknown) => reason,
  )
  expect(inspect(error, { depth: 10 })).not.toContain(token)
  expect(error).toMatchObject({ code: 'platform_unavailable', status: 502, retryable: true, effect: 'none' })
  return error
}

describe('docs/platform-api.json', async () => {
  const file = join(import.meta.dirname, '../../../docs/platform-api.json')
  const document = JSON.parse(await readFile(file, 'utf8'))
  const key = { idempotencyKey: 'evt_1:logs.6f1c2a9b' }

  /** Each operation, by the call of the client that sends its example. */
  const calls: Record<string, (client: Platform, id: string, example: unknown) => Promise<unknown>> = {
    getDeployment: (client, id) => client.getDeployment(id),
    setStatus: (client, id, body) => client.setStatus(id, callbackBodies.status.parse(body), key),
    appendLogs: (client, id, body) => client.appendLogs(id, callbackBodies.logs.parse(body).entries, key),
    setOutputs: (client, id, body) => client.setOutputs(id, callbackBodies.outputs.parse(body), key),
    reportMetrics: (client, id, body) =>
      client.reportMetrics(id, callbackBodies.metrics.parse(body).metrics, key),
    putDownload: (client, id, body) =>
      client.putDownload(id, 'dl/1', callbackBodies.downloads.parse(body).files, key),
  }
  const json = z.object({ content: z.object({ 'application/json': z.object({ example: z.unknown() }) }) })
  const operation = z.object({ operationId: z.string(), requestBody: json.optional() })
  const { paths } = z.object({ paths: z.record(z.string(), z.record(z.string(), operation)) }).parse(document)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
  )

  it('passes a strict linter, and describes every call of the client, and no other', async () => {
    expect(await lint(document)).toEqual([])
    const ids = operations.map(({ operationId }) => operationId)
    expect(ids.toSorted()).toEqual(Object.keys(calls).toSorted())
  })

  it('has the schemas that the host is typed by, in its own words', () => {
    // Descriptions are strings; a property of that name would be an object.
    const withoutWords = (schema: unknown) =>
      JSON.parse(
        JSON.stringify(schema, (key, value) =>
          key === 'description' && typeof value === 'string' ? undefined : value,
        ),
      )
    for (const [name, schema] of Object.entries({ deployment: deploymentRecord, ...callbackBodies })) {
      const written = document.components.schemas[name.charAt(0).toUpperCase() + name.slice(1)]
      expect(withoutWords(written), name).toEqual(withoutWords(toJsonSchema(schema, 'input')))
    }
  })

  it.each(operations)('describes $method $path as the client calls it with its token', async (operation) => {
    const { path, method, operationId, requestBody } = operation
    const validate = createValidator(document)
    const place = `#/paths/${path.replaceAll('/', '~1')}/${method}`
    const [id, body] = ['dep/ü 1', requestBody?.content['application/json'].example]
    const record = { id, inputs: { region: 'eu' }, outputs: {}, status: 'deploying' }
    platform.addDeployment(record)
    const received: unknown[] = []
    const fetch: typeof globalThis.fetch = async (...request) => {
      const response = await platform.fetch(...request)
      received.push(await response.clone().json())
      return response
    }
    const result = await calls[operationId]?.(connect({ fetch }), id, body)
    expect(result).toEqual(body ? 'accepted' : record)
    const url = path.replace('{id}', 'dep%2F%C3%BC%201').replace('{downloadId}', 'dl%2F1')
    const sent = { method: method.toUpperCase(), path: url, status: 200, body }
    const { idempotencyKey } = body ? key : { idempotencyKey: undefined }
    expect(platform.calls).toMatchObject([{ ...sent, idempotencyKey }])
    const mistakes = [
      ...validate(`${place}/responses/200/content/application~1json/schema`, received[0]),
      ...(body ? validate(`${place}/requestBody/content/application~1json/schema`, body) : []),
      ...validate('#/components/parameters/IdempotencyKey/schema', key.idempotencyKey),
    ]
    expect(mistakes).toEqual([])
    expect(await calls[operationId]?.(connect(), 'dep_2', body)).toBe(body ? 'gone' : undefined)
  })
})

describe('the record of a deployment', () => {
  it.each([{}, { inputs: null, outputs: null, status: null }, { plan: 'gold' }])(
    'counts missing and null fields as empty, and accepts unknown ones, as in %j',
    async (fields) => {
      platform.faults.add({ status: 200, body: { id: 'dep_1', ...fields } })
      const empty = { id: 'dep_1', inputs: {}, outputs: {}, status: undefined }
      expect(await connect().getDeployment('dep_1')).toEqual(empty)
    },
  )

  it.each<[string, Fault]>([
    ['a list', { status: 200, body: [] }],
    ['a record without an id', { status: 200, body: { inputs: {} } }],
    ['inputs that are a text', { status: 200, body: { id: 'dep_1', inputs: 'secret-input' } }],
    ['a page', { html: true }],
    ['nothing', { empty: true }],
    ['half a record', { truncate: true }],
    ['more than 1 MiB', { status: 200, body: { id: 'dep_1', plan: 'x'.repeat(2 ** 20) } }],
  ])('is not %s: the call fails, is not retried, and quotes nothing', async (_, fault) => {
    platform.faults.add(fault)
    expect(`${await failureOf(connect().getDeployment('dep_1'))}`).not.toContain('secret-input')
    expect(platform.calls).toHaveLength(1)
  })
})

describe('a refusal', () => {
  const [hintOfToken, hintOfUrl] = ['Check PLATFORM_API_TOKEN.', expect.stringContaining('PLATFORM_API_URL')]
  const detail = { body: { detail: 'sk_1 is not an output' } }
  it.each<[Fault & { status: number }, unknown]>([
    [{ status: 401 }, hintOfToken],
    [{ status: 403 }, hintOfToken],
    [{ status: 409 }, undefined],
    [{ status: 302, headers: { location: '/elsewhere' } }, undefined],
    [{ status: 422, ...detail }, undefined],
    [{ status: 404 }, hintOfUrl],
    [{ status: 404, html: true }, hintOfUrl],
  ])('with %j is final, with the hint %s, and its body is not quoted', async (fault, hint) => {
    platform.faults.add(fault)
    const outputs = { outputs: { secretKey: 'sk_1' }, sensitive: ['secretKey'] }
    const error = await failureOf(connect().setOutputs('dep_1', outputs))
    expect(error).toMatchObject({ hint, provider: { name: 'platform', status: fault.status } })
    expect(`${error}`).not.toContain('sk_1')
    expect(platform.calls).toHaveLength(1)
  })
})

describe('a callback', () => {
  it.each(['/api/v1', '/api/v1/', '/'])(
    'goes below a base URL that ends in “%s”, with no token if there is none',
    async (base) => {
      const sent: unknown[] = []
      const fetch: typeof globalThis.fetch = async (...request) => {
        const { url, headers } = new Request(...request)
        sent.push([url, headers.get('authorization')])
        return Response.json({ accepted: true })
      }
      const baseUrl = `https://platform.example.com${base}`
      await connect({ baseUrl, fetch, token: undefined }).setStatus('dep_1', running)
      expect(sent).toEqual([[`${baseUrl.replace(/\/$/, '')}/deployments/dep_1/status`, null]])
    },
  )

  it.each([
    ['evt_1:status-running.1', 'evt_1:status-running.1'],
    ['évt 日本:logs', '%C3%A9vt%20%E6%97%A5%E6%9C%AC:logs'],
    ['a\r\nx-injected: 1', 'a%0D%0Ax-injected:%201'],
  ])('with the idempotency key %j sends “%s”', async (idempotencyKey, sent) => {
    expect(await connect().setStatus('dep_1', running, { idempotencyKey })).toBe('accepted')
    expect(platform.calls).toMatchObject([{ idempotencyKey: sent }])
  })

  it('is retried after a failure, fails after five attempts, and may safely be made again', async () => {
    platform.faults.add({ status: 501 }, { status: 599 }, { cut: 'during' }, { status: 408 })
    expect(await connect().getDeployment('dep_1')).toMatchObject({ id: 'dep_1' })
    expect(platform.calls).toHaveLength(5)
    platform.faults.add({ status: 500, times: 4 }, { cut: 'after', times: 9 })
    const metric = { name: 'sent', value: 1, timestamp: '2026-11-20T09:00:00Z' }
    await failureOf(connect().reportMetrics('dep_1', [metric]))
    expect(platform.calls).toHaveLength(10)
  })

  it('to an address that does not exist hints at PLATFORM_API_URL', async () => {
    const error = await failureOf(connect({ baseUrl: 'http://platform.invalid' }).getDeployment('dep_1'))
    expect(error).toHaveProperty('hint', 'Check PLATFORM_API_URL, and that the platform is up.')
  })

  it('ends with its signal, before anything is sent and during a call', async () => {
    await failureOf(connect().setStatus('dep_1', running, { signal: AbortSignal.abort() }))
    expect(platform.calls).toEqual([])
    platform.faults.add({ hang: true })
    const controller = new AbortController()
    const failure = failureOf(connect().setStatus('dep_1', running, { signal: controller.signal }))
    await expect.poll(() => platform.calls.length).toBe(1)
    controller.abort()
    await failure
    expect(platform.calls).toHaveLength(1)
  })

  it('ends before the next attempt if its lease is lost, with the reason of the lease', async () => {
    platform.faults.add({ status: 503, times: 9 })
    const lost = new IntegrationError('delivery_in_progress', 'The lease of this delivery is over.')
    let attempts = 0
    const wrapFetch =
      (transport: typeof fetch): typeof fetch =>
      (...call) => {
        attempts += 1
        return attempts === 3 ? Promise.reject(lost) : transport(...call)
      }
    await expect(connect().setStatus('dep_1', running, { wrapFetch })).rejects.toBe(lost)
    expect([attempts, platform.calls.length]).toEqual([3, 2])
  })
})

describe('the next attempt of a callback', () => {
  const wait = (seconds: string) => ({ status: 503, headers: { 'retry-after': seconds } })

  /** Begins a callback on fake timers, without a socket in between. */
  function begin(...faults: Fault[]) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
    vi.setSystemTime('2026-11-20T09:00:00Z')
    vi.spyOn(Math, 'random').mockReturnValue(0.75)
    platform.faults.add(...faults)
    return connect({ fetch: platform.fetch, backoffMs: undefined }).setStatus('dep_1', running)
  }

  it.each<[string, number[], Fault[]]>([
    ['a random part of what doubles, up to 2 s', [300, 600, 1_200, 2_000], [{ status: 503, times: 4 }]],
    ['as long as a Retry-After in seconds', [3_000], [{ ...wait('3'), status: 429 }]],
    ['as long as a Retry-After with a date', [5_000], [wait('Fri, 20 Nov 2026 09:00:05 GMT')]],
  ])('waits %s: %j ms', async (_, waits, faults) => {
    const call = begin(...faults)
    await vi.advanceTimersByTimeAsync(0)
    for (const [index, wait] of waits.entries()) {
      await vi.advanceTimersByTimeAsync(wait - 1)
      expect(platform.calls).toHaveLength(index + 1)
      await vi.advanceTimersByTimeAsync(1)
    }
    expect(await call).toBe('accepted')
    expect(platform.calls).toHaveLength(waits.length + 1)
  })

  it.each<[string, number, number | undefined, Fault]>([
    ['five seconds of silence', 2, undefined, { hang: true, times: 9 }],
    ['a Retry-After that leaves no time', 1, 6, { ...wait('6'), times: 9 }],
  ])('comes after %s, and the call ends after fifteen', async (_, attempts, retryAfter, fault) => {
    const failure = failureOf(begin(fault))
    await vi.advanceTimersByTimeAsync(5_300)
    expect(platform.calls).toHaveLength(attempts)
    await vi.advanceTimersByTimeAsync(9_700)
    expect(await failure).toMatchObject({ retryAfter })
    expect(platform.calls).toHaveLength(3)
  })
})
