import { createWebhookHandler } from '@org/core'
import { eventNames } from '@org/core/hosting'
import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { bare, calling, createHost, greet, post, readProblem, refusal, unreachableStore } from './fixtures.ts'

const challenge = (extra: unknown) => JSON.stringify({ name: 'WEBHOOK_CHALLENGE', extra })
const accepted = async (body: BodyInit, headers?: HeadersInit) =>
  expect((await post(createHost().handle, body, headers)).status).toBe(200)
const refused = async (body: BodyInit, words: string) =>
  expect(await refusal(createHost(), body)).toMatchObject({
    code: 'invalid_json',
    detail: expect.stringContaining(words),
  })

/** A body that arrives in pieces of a size, and counts the bytes that were read. */
function stream(text: string, size = text.length) {
  const bytes = new TextEncoder().encode(text)
  let read = 0
  const pull = (controller: ReadableStreamDefaultController) => {
    if (read >= bytes.length) return controller.close()
    controller.enqueue(bytes.slice(read, read + size))
    read += size
  }
  return { body: new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 }), read: () => read }
}

describe('a request', () => {
  it.each<[string, Record<string, string>]>([
    ['unsupported_media_type', { 'content-type': 'application/jsonp' }],
    ['unsupported_media_type', { 'content-type': '' }],
    ['unsupported_media_type', { 'content-encoding': 'identity, gzip' }],
    ['body_too_large', { 'content-length': '101' }],
  ])('is refused as %s with %j before its body is read', async (code, headers) => {
    const { body, read } = stream(challenge(1))
    expect(await refusal(createHost({ bodyLimit: 100 }), body, headers)).toMatchObject({ code })
    expect(read()).toBe(0)
  })

  it.each([
    { 'content-type': 'Application/JSON; charset=utf-8', 'content-encoding': 'Identity' },
    { 'content-type': 'application/cloudevents+json' },
  ])('is accepted with the headers %j', (headers) => accepted(challenge(1), headers))

  it('is refused with another method than POST, which Allow names', async () => {
    const problem = await readProblem(await createHost().handle(new Request('http://host.test')))
    expect([problem.code, problem.headers.get('allow')]).toEqual(['method_not_allowed', 'POST'])
  })

  it('is refused with a webhook-id of more than 200 characters, which does not fill the log', async () => {
    const host = createHost()
    await accepted(JSON.stringify(greet), { 'webhook-id': 'x'.repeat(200) })
    const problem = await refusal(host, greet, { 'webhook-id': 'x'.repeat(5_000) })
    expect(problem).toMatchObject({ code: 'invalid_event', errors: [{ path: 'webhook-id' }] })
    expect(JSON.stringify(host.lines).length).toBeLessThan(1_000)
  })
})

describe('a body', () => {
  it.each([undefined, '10'])('is read up to the limit, whatever its length says: %s', async (length) => {
    const text = challenge('x'.repeat(1_000_000))
    const { body, read } = stream(text, 1_024)
    const headers = length ? { 'content-length': length } : {}
    const problem = await refusal(createHost({ bodyLimit: 10_000 }), body, headers)
    expect(problem.code).toBe('body_too_large')
    expect(problem.detail).toMatch(/longer than 10000 bytes\. BODY_LIMIT .* in base64 counts four thirds/)
    expect(read()).toBeLessThanOrEqual(11 * 1_024)
    const bodyLimit = text.length
    expect((await post(createHost({ bodyLimit }).handle, stream(text, 1_024).body, headers)).status).toBe(200)
  })

  it('may come in a thousand pieces of any size, and is refused in many more small ones', async () => {
    const text = challenge('x'.repeat(10_000))
    await accepted(stream(text, 10).body)
    const { body, read } = stream(text, 1)
    await refused(body, 'too many small pieces')
    expect(read()).toBeLessThan(2_000)
  })

  it('that breaks off, or is not UTF-8, is refused', async () => {
    const pull = (controller: ReadableStreamDefaultController) => controller.error(new Error('aborted'))
    await refused(new ReadableStream<Uint8Array>({ pull }), 'broke off')
    const [before = '', after = ''] = challenge('|').split('|')
    // Half a pair of surrogates, and the beginning of a character.
    for (const bytes of ['\xed\xa0\x80', '\xe2\x82'])
      await refused(new Blob([before, Buffer.from(bytes, 'latin1'), after]), 'The body is not UTF-8.')
  })

  it('that is not JSON is refused with the position of the fault, and never quoted', async () => {
    await refused('{"name":"HEALTH_CHECK" 1}', 'position 23')
    for (const body of [
      '',
      '{"name":',
      '{"name":"HEALTH_CHECK" "apiKey":"token-4f9a1c77"}',
      'of Ada Lovelace',
    ]) {
      const host = createHost()
      const problem = await refusal(host, body)
      expect([problem.code, problem.errors]).toEqual(['invalid_json', undefined])
      expect(JSON.stringify([problem, host.lines])).not.toMatch(/token-4f9a1c77|Lovelace/)
    }
  })
})

describe('the structure of a body', () => {
  const event = (extra: string) => `{"name":"WEBHOOK_CHALLENGE","extra":${extra}}`
  const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const object = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":0`)}}`
  const repeat = (count: number, value: string) => `[${Array(count).fill(value)}]`

  // The event itself is a level and a value, its name and its list are values.
  it.each([
    ['32 levels of lists', lists(31), lists(32), 'deeper than 32 levels'],
    ['32 levels of objects', objects(31), objects(100_000), 'deeper than 32 levels'],
    ['200,000 values', repeat(199_997, '1'), repeat(199_998, '1'), 'more than 200,000 values'],
    ['200,000 empty objects', repeat(199_997, '{}'), repeat(199_998, '{ }'), 'more than 200,000 values'],
    // Two of them are those of the event.
    ['20,000 different keys', repeat(9, object(19_998)), object(19_999), 'more than 20,000 different keys'],
  ])('may have %s, and no more', async (_, most, more, words) => {
    await accepted(event(most))
    await refused(event(more), words)
  })
})

describe('an event', () => {
  it.each([
    ['', []],
    ['name', '{"__proto__":{"name":"WEBHOOK_CHALLENGE"}}'],
    ['deployment', { name: 'DEPLOYMENT_CREATED' }],
    ['id', { name: 'HEALTH_CHECK', id: '\ud800' }],
    ['challenge', { name: 'WEBHOOK_CHALLENGE', challenge: 'x'.repeat(1024 * 1024) }],
    ['deployment.id', { name: 'HEALTH_CHECK', deployment: { id: '..' } }],
  ])('is refused at the path “%s”, as in %j', async (path, event) => {
    const problem = await refusal(createHost(), event)
    expect(problem).toMatchObject({ status: 400, code: 'invalid_event', errors: [{ path }] })
  })

  it('may have unknown fields at every level', async () => {
    const event = {
      ...{ name: 'DOWNLOAD_STARTED', timestamp: '2026-11-20T10:00:00.123+01:00', tenant: { id: 7 } },
      deployment: { id: 'dep_1', plan: 'gold' },
      download: { file: 'middleware.ts', format: 'tar' },
      functionCall: { name: 'unused here', mode: 'fast' },
    }
    expect(await deliver(createHost().handle, event)).toMatchObject({ status: 200, body: { files: [{}] } })
  })

  it('is ignored by a route that does not handle it, without a callback or a claim', async () => {
    const { calls, fetch } = createPlatformEmulator()
    const dependencies = { platform: connectPlatform(fetch), store: unreachableStore, logger: () => {} }
    const handlers = { health: async () => [] }
    const handle = createWebhookHandler(bare, handlers, { ...dependencies, verify: 'none' })
    for (const name of eventNames) {
      if (name === 'WEBHOOK_CHALLENGE' || name === 'HEALTH_CHECK') continue
      const event = { name, deployment: { id: 'dep_1' }, functionCall: { name: 'anything' } }
      const body = { status: 'ignored', reason: `/elsewhere does not act on ${name}.` }
      expect(await deliver(handle, event, { id: 'evt_1' })).toMatchObject({ status: 200, body })
    }
    expect(calls).toEqual([])
  })

  it.each([
    ['invalid_event', { name: 'HEALTHCHECK' }, 'HEALTH_CHECK'],
    ['unknown_function', calling('gret'), 'greet'],
  ])('of an unknown name is %s, with the nearest name', async (code, event, name) => {
    const detail = expect.stringContaining(`the nearest name is “${name}”`)
    expect(await refusal(createHost(), event)).toMatchObject({ code, detail })
  })

  it('calls no function that every object inherits', async () => {
    for (const name of Object.getOwnPropertyNames(Object.prototype))
      expect(await refusal(createHost(), calling(name))).toMatchObject({ code: 'unknown_function' })
  })
})
