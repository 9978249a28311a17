import { expect, it } from 'vitest'
import { failureOf, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider, requests } = mail

it.each([
  ['a function', () => '<p>Hi</p>'],
  ['a function that takes its time', async () => '<p>Hi</p>'],
  ['a promise', Promise.resolve('<p>Hi</p>')],
])('sends the HTML that %s renders, in one mail and in a batch', async (_what, htmlBody) => {
  const text = async () => 'Hi'
  await mail.mailer().sendEmail(message({ htmlBody, textBody: text }))
  await mail.mailer().sendEmails([message({ body: htmlBody, textBody: text })])
  expect(provider.messages).toMatchObject([
    { htmlBody: '<p>Hi</p>', textBody: 'Hi' },
    { htmlBody: '<p>Hi</p>', textBody: 'Hi' },
  ])
})

it('renders a message of a class, with its getters', async () => {
  class Welcome {
    readonly to = 'ada@example.org'
    readonly htmlBody = () => '<p>Hi</p>'
    get subject() {
      return 'Welcome'
    }
  }
  await mail.mailer().sendEmail(new Welcome())
  expect(provider.messages).toMatchObject([{ subject: 'Welcome', htmlBody: '<p>Hi</p>' }])
})

const reason = new Error('secret-words')
it.each<[string, () => string | Promise<string>]>([
  [
    'throws',
    () => {
      throw reason
    },
  ],
  ['rejects', () => Promise.reject(reason)],
])('refuses a message whose HTML %s, and keeps the cause', async (_what, htmlBody) => {
  const error = await failureOf(mail.mailer().sendEmail(message({ htmlBody })))
  expect(error).toMatchObject({ code: 'invalid_arguments', errors: [{ path: 'htmlBody' }], cause: reason })
  expect(error.message).not.toContain('secret-words')
  expect(requests).toEqual([])
})

it('handles a body that fails although another one failed before', async () => {
  const fails = async () => {
    throw reason
  }
  const throws = () => {
    throw reason
  }
  const error = await failureOf(mail.mailer().sendEmail(message({ htmlBody: fails, textBody: throws })))
  expect(error.errors).toMatchObject([{ path: 'textBody' }])
})

it('fails one message of a batch alone if its HTML throws', async () => {
  const broken = message({
    htmlBody: () => {
      throw reason
    },
  })
  const batch = await mail.mailer().sendEmails([message(), broken, message()])
  expect(batch.results.map(({ status }) => status)).toEqual(['sent', 'failed', 'sent'])
})

it('renders beside files that are null, and leaves invalid files to the check', async () => {
  const rendered = message({ htmlBody: () => '<p>Hi</p>' })
  await mail.mailer().sendEmail(Object.assign(rendered, { attachments: null }))
  const error = await failureOf(mail.mailer().sendEmail(Object.assign(rendered, { attachments: [null] })))
  expect(error.errors).toMatchObject([{ path: 'attachments[0]' }])
})

it('refuses what renders to anything else than text', async () => {
  const htmlBody: () => string = () => Object.assign({})
  expect((await failureOf(mail.mailer().sendEmail(message({ htmlBody })))).errors).toMatchObject([
    { path: 'htmlBody', message: 'must be text' },
  ])
})
