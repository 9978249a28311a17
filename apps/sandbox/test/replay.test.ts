import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { SESSION_FORMAT } from '../src/world/session.ts'
import { startWorld } from '../src/world/world.ts'
import { finish, folderForTest, webhookSecret as secret, startProgram } from './fixtures.ts'

/** `npm run replay`, with a file of this content; none if it is `undefined`. */
async function replay(content: object | string | undefined, ...given: string[]) {
  const folder = await folderForTest()
  const text = typeof content === 'object' ? JSON.stringify(content) : content
  if (text !== undefined) await writeFile(join(folder, 'session.json'), text)
  return finish(startProgram('replay', ['session.json', ...given], { INIT_CWD: folder }))
}

const mail = { to: 'ada@example.com', subject: 'Hello', textBody: 'Hello.' }
const body = JSON.stringify({ name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: mail } })
const sent = { route: 'mailer', deliveryId: 'evt_1', body, status: 200 }
const sessionOf = (...events: object[]) => ({ format: SESSION_FORMAT, events })
const session = sessionOf(sent, sent, { route: 'mailer', body: '{"name": ', status: 200 })

it('a replay sends every event in its order, signed anew, and reports each changed status; with new ids, every effect repeats', async () => {
  const world = await startWorld({ PORT: '0', PLATFORM_WEBHOOK_SECRET: secret })
  onTestFinished(world.close)
  const { url } = world
  const { output, errors, code } = await replay(session, '--url', `${url}/`, '--secret', secret)
  expect(output.split('\n')).toEqual([
    '    1  mailer FUNCTION_CALL sendEmail → 200',
    '    2  mailer FUNCTION_CALL sendEmail → 200 replayed',
    '    3  mailer → 400 invalid_json, was 200',
    `3 events sent to ${url}; the status of 1 response changed.`,
    '',
  ])
  expect([errors, code]).toEqual(['', 0])
  expect(world.mail.messages).toHaveLength(1)
  await replay(session, '--url', url, '--secret', secret, '--new-ids')
  expect(world.mail.messages).toHaveLength(3)
  const { output: refused } = await replay(session, '--url', url, '--secret', `whsec_${btoa('another')}`)
  expect(refused.match(/401 invalid_signature/g)).toHaveLength(3)
})

it.each<[string, object | string | undefined, RegExp, url?: string]>([
  ['an invalid option', session, /^--url: “nowhere” is not a URL\.\n$/, 'nowhere'],
  ['a host that is not there', session, /^http.*:9 can’t be reached; 0 of 3 events were sent\.\n$/],
  ['a file that is no JSON', '{', /session\.json can’t be replayed: it is no session/],
  ['a route with a path', sessionOf({ route: '../x', body: '' }), /it is no session/],
  ['an event without a body', sessionOf({ route: 'mailer' }), /it is no session/],
  ['a file that is not there', undefined, /session\.json can’t be read \(ENOENT\)\.\n$/],
])('a replay refuses %s', async (_, content, message, url = 'http://127.0.0.1:9') => {
  const { output, errors, code } = await replay(content, '--url', url)
  expect(errors).toMatch(message)
  expect([output, code]).toEqual(['', 1])
})
