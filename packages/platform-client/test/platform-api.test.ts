import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Platform } from '@org/core'
import { toJsonSchema } from '@org/core/authoring'
import { callbackBodies } from '@org/core/hosting'
import { createPlatformEmulator } from '@org/core/testing'
import { lint } from '@org/openapi-checks/lint'
import { createValidator } from '@org/openapi-checks/validate'
import { beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createPlatformClient } from '../src/index.ts'
import { deploymentRecord } from '../src/schema.ts'

const file = join(import.meta.dirname, '../../../docs/platform-api.json')
const document = JSON.parse(await readFile(file, 'utf8'))
const validate = createValidator(document)

const token = 'platform-token-1'
const emulator = createPlatformEmulator({ token })
const key = { idempotencyKey: 'evt_1:logs.6f1c2a9b' }
const timestamp = '2026-11-20T09:00:00.000Z'
const status = { status: 'failed', message: 'No token.' } as const
const outputs = { outputs: { key: 'sk_1', list: [1] }, sensitive: ['key'] }
const entries = [{ level: 'warn', message: 'x', timestamp, data: { a: [1] } }] as const
const metrics = [{ name: 'bounce_rate', value: 0.4, unit: 'percent', timestamp }]
const files = [{ path: 'a', contentType: 'text/plain', content: '' }]

/** Each call of the client by its operation, with the body that it sends. */
const calls: Record<string, { call: (client: Platform, id: string) => Promise<unknown>; sent?: object }> = {
  getDeployment: { call: (client, id) => client.getDeployment(id) },
  setStatus: { call: (client, id) => client.setStatus(id, status, key), sent: status },
  appendLogs: { call: (client, id) => client.appendLogs(id, entries, key), sent: { entries } },
  setOutputs: { call: (client, id) => client.setOutputs(id, outputs, key), sent: outputs },
  reportMetrics: { call: (client, id) => client.reportMetrics(id, metrics, key), sent: { metrics } },
  putDownload: { call: (client, id) => client.putDownload(id, 'dl/1', files, key), sent: { files } },
}

const described = z.object({
  operationId: z.string(),
  requestBody: z.object({ content: z.record(z.string(), z.object({ example: z.unknown() })) }).optional(),
  responses: z.record(z.string(), z.unknown()),
})
const { paths } = z.object({ paths: z.record(z.string(), z.record(z.string(), described)) }).parse(document)
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
)
/** A place within an operation, for the validator. */
const placeOf = ({ path, method }: (typeof operations)[number], rest: string) =>
  `#/paths/${path.replaceAll('/', '~1')}/${method}/${rest}/content/application~1json/schema`
const urlOf = (path: string) => path.replace('{id}', 'dep_1').replace('{downloadId}', 'dl%2F1')

beforeEach(() => {
  emulator.reset()
  emulator.addDeployment({ id: 'dep_1', inputs: { region: 'eu' } })
})

describe('docs/platform-api.json', () => {
  it('has the schemas that the host is typed by, in its own words', () => {
    const schemas = { deployment: deploymentRecord, ...callbackBodies }
    for (const [name, schema] of Object.entries(schemas)) {
      const written = document.components.schemas[name.charAt(0).toUpperCase() + name.slice(1)]
      expect(withoutDescriptions(written), name).toEqual(withoutDescriptions(toJsonSchema(schema, 'input')))
    }
  })

  it('passes a strict linter', async () => {
    expect(await lint(document)).toEqual([])
  })

  it('describes every call of the client, and no other', () => {
    const ids = operations.map(({ operationId }) => operationId)
    expect(ids.toSorted()).toEqual(Object.keys(calls).toSorted())
  })

  it.each(operations)('describes $method $path as the client calls it with its token', async (operation) => {
    const { path, method, operationId, requestBody, responses } = operation
    const received: Response[] = []
    const fetch: typeof globalThis.fetch = async (...request) => {
      const response = await emulator.fetch(...request)
      received.push(response.clone())
      return response
    }
    const client = createPlatformClient({ baseUrl: 'http://platform.test', token, fetch })
    const { call, sent } = calls[operationId] ?? {}
    const result = await call?.(client, 'dep_1')
    expect(emulator.calls).toMatchObject([{ method: method.toUpperCase(), path: urlOf(path), status: 200 }])
    if (requestBody) {
      expect(result).toBe('accepted')
      expect(emulator.calls).toMatchObject([{ body: sent, ...key }])
      const { example } = requestBody.content['application/json'] ?? {}
      for (const body of [sent, example])
        expect(validate(placeOf(operation, 'requestBody'), body)).toEqual([])
      expect(validate('#/components/parameters/IdempotencyKey/schema', key.idempotencyKey)).toEqual([])
    }
    expect(responses).toHaveProperty(`${received[0]?.status}`)
    expect(validate(placeOf(operation, 'responses/200'), await received[0]?.json())).toEqual([])
    expect(await call?.(client, 'dep_2')).toBe(requestBody ? 'gone' : undefined)
  })
})

/** A schema without its prose. Descriptions are strings; a property of that name would be an object. */
function withoutDescriptions(schema: unknown): unknown {
  const text = JSON.stringify(schema, (key, value) =>
    key === 'description' && typeof value === 'string' ? undefined : value,
  )
  return JSON.parse(text)
}
