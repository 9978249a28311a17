import { createHmac } from 'node:crypto'
import { createVerifier, sign } from '@org/core'
import { deliver } from '@org/core/testing'
import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { createHost } from './fixtures.ts'

// The example of the Standard Webhooks specification.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const seconds = 1_614_265_330
const body = '{"test": 2432232314}'
const published = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

const wrong = `v1,${btoa('x'.repeat(32))}`

interface Check {
  secrets?: string[]
  /** Seconds between the signature and its verification. */
  offset?: number
  toleranceSeconds?: number
}

/** Verifies the example with changed headers. */
async function verify(changed: Record<string, string> = {}, { offset = 0, ...check }: Check = {}) {
  const signed = { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': published }
  const verifier = createVerifier({ secrets: [secret], now: () => (seconds + offset) * 1000, ...check })
  await verifier(new Headers({ ...signed, ...changed }), new TextEncoder().encode(body))
}

const refused = expect.objectContaining({ code: 'invalid_signature', status: 401, retryable: false })

describe('a signature', () => {
  it('is the one of the specification’s example', async () => {
    await expect(verify()).resolves.toBeUndefined()
    expect(await sign({ secret, id, body, timestamp: new Date(seconds * 1000) })).toEqual({
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': published,
    })
  })

  it.each([
    ['the end', published.slice(0, -5)],
    ['the version', published.replace('v1,', 'v1a,')],
    ['the spelling of the last letter', published.replace('OE=', 'OF=')],
    ['the length', `${published}AAAA`],
    ['the padding', published.replace('OE=', 'OE')],
    ['the separator', published.replace(',', '=')],
    ['its place, behind a thousand others', `${wrong} `.repeat(1000) + published],
  ])('is refused after a change of %s', async (_, signature) => {
    await expect(verify({ 'webhook-signature': signature })).rejects.toEqual(refused)
  })

  it('covers the raw bytes, also if they are not text', async () => {
    const verifier = createVerifier({ secrets: [secret] })
    const headers = new Headers(await sign({ secret, id, body: new Uint8Array([0xff, 0x00, 0xfe]) }))
    await expect(verifier(headers, new Uint8Array([0xff, 0x00, 0xfe]))).resolves.toBeUndefined()
    await expect(verifier(headers, new Uint8Array([0xfe, 0x00, 0xfe]))).rejects.toEqual(refused)
  })

  it.each([
    ['before a wrong one', `${published} ${wrong}`],
    [
      'beside one of another version',
      `v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFy ${published}`,
    ],
    ['beside one that is not base64', `v1,?? ${published}`],
    ['as the tenth', `${wrong} `.repeat(9) + published],
  ])('is accepted %s', async (_, signatures) => {
    await expect(verify({ 'webhook-signature': signatures })).resolves.toBeUndefined()
  })

  it.each([
    [{ 'webhook-id': '' }, 'it has no webhook-id'],
    [{ 'webhook-timestamp': '' }, 'it has no webhook-timestamp'],
    [{ 'webhook-signature': '' }, 'it has no webhook-signature'],
    [{ 'webhook-timestamp': 'now' }, 'webhook-timestamp is not a number'],
    [{ 'webhook-timestamp': '1' }, 'webhook-timestamp is more than 300 seconds away'],
    [{ 'webhook-signature': 'v1a,AAAA v2,AAAA' }, 'webhook-signature holds no signature of the version v1'],
    [{ 'webhook-signature': 'v1,AAAA' }, 'webhook-signature matches none of the secrets'],
  ])(
    'with %j is refused with the reason, and without a valid signature or the secret',
    async (headers, words) => {
      const error: unknown = await verify(headers).catch((reason: unknown) => reason)
      expect(error).toEqual(refused)
      expect(`${error}`).toContain(words)
      expect(`${error}`).not.toContain(published.slice(3))
      expect(`${error}`).not.toContain(secret.slice(6))
    },
  )
})

describe('the timestamp of a signature', () => {
  it('may be 300 seconds off by default, in both directions, and no more', async () => {
    for (const offset of [-300, 300]) await expect(verify({}, { offset })).resolves.toBeUndefined()
    for (const offset of [-301, 301]) await expect(verify({}, { offset })).rejects.toEqual(refused)
  })

  it('has the tolerance of the options', async () => {
    await expect(verify({}, { offset: 6, toleranceSeconds: 5 })).rejects.toEqual(refused)
    await expect(verify({}, { offset: 600, toleranceSeconds: 600 })).resolves.toBeUndefined()
  })

  it.each([
    `${seconds}abc`,
    `${seconds}.0`,
    `+${seconds}`,
    `0x${seconds.toString(16)}`,
    `${seconds / 10}e1`,
    `000${seconds}`,
  ])('must not be “%s”, even if it is signed', async (timestamp) => {
    // Node's own HMAC, because `sign` writes only valid timestamps.
    const hmac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    const signature = `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`
    const headers = { 'webhook-timestamp': timestamp, 'webhook-signature': signature }
    await expect(verify(headers)).rejects.toEqual(refused)
  })
})

describe('a secret', () => {
  const toSecret = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString('base64')}`

  it.each(['', 'whsec_', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_not base64!'])(
    'must not be “%s”: the verifier is not created',
    (wrong) => {
      expect(() => createVerifier({ secrets: [wrong] })).toThrow(TypeError)
    },
  )

  it('is accepted beside others during a rotation, and refused after it is dropped', async () => {
    const [old = '', current = '', next = ''] = [1, 2, 3].map((byte) =>
      toSecret(new Uint8Array(24).fill(byte)),
    )
    const accepted = async (...secrets: string[]) => {
      const { handle } = createHost({ verify: createVerifier({ secrets }) })
      const send = (secret: string) => deliver(handle, { name: 'WEBHOOK_CHALLENGE' }, { secret })
      const statuses = await Promise.all([old, current, next].map(send))
      return statuses.map(({ status }) => status)
    }
    expect(await accepted()).toEqual([401, 401, 401])
    expect(await accepted(old)).toEqual([200, 401, 401])
    expect(await accepted(old, current, next)).toEqual([200, 200, 200])
    expect(await accepted(current, next)).toEqual([401, 200, 200])
  })

  it('signs for another implementation of Standard Webhooks, and verifies its signatures', async () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 64 })
    // Characters that a header carries unchanged.
    const id = fc.stringMatching(/^[!-~]{1,60}$/)
    const text = fc.string({ unit: 'binary' })
    await fc.assert(
      fc.asyncProperty(bytes, id, text, text, async (bytes, id, body, other) => {
        const secret = toSecret(bytes)
        const theirs = new Webhook(secret)
        const now = new Date()
        const headers = await sign({ secret, id, body, timestamp: now })
        expect(headers['webhook-signature']).toBe(theirs.sign(id, now, body))

        const verifier = createVerifier({ secrets: [secret] })
        for (const sent of [body, other]) {
          const ours = verifier(new Headers(headers), new TextEncoder().encode(sent))
          const isAccepted = await ours.then(
            () => true,
            () => false,
          )
          const verifyTheirs = () => theirs.verify(sent, headers, { jsonParse: false })
          if (isAccepted) expect(verifyTheirs).not.toThrow()
          else expect(verifyTheirs).toThrow()
        }
      }),
    )
  })
})
