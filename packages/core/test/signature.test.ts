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
const encoder = new TextEncoder()

/** Verifies the example with changed headers, some seconds after it was signed. */
async function verify(changed: Record<string, string> = {}, { offset = 0, toleranceSeconds = 300 } = {}) {
  const signed = { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': published }
  const now = () => (seconds + offset) * 1000
  const verifier = createVerifier({ secrets: [secret], toleranceSeconds, now })
  await verifier(new Headers({ ...signed, ...changed }))(encoder.encode(body))
}
const refused = expect.objectContaining({ code: 'invalid_signature', status: 401, retryable: false })

describe('a signature', () => {
  it('is refused if a single bit of the request differs', async () => {
    const verifier = createVerifier({ secrets: [secret] })
    const signed = { body, ...(await sign({ secret, id, body })) }
    for (const [part, value] of Object.entries(signed)) {
      for (let bit = 0; bit < 8 * value.length; bit += 1) {
        const bytes = encoder.encode(value)
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        const changed = String.fromCharCode(...bytes)
        // No header can hold these characters.
        if (part !== 'body' && /[\0\r\n]/.test(changed)) continue
        const { body: sent, ...headers } = { ...signed, [part]: changed }
        const check = async () => verifier(new Headers(headers))(encoder.encode(sent))
        await expect(check()).rejects.toEqual(refused)
      }
    }
  })

  const noMatch = 'matches none of the secrets'
  it.each([
    ['webhook-id', '', 'it has no webhook-id'],
    ['webhook-timestamp', '', 'it has no webhook-timestamp'],
    ['webhook-signature', '', 'it has no webhook-signature'],
    ['webhook-signature', 'v1a,AAAA v2,AAAA', 'holds no signature of the version v1'],
    ['webhook-signature', published.slice(0, -5), noMatch],
    ['webhook-signature', `${published}AAAA`, noMatch],
    // Another spelling of its last letter, and no padding.
    ['webhook-signature', published.replace('OE=', 'OF='), noMatch],
    ['webhook-signature', published.replace('OE=', 'OE'), noMatch],
    ['webhook-signature', `${wrong} `.repeat(1000) + published, noMatch],
  ])('is refused with the %s “%s”, and %s', async (name, value, reason) => {
    const error: unknown = await verify({ [name]: value }).catch((reason: unknown) => reason)
    expect(error).toEqual(refused)
    expect(`${error}`).toContain(reason)
    expect(`${error}`).not.toContain(published.slice(3))
  })

  it.each([
    ['alone', published],
    ['between others', `v1a,AAAA ${published} ${wrong}`],
    ['beside one that is not base64', `v1,?? ${published}`],
    ['as the tenth', `${wrong} `.repeat(9) + published],
  ])('is accepted %s', async (_, signatures) => {
    await expect(verify({ 'webhook-signature': signatures })).resolves.toBeUndefined()
  })

  it('may be 300 seconds off by default, in both directions', async () => {
    for (const offset of [-300, 300]) await expect(verify({}, { offset })).resolves.toBeUndefined()
    for (const offset of [-301, 301]) await expect(verify({}, { offset })).rejects.toEqual(refused)
    await expect(verify({}, { offset: 6, toleranceSeconds: 5 })).rejects.toThrow('more than 5 seconds away')
  })

  it.each([`${seconds}abc`, `${seconds}.0`, `+${seconds}`, `0x${seconds.toString(16)}`, `000${seconds}`])(
    'with the timestamp “%s” is refused, even if it covers it',
    async (timestamp) => {
      // Node's own HMAC, because `sign` writes only valid timestamps.
      const hmac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
      const signature = `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`
      const headers = { 'webhook-timestamp': timestamp, 'webhook-signature': signature }
      await expect(verify(headers)).rejects.toThrow('not a number of seconds')
    },
  )
})

describe('a secret', () => {
  it.each(['', 'whsec_', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_not base64!'])('can’t be “%s”', (wrong) =>
    expect(() => createVerifier({ secrets: [wrong] })).toThrow(TypeError),
  )

  it('is accepted beside others during a rotation, and refused after it is dropped', async () => {
    const [old = '', next = ''] = ['o', 'n'].map((letter) => `whsec_${btoa(letter.repeat(24))}`)
    const accepted = async (...secrets: string[]) => {
      const { handle } = createHost({ verify: createVerifier({ secrets }) })
      const send = (secret: string) => deliver(handle, { name: 'WEBHOOK_CHALLENGE' }, { secret })
      return (await Promise.all([old, next].map(send))).map(({ status }) => status)
    }
    expect(await accepted()).toEqual([401, 401])
    expect(await accepted(old, next)).toEqual([200, 200])
    expect(await accepted(next)).toEqual([401, 200])
  })

  it('signs as another implementation of Standard Webhooks does, short and long bodies', async () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 64 })
    // Characters that a header carries unchanged.
    const ids = fc.stringMatching(/^[!-~]{1,60}$/)
    const texts = fc.tuple(fc.string({ unit: 'binary' }), fc.constantFrom(1, 20_000))
    await fc.assert(
      fc.asyncProperty(bytes, ids, texts, async (bytes, id, [text, times]) => {
        const secret = `whsec_${Buffer.from(bytes).toString('base64')}`
        const body = text.repeat(times)
        const headers = await sign({ secret, id, body })
        const timestamp = new Date(Number(headers['webhook-timestamp']) * 1000)
        expect(headers['webhook-signature']).toBe(new Webhook(secret).sign(id, timestamp, body))
        await createVerifier({ secrets: [secret] })(new Headers(headers))(encoder.encode(body))
      }),
    )
  })
})
