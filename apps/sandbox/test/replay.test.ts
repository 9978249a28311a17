import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SESSION_FORMAT } from '../src/world/session.ts'
import { startWorld } from '../src/world/world.ts'
import { programEnvironment, webhookSecret as secret } from './fixtures.ts'

const program = fileURLToPath(new URL('../src/replay.ts', import.meta.url))

/** `npm run replay`, with a file of this content; none if it is `undefined`. */
async function replay(content: unknown, ...given: string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-replay-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  if (text !== undefined) await writeFile(join(folder, 'session.json'), text)
  const child = spawn(process.execPath, ['--conditions=@org/source', program, 'session.json', ...given], {
    env: { ...programEnvironment, INIT_CWD: folder },
  })
  const [output, errors, [code]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'close'),
  ])
  return { output, errors, code }
}

async function host(environment = {}) {
  const world = await startWorld({ PORT: '0', ...environment })
  onTestFinished(world.close)
  return world
}

const mail = { to: 'ada@example.com', subject: 'Hello', textBody: 'Hello.' }
const sending = { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: mail } }
const session = {
  format: SESSION_FORMAT,
  events: [
    { route: 'mailer', deliveryId: 'evt_1', event: sending, answered: { status: 200 } },
    { route: 'mailer', deliveryId: 'evt_1', event: sending, answered: { status: 200 } },
    { route: 'mailer', text: '{"name": ', answered: { status: 200 } },
  ],
}

describe('a replay', () => {
  it('sends every event in its order, signed anew, and reports each changed status', async () => {
    const { url, mail: provider } = await host({ PLATFORM_WEBHOOK_SECRET: secret })
    const { output, errors, code } = await replay(session, '--url', `${url}/`, '--secret', secret)
    expect(errors).toBe('')
    expect(output.replaceAll(/\d+ ms/g, 'n ms').split('\n')).toEqual([
      '    1  mailer FUNCTION_CALL sendEmail → 200 (n ms)',
      '    2  mailer FUNCTION_CALL sendEmail → 200 replayed (n ms)',
      '    3  mailer → 400 invalid_json was 200 (n ms)',
      `3 events sent to ${url}; the status of 1 response changed.`,
      '',
    ])
    expect(provider.emulator?.messages).toHaveLength(1)
    expect(code).toBe(0)
  })

  it('repeats every effect with new ids', async () => {
    const { url, mail: provider } = await host()
    await replay(session, '--url', url, '--new-ids')
    expect(provider.emulator?.messages).toHaveLength(2)
  })

  it('reports that a host with another secret refuses the events', async () => {
    const { url } = await host({ PLATFORM_WEBHOOK_SECRET: secret })
    const { output } = await replay(session, '--url', url, '--secret', `whsec_${btoa('another secret')}`)
    expect(output.match(/401 invalid_signature/g)).toHaveLength(3)
  })

  it('stops if the host can’t be reached, and says how many events it sent', async () => {
    const { output, errors, code } = await replay(session, '--url', 'http://127.0.0.1:9')
    expect(errors).toBe('http://127.0.0.1:9 can’t be reached; 0 of 3 events were sent.\n')
    expect(output).toBe('')
    expect(code).toBe(1)
  })

  it.each([
    ['it is not JSON', '{'],
    ['it is not a session', { events: [] }],
    ['events[0] has no route', { ...session, events: [{ route: '../x', event: {} }] }],
    ['events[0] has neither event nor text', { ...session, events: [{ route: 'mailer' }] }],
  ])('refuses a file, because %s', async (reason, content) => {
    const { errors, code } = await replay(content)
    expect(errors).toContain(`session.json can’t be replayed: ${reason}`)
    expect(code).toBe(1)
  })

  it('refuses a file that is not there', async () => {
    expect((await replay(undefined)).errors).toMatch(/session\.json can’t be read \(ENOENT\)\.\n$/)
  })

  it('refuses an invalid option', async () => {
    expect((await replay(session, '--url', 'nowhere')).errors).toBe('--url: “nowhere” is not a URL.\n')
  })
})
