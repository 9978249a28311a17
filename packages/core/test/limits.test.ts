import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { calling, createHost } from './example.ts'

const encoder = new TextEncoder()
type Body = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>

/** Posts a body, and reads what is answered. */
async function post(
  body: Body,
  { headers = {}, bodyLimit }: { headers?: Record<string, string>; bodyLimit?: number } = {},
) {
  const { handle, lines } = createHost({ bodyLimit })
  const init: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    duplex: 'half',
  }
  const response = await handle(new Request('http://host.test/greeter/webhook', init))
  return { status: response.status, body: await response.json(), lines }
}

/** A body that arrives piece by piece, and tells how far it was read. */
function stream(pieces: Iterable<Uint8Array<ArrayBuffer>>) {
  const waiting = pieces[Symbol.iterator]()
  let read = 0
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
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

const challenge = (value: unknown) => JSON.stringify({ name: 'WEBHOOK_CHALLENGE', extra: value })
const tooComplex = (words: string) => ({
  status: 400,
  body: { code: 'invalid_json', detail: expect.stringContaining(words), retryable: false },
})

describe('a body without an announced length', () => {
  it('is read no further than the limit', async () => {
    const pieces = Array.from({ length: 1_000 }, () => new Uint8Array(1_024))
    const { body, read } = stream(pieces)
    expect(await post(body, { bodyLimit: 10_000 })).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    })
    expect(read()).toBeLessThanOrEqual(11 * 1_024)
  })

  it('fits with exactly as many bytes as the limit, however it is cut', async () => {
    const text = challenge('x'.repeat(40_000))
    const bytes = encoder.encode(text)
    for (const size of [1, 7, 16_384, 50_000]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.slice(at * size, (at + 1) * size),
      )
      expect((await post(stream(pieces).body, { bodyLimit: bytes.length })).status).toBe(200)
      expect((await post(stream(pieces).body, { bodyLimit: bytes.length - 1 })).status).toBe(413)
    }
  })

  it('that breaks off is the sender’s fault', async () => {
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        controller.enqueue(encoder.encode('{"name":'))
        controller.error(new Error('aborted'))
      },
    })
    expect(await post(body)).toMatchObject(tooComplex('broke off'))
  })
})

describe('a body that is compressed', () => {
  it.each(['gzip', 'br', 'deflate', 'zstd', 'GZIP', 'identity, gzip', 'unheard-of'])(
    'as %s is refused before it is read',
    async (encoding) => {
      const { body, read } = stream([encoder.encode(challenge(1))])
      expect(await post(body, { headers: { 'content-encoding': encoding } })).toMatchObject({
        status: 415,
        body: { code: 'unsupported_media_type', detail: expect.stringContaining(encoding.toLowerCase()) },
      })
      expect(read()).toBe(0)
    },
  )

  it('as nothing at all is taken', async () => {
    for (const encoding of ['identity', 'Identity', ''])
      expect((await post(challenge(1), { headers: { 'content-encoding': encoding } })).status).toBe(200)
  })
})

describe('the structure of a body', () => {
  // One level is the event itself.
  it.each<[string, (levels: number) => string]>([
    ['lists', (levels) => '['.repeat(levels) + ']'.repeat(levels)],
    ['objects', (levels) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`],
  ])('of %s may be 32 levels deep, and no deeper', async (_, nested) => {
    const event = (levels: number) => `{"name":"WEBHOOK_CHALLENGE","extra":${nested(levels)}}`
    expect((await post(event(31))).status).toBe(200)
    expect(await post(event(32))).toMatchObject(tooComplex('deeper than 32 levels'))
    expect(await post(event(100_000))).toMatchObject(tooComplex('deeper than 32 levels'))
  })

  it('that is only opened is refused just the same', async () => {
    for (const text of ['['.repeat(100_000), '{"a":'.repeat(100_000), ']'.repeat(100_000)])
      expect(await post(text)).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
  })

  it('may have 5,000 keys to one object, and no more, also where they are one key again and again', async () => {
    const object = (count: number, key: (index: number) => string) =>
      challenge(0).replace(
        '"extra":0',
        `"extra":{${Array.from({ length: count }, (_, index) => `"${key(index)}":0`)}}`,
      )
    expect((await post(object(5_000, String))).status).toBe(200)
    expect(await post(object(5_001, String))).toMatchObject(tooComplex('more than 5,000 keys'))
    expect(await post(object(5_001, () => 'same'))).toMatchObject(tooComplex('more than 5,000 keys'))
  })

  it('may be a batch of ten thousand messages with fifty values each', async () => {
    const message = Object.fromEntries(Array.from({ length: 48 }, (_, index) => [`key${index}`, index]))
    expect((await post(challenge(Array.from({ length: 10_000 }, () => message)))).status).toBe(200)
  })

  it('may not be a list of as many things as fit into the bytes', async () => {
    for (const thing of ['{}', '[]', '1', '""']) {
      const list = Array.from({ length: 500_001 }, () => thing).join(',')
      expect(await post(challenge(0).replace('"extra":0', `"extra":[${list}]`))).toMatchObject(
        tooComplex('more than 500,000 values'),
      )
    }
  })

  it('is not counted inside of texts', async () => {
    const noise = fc.string({
      unit: fc.constantFrom('"', '\\', '{', '[', ':', ',', ']', '}', 'u', 'é', '😀'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(noise), async (texts) => {
        const text = texts.join('').repeat(200)
        expect((await post(challenge({ [`k${text}`]: text }))).status).toBe(200)
      }),
    )
  })
})

describe('the header webhook-id', () => {
  const headers = (length: number) => ({ headers: { 'webhook-id': 'x'.repeat(length) } })

  it('may have 200 characters', async () => {
    const greet = JSON.stringify(calling('greet', { to: 'Ada' }))
    expect((await post(greet, headers(200))).status).toBe(200)
    const answer = await post(greet, headers(201))
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_event', errors: [{ path: 'webhook-id' }] },
    })
    expect(JSON.stringify(answer.lines).length).toBeLessThan(500)
  })
})
