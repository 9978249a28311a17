import { lint } from '@org/openapi-checks/lint'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createApp } from '../src/app.ts'
import { integrations } from '../src/integrations.ts'
import { startContract } from './contract.ts'

let contract: Awaited<ReturnType<typeof startContract>>
beforeAll(async () => {
  contract = await startContract()
})

describe('the OpenAPI document of the host', () => {
  it('passes a strict linter', async () => {
    const findings = await lint(contract.document, {
      'operation-4xx-response': 'A GET route without parameters has no invalid request.',
    })
    expect(findings).toEqual([])
  })

  it('has routes and webhooks that the host answers', async () => {
    const thing = {
      path: '/things/{id}',
      describe: async () => ({
        operationId: 'getThing',
        summary: 'One thing',
        parameters: z.object({ id: z.string().describe('Its id.') }),
        responses: { 200: { description: 'The thing.', schema: z.object({}) } },
      }),
      handle: () => new Response(),
    }
    const app = createApp({
      webhooks: integrations.map(({ name }) => ({ name, handle: async () => new Response() })),
      operating: [thing],
      isStoreReachable: async () => true,
      corsOrigins: [],
      isLeaving: () => false,
      isDraining: () => false,
      logger: () => {},
    })
    const { paths } = await (await app.request('/openapi.json')).json()
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/things/{id}', '/healthz', '/docs']))
    for (const [path, operations] of Object.entries<object>(paths)) {
      const [method = ''] = Object.keys(operations)
      // HTTP sends no fragment: `/mailer/webhook#sendEmail` is an operation of `/mailer/webhook`.
      const url = new URL(path.replace('{id}', 'x'), 'http://host.test')
      expect((await app.request(url, { method: method.toUpperCase() })).status, path).toBe(200)
    }
  })

  it('has examples that the host accepts', async () => {
    for (const [path, { post }] of Object.entries(contract.document.paths)) {
      const examples = post?.requestBody?.content['application/json']?.examples ?? {}
      for (const [name, { value }] of Object.entries(examples)) {
        const { body } = await contract.send(path.split('/')[1] ?? '', value)
        // Its credentials and ids are nobody’s; its shape is right.
        const known = ['missing_credentials', 'provider_rejected', 'credentials_rejected', undefined]
        const isUnset = JSON.stringify(Object(body).errors ?? '').includes('which is not set on this host')
        if (!isUnset) expect(known, `${path} ${name}`).toContain(Object(body).code)
      }
    }
  })
})
