import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createExampleServiceClient } from '../src/index.ts'
import { createExampleServiceProvider } from '../src/testing/index.ts'

const provider = createExampleServiceProvider()
let server: Served
beforeAll(async () => {
  server = await serve(provider.fetch)
})
afterAll(() => server.close())
beforeEach(() => provider.reset())

const clientOf = (apiToken = 'api-token') =>
  createExampleServiceClient({ apiToken, baseUrl: server.url, wait: async () => {} })

describe('the client', () => {
  it('creates items, gets one, and counts them', async () => {
    const client = clientOf()
    expect(await client.createItem({ name: 'A first one' })).toEqual({ id: 'item_1', name: 'A first one' })
    expect(await client.getItem('item_1')).toEqual({ id: 'item_1', name: 'A first one' })
    expect(await client.countItems()).toBe(1)
  })

  it('reports a refusal with the provider’s code and a hint', async () => {
    await expect(clientOf().getItem('item_9')).rejects.toMatchObject({
      code: 'provider_rejected',
      provider: { status: 404, code: 'not_found' },
      hint: expect.stringContaining('Check the id'),
    })
  })

  it('reports a token that the provider rejects', async () => {
    await expect(clientOf('another').getAccount()).rejects.toMatchObject({ code: 'credentials_rejected' })
  })

  it.each(['', 'line\nbreak'])('sends nothing with the invalid token %j', async (token) => {
    await expect(clientOf(token).getAccount()).rejects.toMatchObject({ code: 'missing_credentials' })
    expect(provider.calls).toEqual([])
  })

  it('retries after the provider’s rate limit', async () => {
    provider.faults.add({ status: 429, headers: { 'retry-after': '1' } })
    expect((await clientOf().createItem({ name: 'One' })).id).toBe('item_1')
  })
})
