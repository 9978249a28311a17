import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Platform } from '@org/core'
import { createPlatformEmulator } from '@org/core/testing'
import { lint } from '@org/openapi-checks/lint'
import { createValidator } from '@org/openapi-checks/validate'
import { beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { describePlatformApi } from '../describe/document.ts'
import { createPlatformClient } from '../src/index.ts'

const file = join(import.meta.dirname, '../../../docs/platform-api.json')
const document = JSON.parse(await readFile(file, 'utf8'))
const validate = createValidator(document)

const timestamp = '2026-11-20T09:00:00.000Z'
const options = { idempotencyKey: 'evt_1:logs.6f1c2a9b' }
const emulator = createPlatformEmulator()

/** Each call of the client, by its operation. */
const calls: Record<string, (platform: Platform) => Promise<unknown>> = {
  getDeployment: (platform) => platform.getDeployment('dep_1'),
  setStatus: (platform) => platform.setStatus('dep_1', { status: 'failed', message: 'No token.' }, options),
  appendLogs: (platform) =>
    platform.appendLogs('dep_1', [{ level: 'warn', message: 'x', timestamp, data: { a: [1] } }], options),
  setOutputs: (platform) =>
    platform.setOutputs('dep_1', { outputs: { key: 'sk_1', list: [1] }, sensitive: ['key'] }, options),
  reportMetrics: (platform) =>
    platform.reportMetrics(
      'dep_1',
      [{ name: 'bounce_rate', value: 0.4, unit: 'percent', timestamp }],
      options,
    ),
  putDownload: (platform) =>
    platform.putDownload('dep_1', 'dl_1', [{ path: 'a', contentType: 'text/plain', content: '' }], options),
}

const described = z.object({
  operationId: z.string(),
  requestBody: z
    .object({
      content: z.object({
        'application/json': z.object({ schema: z.object({ $ref: z.string() }), example: z.unknown() }),
      }),
    })
    .optional(),
  responses: z.record(z.string(), z.unknown()),
})
const { paths } = z.object({ paths: z.record(z.string(), z.record(z.string(), described)) }).parse(document)
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, requestBody, responses }]) => ({
    method,
    path,
    operationId,
    body: requestBody?.content['application/json'],
    statuses: Object.keys(responses),
  })),
)
const urlOf = (path: string) => path.replace('{id}', 'dep_1').replace('{downloadId}', 'dl_1')

beforeEach(() => {
  emulator.reset()
  emulator.addDeployment({ id: 'dep_1', inputs: { region: 'eu' } })
})

describe('docs/platform-api.json', () => {
  it('is what the schemas say; `pnpm --filter @org/platform-client describe` brings it up to date', () => {
    expect(document).toEqual(JSON.parse(JSON.stringify(describePlatformApi())))
  })

  it('has nothing that a strict linter finds', async () => {
    expect(await lint(document)).toEqual([])
  })

  it('has every call of the client, and no other', () => {
    const ids = operations.map(({ operationId }) => operationId)
    expect(ids.toSorted()).toEqual(Object.keys(calls).toSorted())
  })
})

describe.each(operations)('the call of $method $path', ({ path, method, operationId, body, statuses }) => {
  it('is made by the client as it is described, and answered so by the emulator', async () => {
    const requests: Request[] = []
    const answers: Response[] = []
    const platform = createPlatformClient({
      baseUrl: 'http://platform.test',
      fetch: async (input, init) => {
        const request = new Request(input, init)
        requests.push(request.clone())
        const answer = await emulator.fetch(request)
        answers.push(answer.clone())
        return answer
      },
    })
    await calls[operationId]?.(platform)
    const [[request], [answer]] = [requests, answers]
    expect(request).toMatchObject({ method: method.toUpperCase(), url: `http://platform.test${urlOf(path)}` })
    if (body) {
      expect(validate(body.schema.$ref, await request?.json())).toEqual([])
      const key = request?.headers.get('idempotency-key')
      expect(validate('#/components/parameters/IdempotencyKey/schema', key)).toEqual([])
    }
    expect(statuses).toContain(`${answer?.status}`)
    const place = `#/paths/${path.replaceAll('/', '~1')}/${method}/responses/200/content/application~1json/schema`
    expect(validate(place, await answer?.json())).toEqual([])
  })
})

describe.each(operations.filter(({ body }) => body))(
  'the body of $method $path',
  ({ path, method, body }) => {
    it('is taken by the emulator where the document takes it, and refused where it does not', async () => {
      const isTaken = async (value: unknown) => {
        const headers = { 'content-type': 'application/json' }
        const init = { method: method.toUpperCase(), headers, body: JSON.stringify(value) }
        return (await emulator.fetch(`http://platform.test${urlOf(path)}`, init)).ok
      }
      expect(await isTaken(body?.example)).toBe(true)
      for (const value of [body?.example, ...variationsOf(body?.example)]) {
        const { outputs = {}, sensitive } = Object(value)
        // Only the emulator looks whether what is sensitive is there: JSON Schema has no words for that.
        const named = Array.isArray(sensitive) ? sensitive : []
        if (named.some((name) => !Object.hasOwn(Object(outputs), name))) continue
        const taken = validate(body?.schema.$ref ?? '', value).length === 0
        expect({ value, taken: await isTaken(value) }).toEqual({ value, taken })
      }
    })
  },
)

/** A value with one thing in it replaced by something that it is not. */
function variationsOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value).flatMap((key) =>
    [undefined, null, 5, {}, [], ...variationsOf(Reflect.get(value, key))].map((other) => {
      const copy = structuredClone(value)
      Reflect.set(copy, key, other)
      return JSON.parse(JSON.stringify(copy))
    }),
  )
}
