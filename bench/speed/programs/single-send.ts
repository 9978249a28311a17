import { createOutbound } from '../../../apps/server/src/outbound.ts'
import { createNodeRuntime } from '../../../apps/server/src/runtimes/node-runtime.ts'
import { messageId, text, toWireMail } from './wire.ts'

/**
 * Makes a contender's client for a provider. The call that it resolves with throws if the response is wrong.
 *
 * It imports its library when it is called, so that no process holds the library of another contender.
 */
type Connect = (url: string) => Promise<() => Promise<void>>

/** The `fetch` that the host on Node gives its integrations. */
function hostTransport(): typeof fetch {
  const { connections } = createNodeRuntime({ production: false, egressAllow: [] })
  return createOutbound({ connections, logger: () => {} }).provider('mailer').fetch
}

/** @throws if a field of a response has another value */
function expectField(response: unknown, name: string, expected: string): void {
  const value = typeof response === 'object' && response !== null ? Reflect.get(response, name) : undefined
  if (value !== expected) throw new Error(`${name} is ${JSON.stringify(value)} and not “${expected}”.`)
}

const mail = { from: 'Shop <shop@example.com>', to: 'ada@example.org', subject: 'Your order' }
const wireMail = toWireMail(mail.to)
const check = (acceptance: unknown) => expectField(acceptance, 'MessageID', messageId)

/** Our client with the transport of the host, which passes the signal of an event to each call. */
const hosted: Connect = async (url) => {
  const { createMailer } = await import('@org/mailer')
  const client = createMailer({ apiToken: 'server-token', baseUrl: url, fetch: hostTransport() })
  return async () => {
    const { signal } = new AbortController()
    expectField(await client.sendEmail({ ...mail, textBody: text }, { signal }), 'messageId', messageId)
  }
}

/** The HTTP client without retries, typed failures and limits. */
const byUndici =
  (pipelining: number): Connect =>
  async (url) => {
    const { Agent, request } = await import('undici')
    const dispatcher = new Agent({ pipelining })
    const headers = { 'content-type': 'application/json', 'x-postmark-server-token': 'server-token' }
    return async () => {
      const body = JSON.stringify(wireMail)
      const response = await request(`${url}/email`, { method: 'POST', headers, body, dispatcher })
      check(await response.body.json())
    }
  }

export const singleSends: Readonly<Record<string, Connect>> = {
  'undici-request': byUndici(1),
  'undici-fresh': byUndici(0),
  async postmark(url) {
    const { ServerClient } = await import('postmark')
    const { host, protocol } = new URL(url)
    const client = new ServerClient('server-token', { requestHost: host, useHttps: protocol === 'https:' })
    return async () => check(await client.sendEmail({ ...wireMail }))
  },
  hosted,
  'hosted-alone': hosted,
}
