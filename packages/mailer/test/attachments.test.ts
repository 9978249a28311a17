import { expect, it } from 'vitest'
import type { Attachment } from '../src/index.ts'
import { failureOf, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider, requests } = mail
const file = (fields: Partial<Attachment> = {}): Attachment =>
  Object.assign({ name: 'a.dat', content: 'aGVsbG8=', contentType: 'a/b' }, fields)
const hello = new TextEncoder().encode('hello')
const padded = new TextEncoder().encode('[hello]')

it.each<[string, Attachment['content']]>([
  ['a text of base64', 'aGVsbG8='],
  ['wrapped base64', 'aGVs\r\nbG8=\r\n'],
  ['a Uint8Array', hello],
  ['a Buffer', Buffer.from('hello')],
  ['a part of a buffer', padded.subarray(1, 6)],
  ['a DataView', new DataView(padded.buffer, 1, 5)],
  ['an ArrayBuffer', hello.buffer],
  ['a Blob', new Blob(['hello'])],
  ['a File', new File(['hello'], 'other.txt')],
])('sends the content of %s', async (_what, content) => {
  const attachments = [file({ content }), file({ name: 'b.dat', content: 'SGk=' })]
  await mail.mailer().sendEmail(message({ attachments }))
  const expected = { contentType: 'a/b', contentId: undefined }
  expect(provider.messages[0]?.attachments).toEqual([
    { name: 'a.dat', content: 'aGVsbG8=', ...expected },
    { name: 'b.dat', content: 'SGk=', ...expected },
  ])
})

it('encodes bytes of every length like the standard', async () => {
  const files = Array.from({ length: 70 }, (_, length) => Buffer.alloc(length + 1, `${length} ÿ`, 'latin1'))
  await mail.mailer().sendEmail(message({ attachments: files.map((content) => file({ content })) }))
  const sent = provider.messages[0]?.attachments.map(({ content }) => content)
  expect(sent).toEqual(files.map((content) => content.toString('base64')))
})

it('sends a buffer as it is when its message is composed, also if the buffer is filled anew', async () => {
  const content = new Uint8Array(4_003)
  for (const value of [1, 1, 2]) {
    content[4_002] = value
    await mail.mailer().sendEmail(message({ attachments: [file({ content })] }))
  }
  const ends = provider.messages.map(({ attachments }) =>
    Buffer.from(attachments[0]?.content ?? '', 'base64').at(-1),
  )
  expect(ends).toEqual([1, 1, 2])
})

const pages = 'is not base64'
it.each<[string, unknown, string]>([
  ['undefined', undefined, 'must be a Blob'],
  ['null', null, 'must be a Blob'],
  ['a number', 7, 'must be a Blob'],
  ['a list of numbers', [104, 105], 'must be a Blob'],
  ['a Buffer that went through JSON', { type: 'Buffer', data: [104] }, 'must be a Blob'],
  ['a promise', Promise.resolve('SGk='), 'must be a Blob'],
  ['an empty text', '', 'is empty'],
  ['white space', ' \n', 'is empty'],
  ['an empty Uint8Array', new Uint8Array(), 'is empty'],
  ['an empty ArrayBuffer', new ArrayBuffer(), 'is empty'],
  ['an empty Blob', new Blob([]), 'is empty'],
  ['plain text', 'Hello Ada!', pages],
  ['base64 that is cut off', 'aGVsbG8', '='],
  ['padding in the middle', 'aG=sbG8=', pages],
  ['too much padding', 'aGVsb===', pages],
  ['base64 for URLs', 'aGVs_G8=', pages],
  ['a data: URL', 'data:text/plain;base64,SGk=', pages],
])('refuses %s as content, by its path', async (_what, content, reason) => {
  const attachments = [file(), Object.assign(file(), { content })]
  const { code, errors } = await failureOf(mail.mailer().sendEmail(message({ attachments })))
  const fault = { path: 'attachments[1].content', message: expect.stringContaining(reason) }
  expect([code, errors]).toEqual(['invalid_arguments', [fault]])
  expect(requests).toEqual([])
})

it.each<[string, object]>([
  ['name', { name: '' }],
  ['contentType', { contentType: undefined }],
  ['contentType', { contentType: 7 }],
  ['contentId', { contentId: 'my logo' }],
  ['contentId', { contentId: '<logo>' }],
])('refuses an invalid %s of an attachment', async (name, fields) => {
  const attachments = [Object.assign(file(), fields)]
  const { errors } = await failureOf(mail.mailer().sendEmail(message({ attachments })))
  expect(errors?.map(({ path }) => path)).toEqual([`attachments[0].${name}`])
})

it('names an inline image as the HTML refers to it', async () => {
  const ids = ['logo', 'cid:logo', '']
  const attachments = ids.map((contentId) => file({ contentId }))
  await mail.mailer().sendEmail(message({ htmlBody: '<img src="cid:logo">', attachments }))
  const sent = provider.messages[0]?.attachments.map(({ contentId }) => contentId)
  expect(sent).toEqual(['cid:logo', 'cid:logo', undefined])
})

it('refuses files of more than 10 MB together, whatever their form', async () => {
  const content = new Uint8Array(2_000_000)
  const base64 = Buffer.from(content).toString('base64')
  const four = [file({ content }), file({ content: base64 }), file({ content })]
  await mail.mailer().sendEmail(message({ attachments: four }))
  const { errors } = await failureOf(
    mail.mailer().sendEmail(message({ attachments: [...four, file({ content })] })),
  )
  expect(errors).toEqual([{ path: '', message: expect.stringContaining('10 MB') }])
  expect(provider.messages).toHaveLength(1)
})
