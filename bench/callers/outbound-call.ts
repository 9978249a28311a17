/**
 * Reading one user, as each contender does it by its documentation.
 *
 * @module
 */
import { type Connect, expectValue } from './caller.ts'
import { hostTransport } from './host-transport.ts'

/** The user that the provider has. */
export const userId = 'user_2abcdefghijklmnopqrstuvwxyz'
const secretKey = 'sk_test_benchmark'
const path = `/v1/users/${userId}`
const headers = { authorization: `Bearer ${secretKey}`, accept: 'application/json' }

const undiciRequest: Connect = async (url) => {
  const { request } = await import('undici')
  return async () => {
    const { body } = await request(url + path, { headers })
    expectValue(idOf(await body.json()), userId)
  }
}

const globalFetch: Connect = async (url) => async () => {
  const response = await fetch(url + path, { headers })
  expectValue(idOf(await response.json()), userId)
}

const kyOverFetch: Connect = async (url) => {
  const { default: ky } = await import('ky')
  return async () => expectValue(idOf(await ky.get(url + path, { headers }).json()), userId)
}

const clerk: Connect = async (url) => {
  const { createClerkClient } = await import('@clerk/backend')
  // Telemetry off: nothing of a run leaves this machine.
  const client = createClerkClient({ secretKey, apiUrl: url, telemetry: { disabled: true } })
  return async () => expectValue((await client.users.getUser(userId)).id, userId)
}

const ours: Connect = async (url) => {
  const { createIdpClient } = await import('@org/idp')
  const client = createIdpClient({ secretKey, baseUrl: `${url}/v1` })
  return async () => expectValue((await client.getUser(userId)).id, userId)
}

const oursHosted: Connect = async (url) => {
  const { createIdpClient } = await import('@org/idp')
  const client = createIdpClient({ secretKey, baseUrl: `${url}/v1`, fetch: await hostTransport('idp') })
  return async () => {
    // As in the host, where each call hangs on the signal of its event.
    const { signal } = new AbortController()
    expectValue((await client.getUser(userId, { signal })).id, userId)
  }
}

/** By id. */
export const outboundCalls: Readonly<Record<string, Connect>> = {
  'undici-request': undiciRequest,
  fetch: globalFetch,
  ky: kyOverFetch,
  clerk,
  ours,
  'ours-hosted': oursHosted,
}

function idOf(user: unknown): unknown {
  return typeof user === 'object' && user !== null && 'id' in user ? user.id : undefined
}
