/** The cases that take more than one call. Each returns its outcomes, message by message. */
import { createVerifier, sign } from '@org/core'
import { createHandler } from '@org/mailer/webhook'
import { createPlatformClient } from '@org/platform-client'

export const scripts = {
  /** A batch comes again, with a row in front. */
  async journal({ mailer, compose, outcomeOf }) {
    const rows = new Map()
    const journal = {
      read: async (keys) => new Map(keys.filter((key) => rows.has(key)).map((key) => [key, rows.get(key)])),
      write: async (records) => {
        for (const [key, record] of records) record ? rows.set(key, record) : rows.delete(key)
      },
    }
    const order = (index) => ({ ...compose(index), key: `order ${index}` })
    await mailer.sendEmails([1, 2, 3].map(order), { journal })
    const { results } = await mailer.sendEmails([0, 1, 2, 3].map(order), { journal })
    return results.map(outcomeOf)
  },

  async files({ mailer, compose, outcomeOf }) {
    const bytes = new TextEncoder().encode('a file')
    const contents = ['YSBmaWxl', bytes, bytes.buffer, new DataView(bytes.buffer), new Blob([bytes])]
    const messages = contents.map((content, index) => ({
      ...compose(index),
      attachments: [{ name: 'a.txt', contentType: 'text/plain', content }],
    }))
    return (await mailer.sendEmails(messages)).results.map(outcomeOf)
  },

  /** The provider receives the platform's call first, then the mail. */
  async 'signed event'({ url, compose, accept }) {
    const secret = `whsec_${btoa('a secret of twenty-four b')}`
    const platform = createPlatformClient({ baseUrl: url })
    await platform.setStatus('dep_1', { status: 'running' })
    const handle = createHandler({
      platform,
      shared: { apiToken: 'server-token', fromEmail: 'shop@example.com' },
      baseUrl: url,
      verify: createVerifier({ secrets: [secret] }),
      logger: () => {},
    })
    const functionCall = { name: 'sendEmail', arguments: compose(0) }
    const body = JSON.stringify({ name: 'FUNCTION_CALL', functionCall })
    const deliver = (signature) => {
      const headers = { 'content-type': 'application/json', ...signature }
      return handle(new Request('http://host.test/mailer/webhook', { method: 'POST', headers, body }))
    }
    const { result } = await (await deliver(await sign({ secret, id: 'evt_1', body }))).json()
    return [accept(result, 0), `${(await deliver({})).status}`]
  },
}
