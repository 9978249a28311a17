/** The least that a client of the provider can do: it posts without retries, checks and limits. */
import { Agent, request } from 'undici'

export const text = 'It is on its way. '.repeat(10)

export const toWireMail = (to: string) => ({
  From: 'Shop <shop@example.com>',
  To: to,
  Subject: 'Your order',
  TextBody: text,
  MessageStream: 'outbound',
})

/** @param pipelining 1: connections are kept; 0: each post has a new one */
export function createFloor(url: string, pipelining = 1) {
  const dispatcher = new Agent({ pipelining })
  const headers = { 'content-type': 'application/json', 'x-postmark-server-token': 'server-token' }
  return async (path: string, mails: unknown): Promise<unknown> => {
    const options = { method: 'POST', headers, body: JSON.stringify(mails), dispatcher }
    return (await request(url + path, options)).body.json()
  }
}
