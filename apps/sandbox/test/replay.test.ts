import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SESSION_FORMAT } from '../src/world/session.ts'
import { startWorld } from '../src/world/world.ts'
import { finish, programEnvironment, webhookSecret as secret } from './fixtures.ts'

const program = fileURLToPath(new URL('../src/replay.ts', import.meta.url))

/** `npm run replay`, with a file of this content; none if it is `undefined`. */
async function replay(content: unknown, ...given: string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-replay-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  if (text !== undefined) await writeFile(join(folder, 'session.json'), text)
  const env = { ...programEnvironment, INIT_CWD: folder }
  return finish(
    spawn(process.execPath, ['--conditions=@org/source', program, 'session.json', ...given], { env }),
  )
}

const mail = { to: 'ada@example.com', subject: 'Hello', textBody: 'Hello.' }
const body = JSON.stringify({ name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: mail } })
const session = {
  format: SESSION_FORMAT,
  events: [
    { route: 'mailer', deliveryId: 'evt_1', body, status: 200 },
    { route: 'mailer', deliveryId: 'evt_1', body, status: 200 },
    { route: 'mailer', body: '{"name": ', status: 200 },
  ],
}

describe('a replay', () => {
  it('sends every event in its order, signed anew, and reports each changed status; with new ids, every effect repeats', async () => {
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

  const events = (event: object) => ({ format: SESSION_FORMAT, events: [event] })
  it.each<[string, unknown, RegExp, url?: string]>([
    ['an invalid option', session, /^--url: “nowhere” is not a URL\.\n$/, 'nowhere'],
    ['a host that is not there', session, /^http.*:9 can’t be reached; 0 of 3 events were sent\.\n$/],
    ['a file that is no JSON', '{', /session\.json can’t be replayed: it is no session/],
    ['a route with a path', events({ route: '../x', body: '' }), /it is no session/],
    ['an event without a body', events({ route: 'mailer' }), /it is no session/],
    ['a file that is not there', undefined, /session\.json can’t be read \(ENOENT\)\.\n$/],
  ])('refuses %s', async (_, content, message, url = 'http://127.0.0.1:9') => {
    const { output, errors, code } = await replay(content, '--url', url)
    expect(errors).toMatch(message)
    expect([output, code]).toEqual(['', 1])
  })
})
