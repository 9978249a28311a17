import { type Connect, createFloors, expectField, hostTransport } from './call.ts'
import { userId } from './wire.ts'

const secretKey = 'sk_test_benchmark'
const check = (user: unknown) => expectField(user, 'id', userId)

/** Our client. The host passes the signal of an event to each call. */
const ours =
  (hosted: boolean): Connect =>
  async (url) => {
    const { createIdpClient } = await import('@org/idp')
    const transport = hosted ? { fetch: hostTransport('idp') } : {}
    const client = createIdpClient({ secretKey, baseUrl: `${url}/v1`, ...transport })
    return async () => {
      const options = hosted ? { signal: new AbortController().signal } : {}
      check(await client.getUser(userId, options))
    }
  }

export const outboundCalls: Readonly<Record<string, Connect>> = {
  ...createFloors({
    path: `/v1/users/${userId}`,
    headers: { authorization: `Bearer ${secretKey}`, accept: 'application/json' },
    check,
  }),
  async clerk(url) {
    const { createClerkClient } = await import('@clerk/backend')
    // Without telemetry, so that nothing of a run leaves this machine.
    const client = createClerkClient({ secretKey, apiUrl: url, telemetry: { disabled: true } })
    return async () => check(await client.users.getUser(userId))
  },
  ours: ours(false),
  'ours-hosted': ours(true),
}
