import { memoryStore } from '@org/core'
import { lint } from '@org/openapi-checks/lint'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createApp } from '../src/app.ts'
import { integrations } from '../src/integrations.ts'
import type { Route } from '../src/routes/route.ts'
import { startContract } from './contract.ts'
import { calling, mail } from './measured.ts'

let contract: Awaited<ReturnType<typeof startContract>>
beforeAll(async () => {
  contract = await startContract()
})

const get = (path: string) => new Request(`http://host.test${path}`)

describe('the OpenAPI document of the host', () => {
  it('passes a strict linter', async () => {
    const findings = await lint(contract.document, {
      'operation-4xx-response': 'A GET route without parameters has no invalid request.',
    })
    expect(findings).toEqual([])
  })

  it('has exactly the mounted routes', async () => {
    const thing: Route = {
      path: '/things/{id}',
      operationId: 'getThing',
      summary: 'One thing',
      parameters: z.object({ id: z.string().describe('Its id.') }),
      responses: { 200: { description: 'The thing.', schema: z.object({}) } },
      handle: (context) => context.json({}),
    }
    const app = createApp({
      webhooks: integrations.map(({ definition }) => ({ definition, handle: async () => new Response() })),
      operating: [thing],
      store: memoryStore(),
      corsOrigins: [],
      isDraining: () => false,
      logger: () => {},
    })
    const { paths } = z
      .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
      .parse(await (await app.request('/openapi.json')).json())
    const described = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method} ${path}`),
    )
    const mounted = app.routes
      .filter(({ path }) => path !== '/*')
      .map(({ method, path }) => {
        // A webhook is mounted for every method, to answer the others with a problem of its own.
        const known = method === 'ALL' ? 'post' : method.toLowerCase()
        return `${known} ${path.replaceAll(/:(\w+)/g, '{$1}')}`
      })
    expect(described.toSorted()).toEqual(mounted.toSorted())
  })

  it('has every route of the contract', () => {
    const { paths } = contract.document
    for (const path of [
      '/healthz',
      '/readyz',
      '/integrations',
      '/openapi.json',
      '/docs',
      '/metrics',
      '/deliveries/{id}',
    ])
      expect(Object.keys(paths)).toContain(path)
  })

  it('gives each operation an id, a summary and a described tag', () => {
    const tags = contract.document.tags.map(({ name }) => name)
    for (const { get, post } of Object.values(contract.document.paths)) {
      const operation = get ?? post
      expect(operation).toMatchObject({ operationId: expect.any(String), summary: expect.any(String) })
      expect(tags).toEqual(expect.arrayContaining(operation?.tags ?? []))
    }
  })

  it('has examples that the host accepts', async () => {
    for (const [path, { post }] of Object.entries(contract.document.paths)) {
      const examples = post?.requestBody?.content['application/json']?.examples ?? {}
      for (const [name, { value }] of Object.entries(examples)) {
        const { body } = await contract.send(path.split('/')[1] ?? '', value)
        // Its credentials and ids are nobody’s; its shape is right.
        const known = ['missing_credentials', 'provider_rejected', 'credentials_rejected', undefined]
        const references = JSON.stringify(Object(body).errors ?? '').includes('which is not set on this host')
        expect(references ? undefined : Object(body).code, `${path} ${name}`).toSatisfy((code) =>
          known.includes(code),
        )
      }
    }
  })
})

describe('the response matches the document:', () => {
  it.each(['/healthz', '/readyz', '/integrations', '/openapi.json', '/docs', '/metrics'] as const)(
    '%s',
    async (path) => {
      expect(await contract.ask('get', path, get(path))).toMatchObject({ status: 200 })
    },
  )

  it('/readyz of a host that is not ready', async () => {
    const away = { ...memoryStore(), ping: () => Promise.reject(new Error('The store is away.')) }
    const { ask } = await startContract({ store: away })
    expect(await ask('get', '/readyz', get('/readyz'))).toMatchObject({ status: 503 })
  })

  it('/deliveries/{id} of a recorded delivery', async () => {
    await contract.send('mailer', calling('sendEmail', mail), { id: 'evt_explained' })
    expect(await contract.ask('get', '/deliveries/{id}', get('/deliveries/evt_explained'))).toMatchObject({
      status: 200,
    })
  })
})
