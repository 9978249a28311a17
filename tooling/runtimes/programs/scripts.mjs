/** The cases that take more than one call. Each returns its outcomes, message by message. */
import { createVerifier, sign } from '@org/core'
import { createHandler } from '@org/mailer/webhook'
import { createPlatformClient } from '@org/platform-client'

const forever = () => new Promise(() => {})

/** The outcomes on an error of a batch, and the error itself. */
async function endOf(work, { outcomeOf, describe }) {
  try {
    await work
    return ['no error']
  } catch (error) {
    return [...error.results.map(outcomeOf), describe(error)]
  }
}

export const scripts = {
  async 'source that is stuck, with a time limit'(tools) {
    async function* source() {
      for (const index of [0, 1]) yield tools.compose(index)
      await forever()
    }
    return endOf(tools.mailer.sendEmails(source(), { timeoutMs: 6_000 }), tools)
  },

  async 'source that is stuck, and a signal'(tools) {
    const controller = new AbortController()
    async function* source() {
      for (const index of [0, 1]) yield tools.compose(index)
      await forever()
    }
    setTimeout(() => controller.abort(), 6_000)
    return endOf(tools.mailer.sendEmails(source(), { signal: controller.signal }), tools)
  },

  async 'live stream, one message at a time'({ mailer, compose, outcomeOf }) {
    let next = () => {}
    async function* source() {
      for (const index of [0, 1, 2]) {
        yield compose(index)
        await new Promise((resolve) => {
          next = resolve
        })
      }
    }
    const outcomes = []
    for await (const result of mailer.streamEmails(source())) {
      outcomes.push(outcomeOf(result))
      next()
    }
    return outcomes
  },

  async 'batch that comes again, with a row in front'({ mailer, compose, outcomeOf }) {
    const rows = new Map()
    const journal = {
      read: async (keys) => new Map(keys.filter((key) => rows.has(key)).map((key) => [key, rows.get(key)])),
      write: async (records) => {
        for (const [key, record] of records) record ? rows.set(key, record) : rows.delete(key)
      },
    }
    await mailer.sendEmails([1, 2, 3].map(compose), { journal })
    const { results } = await mailer.sendEmails([0, 1, 2, 3].map(compose), { journal })
    return results.map(outcomeOf)
  },

  async 'files of every kind'({ mailer, compose, outcomeOf }) {
    const bytes = new TextEncoder().encode('a file')
    const contents = ['YSBmaWxl', bytes, bytes.buffer, new DataView(bytes.buffer), new Blob([bytes])]
    const messages = contents.map((content, index) => ({
      ...compose(index),
      attachments: [{ name: 'a.txt', contentType: 'text/plain', content }],
    }))
    return (await mailer.sendEmails(messages)).results.map(outcomeOf)
  },

  async 'body that renders'({ mailer, compose, outcomeOf }) {
    const bodies = [async () => '<p>Hello</p>', Promise.resolve('<p>Hello</p>')]
    const messages = bodies.map((htmlBody, index) => ({ ...compose(index), htmlBody }))
    return (await mailer.sendEmails(messages)).results.map(outcomeOf)
  },

  async 'address of another script'({ mailer, compose }) {
    const { to } = await mailer.sendEmail({
      ...compose(0),
      to: { name: 'Jörg', address: 'j@münchen.example' },
    })
    return [to.includes('xn--mnchen-3ya.example') ? 'sent' : to]
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
