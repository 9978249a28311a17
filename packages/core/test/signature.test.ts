import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createVerifier, sign } from '../src/index.ts'

// The example of the Standard Webhooks specification.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const seconds = 1_614_265_330
const body = '{"test": 2432232314}'
const published = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

const otherSecret = `whsec_${btoa('another secret, while it is rotated')}`

/** Node's own HMAC, so that a test need not trust the code that it tests. */
function hmac(key: string, content: string): string {
  const bytes = Buffer.from(key.slice('whsec_'.length), 'base64')
  return createHmac('sha256', bytes).update(content).digest('base64')
}

/** Verifies a request that is signed by the example, but for what is changed. */
async function verify(
  changed: Record<string, string | undefined> = {},
  {
    secrets = [secret],
    sent = body,
    offset = 0,
    toleranceSeconds,
  }: { secrets?: string[]; sent?: string; offset?: number; toleranceSeconds?: number } = {},
) {
  const headers = new Headers()
  const all = {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': published,
    ...changed,
  }
  for (const [name, value] of Object.entries(all)) if (value !== undefined) headers.set(name, value)
  const now = () => (seconds + offset) * 1000
  const check = createVerifier({
    secrets,
    now,
    ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
  })
  await check(headers, new TextEncoder().encode(sent))
}

const refused = expect.objectContaining({ code: 'invalid_signature', status: 401, retryable: false })

describe('a signature', () => {
  it('of the specification’s example fits', async () => {
    await expect(verify()).resolves.toBeUndefined()
    expect(await sign({ secret, id, body, timestamp: new Date(seconds * 1000) })).toEqual({
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': published,
    })
  })

  it('is the one that another implementation of HMAC makes', async () => {
    const example = {
      secret: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
      id: 'msg_loFOjxNNtRmJzTAmKpZ9oIU8',
      body: '{"event_type":"ping","data":{"success":true}}',
      timestamp: new Date(1_731_705_121_000),
    }
    const expected = hmac(example.secret, `${example.id}.1731705121.${example.body}`)
    const headers = await sign(example)
    expect(headers['webhook-signature']).toBe(`v1,${expected}`)
  })

  it.each([
    ['the body', { sent: `${body} ` }, {}],
    ['the id', {}, { 'webhook-id': `${id}x` }],
    ['the timestamp', {}, { 'webhook-timestamp': String(seconds + 1) }],
    ['the secret', { secrets: [otherSecret] }, {}],
    ['a letter of itself', {}, { 'webhook-signature': published.replace('g0', 'g1') }],
    ['its end', {}, { 'webhook-signature': published.slice(0, -5) }],
    ['its version', {}, { 'webhook-signature': published.replace('v1,', 'v1a,') }],
    ['the spelling of its last letter', {}, { 'webhook-signature': published.replace('OE=', 'OF=') }],
    ['its length', {}, { 'webhook-signature': `${published}AAAA` }],
    ['its padding', {}, { 'webhook-signature': published.replace('OE=', 'OE') }],
    ['its separator', {}, { 'webhook-signature': published.replace(',', '=') }],
  ])('does not fit any more where %s is changed', async (_, options, headers) => {
    await expect(verify(headers, options)).rejects.toEqual(refused)
  })

  it('is made over the raw bytes, also where they are not text', async () => {
    const bytes = new Uint8Array([0xff, 0x00, 0xfe])
    const headers = new Headers(await sign({ secret, id, body: bytes }))
    await expect(createVerifier({ secrets: [secret] })(headers, bytes)).resolves.toBeUndefined()
    await expect(
      createVerifier({ secrets: [secret] })(headers, new Uint8Array([0xfe, 0x00, 0xfe])),
    ).rejects.toEqual(refused)
  })
})

describe('rotation', () => {
  it('takes a signature by any of several secrets, in any order', async () => {
    for (const secrets of [
      [secret, otherSecret],
      [otherSecret, secret],
    ]) {
      await expect(verify({}, { secrets })).resolves.toBeUndefined()
    }
  })

  it.each([
    ['after one that does not fit', `v1,${btoa('x'.repeat(32))} ${published}`],
    ['before one that does not fit', `${published} v1,${btoa('x'.repeat(32))}`],
    [
      'beside one of another version',
      `v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg== ${published}`,
    ],
    ['beside one that is no base64', `v1,?? ${published}`],
  ])('takes one of several signatures, %s', async (_, signatures) => {
    await expect(verify({ 'webhook-signature': signatures })).resolves.toBeUndefined()
  })

  it('looks at ten signatures, and not at a thousand', async () => {
    const wrong = `v1,${btoa('x'.repeat(32))} `
    await expect(verify({ 'webhook-signature': wrong.repeat(9) + published })).resolves.toBeUndefined()
    await expect(verify({ 'webhook-signature': wrong.repeat(1000) + published })).rejects.toEqual(refused)
  })
})

describe('the timestamp', () => {
  it.each([-300, -1, 0, 1, 300])('fits where it is %i seconds off', async (offset) => {
    await expect(verify({}, { offset })).resolves.toBeUndefined()
  })

  it.each([-301, 301, 86_400])('does not fit where it is %i seconds off', async (offset) => {
    await expect(verify({}, { offset })).rejects.toEqual(refused)
  })

  it('has the tolerance that is asked for', async () => {
    await expect(verify({}, { offset: 6, toleranceSeconds: 5 })).rejects.toEqual(refused)
    await expect(verify({}, { offset: 600, toleranceSeconds: 600 })).resolves.toBeUndefined()
  })

  it.each([
    'now',
    `${seconds}abc`,
    `${seconds}.0`,
    `+${seconds}`,
    `0x${seconds.toString(16)}`,
    `${seconds / 10}e1`,
    `000${seconds}`,
  ])('that is “%s” is refused, though it is signed', async (timestamp) => {
    const signature = `v1,${hmac(secret, `${id}.${timestamp}.${body}`)}`
    const headers = { 'webhook-timestamp': timestamp, 'webhook-signature': signature }
    await expect(verify(headers)).rejects.toEqual(refused)
  })
})

describe('a request that is not signed', () => {
  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('has no %s', async (name) => {
    await expect(verify({ [name]: undefined })).rejects.toEqual(refused)
    await expect(verify({ [name]: '' })).rejects.toEqual(refused)
  })

  it.each([
    [{ 'webhook-id': undefined }, 'it has no webhook-id'],
    [{ 'webhook-timestamp': undefined }, 'it has no webhook-timestamp'],
    [{ 'webhook-signature': undefined }, 'it has no webhook-signature'],
    [{ 'webhook-timestamp': 'now' }, 'webhook-timestamp is not a number'],
    [{ 'webhook-timestamp': '1' }, 'webhook-timestamp is more than 300 seconds away'],
    [{ 'webhook-signature': 'v1a,AAAA v2,AAAA' }, 'webhook-signature holds no signature of the version v1'],
    [{ 'webhook-signature': 'v1,AAAA' }, 'webhook-signature fits none of the secrets'],
  ])('with %j is told which part is wrong', async (headers, words) => {
    await expect(verify(headers)).rejects.toThrow(words)
  })

  it('is told why, but never what would fit', async () => {
    for (const headers of [
      { 'webhook-id': 'other' },
      { 'webhook-timestamp': '1' },
      { 'webhook-id': undefined },
    ]) {
      const error: unknown = await verify(headers).catch((reason: unknown) => reason)
      expect(`${error}`).not.toContain(published.slice(3))
      expect(`${error}`).not.toContain(secret.slice(6))
    }
  })
})

it.each(['', 'whsec_', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_not base64!'])(
  '“%s” is no secret, which is said when the check is made',
  (wrong) => {
    expect(() => createVerifier({ secrets: [wrong] })).toThrow(TypeError)
  },
)

it('without any secret nothing fits', async () => {
  await expect(verify({}, { secrets: [] })).rejects.toEqual(refused)
})
