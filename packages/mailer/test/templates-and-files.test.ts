import { expect, it } from 'vitest'
import type { Attachment } from '../src/index.ts'
import { failureOf, message, runMailProvider, runs } from './support.ts'

const mail = runMailProvider()
const { provider, requests } = mail
const file = (fields: object = {}): Attachment =>
  Object.assign({ name: 'a.dat', content: 'aGVsbG8=', contentType: 'a/b' }, fields)

it('sends files of every form, and images with the prefix of their id', async () => {
  const padded = new TextEncoder().encode('[hello]')
  const contents = [
    ...['aGVs\r\nbG8=\r\n', Buffer.from('hello'), padded.slice(1, 6).buffer, new Blob(['hello'])],
    ...[padded.subarray(1, 6), new DataView(padded.buffer, 1, 5), new File(['hello'], 'other.txt')],
  ]
  const images = [file({ contentId: 'logo' }), file({ contentId: 'cid:logo' })]
  const attachments = [...contents.map((content) => file({ content })), ...images]
  await mail.mailer().sendEmail(message({ attachments }))
  const ids = [...contents.map(() => undefined), 'cid:logo', 'cid:logo']
  expect(provider.messages[0]?.attachments).toEqual(ids.map((contentId) => ({ ...file(), contentId })))
})

it.each<[string, object, string, string]>([
  ['a number', { content: 7 }, 'content', 'must be a Blob'],
  ['white space', { content: ' \n' }, 'content', 'must not be empty'],
  ['an empty Blob', { content: new Blob([]) }, 'content', 'must not be empty'],
  ['plain text', { content: 'Hello Ada!' }, 'content', 'is not base64'],
  ['base64 that is cut off', { content: 'aGVsbG8' }, 'content', 'is not base64'],
  ['base64 for URLs', { content: 'aGVs_G8=' }, 'content', 'is not base64'],
  ['padding in the middle', { content: 'aG=sbG8=' }, 'content', 'is not base64'],
  ['base64 of 9 MB with a fault', { content: `${'A'.repeat(9_000_000)}%` }, 'content', 'is not base64'],
  ['no name', { name: '' }, 'name', 'is required'],
  ['a type that is no text', { contentType: 7 }, 'contentType', 'must be text'],
  [
    'a field of another API',
    { ContentID: 'logo' },
    'ContentID',
    'no field of an attachment: the nearest is contentId',
  ],
  ['an id with a space', { contentId: 'my logo' }, 'contentId', 'is invalid'],
])('refuses a file with %s, by its path', async (_, fields, name, reason) => {
  const attachments = [file(), file(fields)]
  const { code, errors } = await failureOf(mail.mailer().sendEmail(message({ attachments })))
  const fault = { path: `attachments[1].${name}`, message: expect.stringContaining(reason) }
  expect([code, errors]).toEqual(['invalid_arguments', [fault]])
  expect(requests).toEqual([])
})

it('refuses files of more than 10 MB together, whatever their form', async () => {
  const content = new Uint8Array(2_000_000)
  const three = [content, Buffer.from(content).toString('base64'), content].map((each) =>
    file({ content: each }),
  )
  await mail.mailer().sendEmail(message({ attachments: three }))
  const tooMany = mail.mailer().sendEmail(message({ attachments: [...three, file({ content })] }))
  const { errors } = await failureOf(tooMany)
  expect(errors).toEqual([{ path: '', message: expect.stringContaining('10 MB') }])
})

it('sends the texts that functions and promises render, in one mail and in a batch', async () => {
  class Welcome {
    readonly to = 'ada@example.org'
    readonly htmlBody = () => '<p>Hi</p>'
    readonly textBody = async () => 'Hi'
    get subject() {
      return 'Welcome'
    }
  }
  const promised = message({ subject: 'Welcome', body: Promise.resolve('<p>Hi</p>'), textBody: 'Hi' })
  await mail.mailer().sendEmail(new Welcome())
  await mail.mailer().sendEmails([new Welcome(), promised])
  const rendered = { subject: 'Welcome', htmlBody: '<p>Hi</p>', textBody: 'Hi' }
  expect(provider.messages).toMatchObject([rendered, rendered, rendered])
})

const reason = new Error('secret-words')
const throws = () => {
  throw reason
}
it.each<[string, object, object]>([
  ['throws', { htmlBody: throws }, { errors: [{ path: 'htmlBody' }], cause: reason }],
  ['rejects after another threw', { htmlBody: async () => throws(), textBody: throws }, { cause: reason }],
  ['is no text', { htmlBody: () => ({}) }, { errors: [{ path: 'htmlBody', message: 'must be text' }] }],
  ['stands beside an unknown field', { htmlBody: () => 'Hi', html: 'Hi' }, { errors: [{ path: 'html' }] }],
])('refuses a message whose template %s, and fails it alone in a batch', async (_, fields, expected) => {
  const given = Object.assign(message(), fields)
  const error = await failureOf(mail.mailer().sendEmail(given))
  expect(error).toMatchObject({ code: 'invalid_arguments', ...expected })
  expect(error.message).not.toContain('secret-words')
  const { results } = await mail.mailer().sendEmails([message(), given, message()])
  expect(runs(results)).toBe('1 sent,1 failed,1 sent')
})

it('does not wait for a template beyond the signal of its call', async () => {
  const leave = new AbortController()
  const htmlBody = () => {
    leave.abort(reason)
    return new Promise<string>(() => {})
  }
  const sending = mail.mailer().sendEmail(message({ htmlBody }), { signal: leave.signal })
  expect(await failureOf(sending)).toMatchObject({ code: 'aborted', effect: 'none', cause: reason })
})
