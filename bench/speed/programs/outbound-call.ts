/**
 * Each contender reads one user, as its documentation shows.
 *
 * @module
 */
import { type Connect, expectField, hostTransport } from './call.ts'
import { userId } from './wire.ts'

const secretKey = 'sk_test_benchmark'
const path = `/v1/users/${userId}`
const headers = { authorization: `Bearer ${secretKey}`, accept: 'application/json' }

/** Our client. The host passes the signal of an event to each call. */
const ours =
  (hosted: boolean): Connect =>
  async (url) => {
    const { createIdpClient } = await import('@org/idp')
    const transport = hosted ? { fetch: hostTransport('idp') } : {}
    const client = createIdpClient({ secretKey, baseUrl: `${url}/v1`, ...transport })
    return async () => {
      const options = hosted ? { signal: new AbortController().signal } : {}
      expectField(await client.getUser(userId, options), 'id', userId)
    }
  }

/** By id. */
export const outboundCalls: Readonly<Record<string, Connect>> = {
  async 'undici-request'(url) {
    const { request } = await import('undici')
    return async () => {
      const { body } = await request(url + path, { headers })
      expectField(await body.json(), 'id', userId)
    }
  },
  fetch: async (url) => async () => {
    const response = await fetch(url + path, { headers })
    expectField(await response.json(), 'id', userId)
  },
  async ky(url) {
    const { default: ky } = await import('ky')
    return async () => expectField(await ky.get(url + path, { headers }).json(), 'id', userId)
  },
  async clerk(url) {
    const { createClerkClient } = await import('@clerk/backend')
    // Without telemetry, so that nothing of a run leaves this machine.
    const client = createClerkClient({ secretKey, apiUrl: url, telemetry: { disabled: true } })
    return async () => expectField(await client.users.getUser(userId), 'id', userId)
  },
  ours: ours(false),
  'ours-hosted': ours(true),
}
