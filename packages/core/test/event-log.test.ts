import { describe, expect, it } from 'vitest'
import { createJsonLogger, type HandlerContext, IntegrationError } from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { calling, created, createHost, type ExampleSettings, type ProviderCall, token } from './example.ts'

type Context = HandlerContext<ExampleSettings>
const greet = calling('greet', { to: 'Ada' })

/** The line of the last event. */
const lastLine = ({ lines }: ReturnType<typeof createHost>) => lines.at(-1)

describe('the line of an event', () => {
  it('says who asked for what, what came of it, and how often the provider was called', async () => {
    const provider = async (_: ProviderCall, { fetch, egress }: Context) => {
      await fetch('http://provider.test/one')
      await egress.fetch('https://provider.test/two')
    }
    const host = createHost({ provider, fetch: async () => new Response(), now: () => 0 })
    await deliver(
      host.handle,
      { ...greet, deployment: { id: 'dep_1', outputs: { token, region: 'eu' } } },
      { id: 'evt_1' },
    )
    expect(lastLine(host)).toEqual({
      level: 'info',
      message: 'FUNCTION_CALL 200',
      facts: {
        route: 'greeter',
        event: 'FUNCTION_CALL',
        function: 'greet',
        deployment: 'dep_1',
        delivery: 'evt_1',
        outcome: 'ok',
        status: 200,
        code: undefined,
        replayed: undefined,
        durationMs: 0,
        providerCalls: 2,
      },
    })
  })

  it('counts the calls of each event by itself, and none for what is replayed', async () => {
    const host = createHost({
      provider: async (_, { fetch }) => void (await fetch('http://provider.test/')),
      fetch: async () => new Response(),
    })
    for (const expected of [
      { outcome: 'ok', providerCalls: 1 },
      { outcome: 'replayed', providerCalls: 0 },
    ]) {
      await deliver(host.handle, greet, { id: 'evt_1' })
      expect(lastLine(host)?.facts).toMatchObject(expected)
    }
  })

  it('tells outcomes apart in a word', async () => {
    const failing = async () => {
      throw new IntegrationError('provider_error', 'Down.')
    }
    const gone = createHost()
    gone.platform.removeDeployment('dep_1')
    for (const [host, event, outcome, level] of [
      [createHost(), { name: 'WEBHOOK_CHALLENGE' }, 'ok', 'info'],
      [gone, created, 'ignored', 'info'],
      [createHost(), { name: 'NOTHING' }, 'refused', 'info'],
      [createHost({ provider: failing }), calling('count'), 'failed', 'error'],
    ] as const) {
      await deliver(host.handle, event)
      expect(lastLine(host)).toMatchObject({ level, facts: { outcome } })
    }
  })

  it('holds no secret and no mail address, whichever field the sender puts them into', async () => {
    const host = createHost({ secrets: ['the-secret'] })
    for (const text of ['the-secret', 'ada@example.com']) {
      const event = { ...calling(text), deployment: { id: text, inputs: { token } } }
      await deliver(host.handle, event, { id: `${text}-1` })
      await deliver(host.handle, calling('greet', { [text]: text }), { id: `${text}-2` })
    }
    expect(host.lines.length).toBeGreaterThanOrEqual(4)
    expect(JSON.stringify(host.lines)).not.toMatch(/the-secret|ada@example/)
  })

  it('holds no secret and no address, of a fault of the host, but where it was', async () => {
    const provider = async () => {
      throw new TypeError(`Headers.append: "${token}" for ada@example.com ${'x'.repeat(1_000)}`)
    }
    const host = createHost({ provider })
    await deliver(host.handle, created)
    const facts = lastLine(host)?.facts ?? {}
    expect(facts.reason).toMatch(/^TypeError: Headers\.append: "\[redacted\]" for \[address\] x+$/)
    expect(String(facts.reason)).toHaveLength(500)
    expect(facts).toMatchObject({ at: expect.arrayContaining([expect.stringMatching(/^ +at /)]) })
  })
})

describe('a line of JSON', () => {
  // ANSI sequences, line ends of every kind, and characters that turn the direction of writing or do not show.
  it.each([
    '\n',
    '\r\n',
    '\u001b[2J\u001b[31mred',
    '\u009b31m',
    '\u0000\u0007\u0008\u007f',
    '\u0085',
    '\u2028\u2029',
    '\u202e\u2066\u200f\u061c',
    '\u200b\u2060\ufeff',
    '"}\n{"level":"error","message":"forged"}',
    '\ud800',
  ])('is one line, and shows %j as what it is', (payload) => {
    const lines: string[] = []
    const log = createJsonLogger('info', (line) => lines.push(line))
    log('info', payload, { [payload]: payload })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^[\x20-\x7e]*$/)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', message: payload, [payload]: payload })
  })
})
