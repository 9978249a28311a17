import { createVerifier, createWebhookHandler } from '@org/core'
import { eventNames } from '@org/core/internal'
import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bare,
  calling,
  createHost,
  deployment,
  greet,
  post,
  readProblem,
  refusal,
  unreachableStore,
} from './fixtures.ts'

const encoder = new TextEncoder()
const challenge = (extra: unknown) => JSON.stringify({ name: 'WEBHOOK_CHALLENGE', extra })
const accepted = async (body: BodyInit, headers?: HeadersInit) =>
  expect((await post(createHost().handle, body, headers)).status).toBe(200)

/** A body that arrives piece by piece, and counts the bytes that were read. */
function stream(pieces: Iterable<Uint8Array>) {
  const waiting = pieces[Symbol.iterator]()
  let read = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { done, value } = waiting.next()
        if (done) return controller.close()
        read += value.length
        controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
  return { body, read: () => read }
}

describe('a request', () => {
  it.each<[string, Record<string, string>]>([
    ['no signature', {}],
    ['a signature of ten minutes ago', { 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 600) }],
    ['a signature of another version', { 'webhook-signature': 'v2,abc' }],
  ])('is refused with %s before its body is read, and the log names its sender', async (_, changed) => {
    const verify = createVerifier({ secrets: [`whsec_${btoa('the secret of this route')}`] })
    const host = createHost({ verify, peer: () => '192.0.2.7' })
    const { body, read } = stream([encoder.encode(challenge(1))])
    const now = String(Math.floor(Date.now() / 1000))
    const signed = { 'webhook-id': 'evt_1', 'webhook-timestamp': now, 'webhook-signature': 'v1,abc' }
    const headers = Object.keys(changed).length > 0 ? { ...signed, ...changed } : {}
    expect(await refusal(host, body, headers)).toMatchObject({ code: 'invalid_signature' })
    expect(read()).toBe(0)
    expect(host.lines).toMatchObject([{ level: 'warn', facts: { peer: '192.0.2.7' } }])
    await refusal(host, challenge(1), signed)
    expect(host.lines[1]).toMatchObject({ level: 'warn', facts: { peer: '192.0.2.7' } })
  })

  it.each(['GET', 'PUT', 'OPTIONS'])('is refused with the method %s: Allow names POST', async (method) => {
    const problem = await readProblem(await createHost().handle(new Request('http://host.test', { method })))
    expect([problem.code, problem.headers.get('allow')]).toEqual(['method_not_allowed', 'POST'])
  })

  it.each(['text/plain', 'application/jsonp', ''])('is refused with the content type “%s”', async (type) => {
    const problem = await refusal(createHost(), '{}', { 'content-type': type })
    expect(problem.code).toBe('unsupported_media_type')
  })

  it.each([
    { 'content-type': 'application/json; charset=utf-8' },
    { 'content-type': 'Application/JSON' },
    { 'content-type': 'application/cloudevents+json' },
    { 'content-encoding': 'Identity' },
    { 'content-encoding': '' },
  ])('is accepted with the headers %j', (headers) => accepted(challenge(1), headers))

  it.each(['gzip', 'BR', 'identity, gzip', 'unheard-of'])(
    'is refused with the content encoding “%s” before its body is read',
    async (encoding) => {
      const { body, read } = stream([encoder.encode(challenge(1))])
      const problem = await refusal(createHost(), body, { 'content-encoding': encoding })
      const detail = expect.stringContaining(encoding.toLowerCase())
      expect(problem).toMatchObject({ code: 'unsupported_media_type', detail })
      expect(read()).toBe(0)
    },
  )

  it('is refused with a webhook-id of more than 200 characters, which does not fill the log', async () => {
    const host = createHost()
    await accepted(JSON.stringify(greet), { 'webhook-id': 'x'.repeat(200) })
    const problem = await refusal(host, greet, { 'webhook-id': 'x'.repeat(5_000) })
    expect(problem).toMatchObject({ code: 'invalid_event', errors: [{ path: 'webhook-id' }] })
    expect(JSON.stringify(host.lines).length).toBeLessThan(1_000)
  })
})

describe('the length of a body', () => {
  it('is checked by Content-Length alone if that is above the limit', async () => {
    const { body, read } = stream([encoder.encode('{}')])
    const problem = await refusal(createHost({ bodyLimit: 100 }), body, { 'content-length': '101' })
    expect([problem.code, read()]).toEqual(['body_too_large', 0])
    expect(problem.detail).toMatch(/longer than 100 bytes\. BODY_LIMIT .* in base64 counts four thirds/)
    const text = challenge('x')
    const length = String(text.length)
    const response = await post(createHost({ bodyLimit: text.length }).handle, text, {
      'content-length': length,
    })
    expect(response.status).toBe(200)
  })

  it.each([{}, { 'content-length': '10' }])(
    'is checked while the body is read, and no further than the limit, with the headers %j',
    async (headers) => {
      const { body, read } = stream(Array.from({ length: 1_000 }, () => new Uint8Array(1_024)))
      const problem = await refusal(createHost({ bodyLimit: 10_000 }), body, headers)
      expect(problem.code).toBe('body_too_large')
      expect(read()).toBeLessThanOrEqual(11 * 1_024)
    },
  )

  it.each([64, 16_384, 50_000])('may be exactly the limit in pieces of %i bytes', async (size) => {
    const bytes = encoder.encode(challenge('x'.repeat(40_000)))
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size),
    )
    const send = (bodyLimit: number) => post(createHost({ bodyLimit }).handle, stream(pieces).body)
    expect((await send(bytes.length)).status).toBe(200)
    expect((await send(bytes.length - 1)).status).toBe(413)
  })
})

describe('a body that is not JSON', () => {
  it.each(['', '{"name":', '{"name":"HEALTH_CHECK" "apiKey":"token-4f9a1c77"}', 'of Ada Lovelace'])(
    'is refused as invalid_json, and never quoted: %s',
    async (body) => {
      const host = createHost()
      const problem = await refusal(host, body)
      expect(problem.code).toBe('invalid_json')
      expect(JSON.stringify([problem, host.lines])).not.toMatch(/token-4f9a1c77|Lovelace/)
      expect(problem.errors).toBeUndefined()
    },
  )

  it('is refused with the position of the fault', async () => {
    expect((await refusal(createHost(), '{"name":"HEALTH_CHECK" 1}')).detail).toMatch(/position 23/)
  })

  it.each([
    ['half a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a character that breaks off', [0xe2, 0x82]],
  ])('is refused if it is not UTF-8, with %s', async (_, bytes) => {
    const [before = '', after = ''] = challenge('|').split('|')
    const problem = await refusal(createHost(), new Blob([before, Uint8Array.from(bytes), after]))
    expect(problem).toMatchObject({ code: 'invalid_json', detail: 'The body is not UTF-8.' })
  })

  it('may come in a thousand pieces of any size, and is refused in many more small ones', async () => {
    const text = encoder.encode(`{"name":"WEBHOOK_CHALLENGE"}${' '.repeat(10_000)}`)
    const inPieces = (size: number) =>
      stream(
        Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
          text.slice(at * size, (at + 1) * size),
        ),
      )
    await accepted(inPieces(10).body)
    const { body, read } = inPieces(1)
    const refused = await post(createHost().handle, body)
    expect(await readProblem(refused)).toMatchObject({ status: 400, code: 'invalid_json', retryable: false })
    expect(read()).toBeLessThan(2_000)
  })

  it('is refused if the connection breaks off', async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(encoder.encode('{"name":'))
        controller.error(new Error('aborted'))
      },
    })
    const problem = await refusal(createHost(), body)
    expect(problem).toMatchObject({ code: 'invalid_json', detail: expect.stringContaining('broke off') })
  })
})

describe('the structure of a body', () => {
  const refused = async (body: string, words: string) =>
    expect(await refusal(createHost(), body)).toMatchObject({
      code: 'invalid_json',
      detail: expect.stringContaining(words),
    })
  const event = (extra: string) => `{"name":"WEBHOOK_CHALLENGE","extra":${extra}}`

  it.each<[string, (levels: number) => string]>([
    ['lists', (levels) => '['.repeat(levels) + ']'.repeat(levels)],
    ['objects', (levels) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`],
  ])('may have 32 levels of %s', async (_, nested) => {
    // The event itself is one level.
    await accepted(event(nested(31)))
    await refused(event(nested(32)), 'deeper than 32 levels')
    await refused(event(nested(100_000)), 'deeper than 32 levels')
  })

  it.each(['{"a":', ']'])('is refused if it repeats %s 100,000 times', async (piece) => {
    await refused(piece.repeat(100_000), '')
  })

  it('may have 5,000 keys in one object, repeated keys counted', async () => {
    const object = (count: number, key: (index: number) => string) =>
      event(`{${Array.from({ length: count }, (_, index) => `"${key(index)}":0`)}}`)
    await accepted(object(5_000, String))
    for (const key of [String, () => 'same']) await refused(object(5_001, key), 'more than 5,000 keys')
  })

  it.each(['{}', '[ ]', '1', '"a,b"', '[{"a":1}, 2]'])(
    'may have 200,000 values such as %s',
    async (value) => {
      // The event, its name and its list are values, too.
      const most = 200_000 - 3
      const each = value.startsWith('[{') ? 4 : 1
      const fill = Array(most % each).fill(0)
      await accepted(event(`[${[...Array(Math.floor(most / each)).fill(value), ...fill]}]`))
      await refused(
        event(`[${[...Array(Math.floor(most / each)).fill(value), ...fill, 0]}]`),
        'more than 200,000 values',
      )
    },
  )

  it('may have 20,000 different keys, however often each of them', async () => {
    const keys = (from: number) =>
      Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${from + at}`, 1]))
    const objects = (count: number, step: number) =>
      event(JSON.stringify(Array.from({ length: count }, (_, at) => keys(at * step))))
    await accepted(objects(39, 0))
    await accepted(objects(3, 5_000))
    await refused(objects(5, 5_000), 'more than 20,000 different keys')
  })

  it('is not counted inside of strings', async () => {
    const unit = fc.constantFrom('"', '\\', '{', '[', ':', ',', ']', '}', 'u', 'é', '😀')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit })), async (texts) => {
        const text = texts.join('').repeat(200)
        await accepted(challenge({ [`k${text}`]: text }))
      }),
    )
  })
})

describe('an event', () => {
  it.each([
    ['', []],
    ['name', {}],
    ['name', '{"__proto__":{"name":"WEBHOOK_CHALLENGE"}}'],
    ['deployment', { name: 'DEPLOYMENT_CREATED' }],
    ['functionCall', { name: 'FUNCTION_CALL' }],
    ['id', { name: 'HEALTH_CHECK', id: '' }],
    ['id', { name: 'HEALTH_CHECK', id: 'x'.repeat(201) }],
    ['id', { name: 'HEALTH_CHECK', id: '\ud800' }],
    ['timestamp', { name: 'HEALTH_CHECK', timestamp: 'yesterday' }],
    ['challenge', { name: 'HEALTH_CHECK', challenge: { nested: true } }],
    ['deployment.id', { name: 'HEALTH_CHECK', deployment: {} }],
    ['deployment.id', { name: 'HEALTH_CHECK', deployment: { id: '..' } }],
    ['deployment.id', { name: 'HEALTH_CHECK', deployment: { id: '\ud800' } }],
    ['deployment.inputs', { name: 'HEALTH_CHECK', deployment: { id: 'dep_1', inputs: ['a'] } }],
    ['download.id', { name: 'HEALTH_CHECK', download: { id: '.' } }],
  ])('is refused at the path “%s”, as in %j', async (path, event) => {
    const problem = await refusal(createHost(), event)
    expect(problem).toMatchObject({ status: 400, code: 'invalid_event', errors: [{ path }] })
  })

  it('is refused with the nearest name if its name is unknown', async () => {
    const problem = await refusal(createHost(), { name: 'HEALTHCHECK' })
    expect(problem).toMatchObject({ code: 'invalid_event', errors: [{ path: 'name' }] })
    expect(problem.detail).toContain('the nearest name is “HEALTH_CHECK”')
  })

  it('may have unknown fields at every level, and unknown inputs', async () => {
    const { handle } = createHost()
    const event = {
      name: 'DOWNLOAD_STARTED',
      timestamp: '2026-11-20T10:00:00.123+01:00',
      tenant: { id: 7 },
      deployment: { id: 'dep_1', plan: 'gold' },
      download: { file: 'middleware.ts', format: 'tar' },
      functionCall: { name: 'unused here', mode: 'fast' },
    }
    expect(await deliver(handle, event)).toMatchObject({ status: 200, body: { files: [{}] } })
    const inputs = { token: 'token-1', colour: 'red' }
    const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }
    expect((await deliver(handle, created)).body).toMatchObject({ status: 'running' })
  })

  it('is ignored by a route that does not handle it, without a callback or a claim', async () => {
    const platform = createPlatformEmulator()
    platform.addDeployment(deployment)
    const handle = createWebhookHandler(
      bare,
      { health: async () => [] },
      { platform: connectPlatform(platform.fetch), store: unreachableStore, logger: () => {} },
    )
    const handled = ['WEBHOOK_CHALLENGE', 'HEALTH_CHECK']
    for (const name of eventNames.filter((name) => !handled.includes(name))) {
      const event = { name, deployment, functionCall: { name: 'anything' }, download: { id: 'dl_1' } }
      const body = { status: 'ignored', reason: `/elsewhere does not act on ${name}.` }
      expect(await deliver(handle, event, { id: 'evt_1' })).toMatchObject({ status: 200, body })
    }
    expect(platform.calls).toEqual([])
  })
})

describe('a call', () => {
  it('of an unknown function is refused with the nearest name, aliases included', async () => {
    const problem = await refusal(createHost(), calling('gret'))
    expect(problem).toMatchObject({ status: 404, code: 'unknown_function' })
    expect(problem.detail).toContain('the nearest name is “greet”')
  })

  it('of a function that every object inherits is unknown, with a delivery id and without one', async () => {
    const prototypes = [Object.prototype, Function.prototype, Array.prototype, String.prototype]
    for (const name of new Set(prototypes.flatMap(Object.getOwnPropertyNames))) {
      for (const headers of [{}, { 'webhook-id': 'evt_1' }]) {
        const { code } = await refusal(createHost(), calling(name), headers)
        expect([name, code]).toEqual([name, 'unknown_function'])
      }
    }
  })
})

describe('the names of prototypes', () => {
  it.each([
    '{"name":"WEBHOOK_CHALLENGE","challenge":poison}',
    '{"name":"DEPLOYMENT_CREATED","deployment":{"id":"dep_1","inputs":poison}}',
    '{"name":"DEPLOYMENT_DELETED","deployment":{"id":"dep_1","outputs":poison}}',
    '{"name":"FUNCTION_CALL","functionCall":{"name":"greet","arguments":poison}}',
    '{"name":"FUNCTION_CALL","functionCall":poison}',
  ])('change no prototype in %s', async (body) => {
    const prototypes = () => [Object, Function, Array].map((each) => Reflect.ownKeys(each.prototype))
    const before = prototypes()
    for (const poison of [
      '{"__proto__":{"polluted":1}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '[{"__proto__":{"polluted":1}}]',
    ])
      expect((await post(createHost().handle, body.replace('poison', poison))).status).toBeLessThan(500)
    expect(prototypes()).toEqual(before)
  })
})
