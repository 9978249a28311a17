import { lint } from '@org/openapi-checks/lint'
import { describe, expect, it } from 'vitest'
import { createApp } from '../src/app.ts'
import { integrations } from '../src/integrations.ts'
import { startContract } from './contract.ts'

const contract = await startContract()

describe('the OpenAPI document of the host', () => {
  it('passes a strict linter', async () => {
    const findings = await lint(contract.document, {
      'operation-4xx-response': 'A GET route without parameters has no invalid request.',
    })
    expect(findings).toEqual([])
  })

  it('has routes and webhooks that the host answers', async () => {
    const app = createApp({
      webhooks: integrations.map(({ name }) => ({ name, handle: async () => new Response() })),
      operating: [{ path: '/deliveries/{id}', handle: () => new Response() }],
      store: { prove: async () => true, isNoWorse: async () => true, isReachable: () => true },
      corsOrigins: [],
      isLeaving: () => false,
      isDraining: () => false,
      logger: () => {},
    })
    const { paths } = await (await app.request('/openapi.json')).json()
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/deliveries/{id}', '/healthz', '/docs']))
    for (const [path, operations] of Object.entries<object>(paths)) {
      const [method = ''] = Object.keys(operations)
      const url = new URL(path.replace('{id}', 'x'), 'http://host.test')
      expect((await app.request(url, { method: method.toUpperCase() })).status, path).toBe(200)
    }
  })

  it('has examples that succeed as they are, in their order, once the provider has the user they name', async () => {
    const { document, send, world } = contract
    const succeeded: string[] = []
    for (const { post } of Object.values(document.paths)) {
      const examples = post?.requestBody?.content['application/json']?.examples ?? {}
      for (const [name, { value }] of Object.entries(examples)) {
        const { deployment, functionCall } = Object(value)
        if (name === 'DEPLOYMENT_CREATED') world.platform.addDeployment({ id: deployment.id })
        const { userId } = Object(functionCall?.arguments)
        for (const instance of world.backend.instances.values())
          if (userId && !instance.users.has(userId)) instance.createUser({ id: userId })
        const { status, body } = await send(post?.tags[0] ?? '', value)
        expect(status, JSON.stringify([value, body])).toBe(200)
        succeeded.push(name)
      }
    }
    expect(succeeded.length).toBeGreaterThan(30)
  })
})
