import { createVerifier, sign } from '@org/core'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createHmac } from '../src/cryptography.ts'

const encoder = new TextEncoder()

/** Each variation of some bytes with one other bit. */
function* flipsOf(bytes: Uint8Array<ArrayBuffer>) {
  for (let bit = 0; bit < bytes.length * 8; bit += 1)
    yield bytes.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
}

it('a request that differs from the signed one in a single bit is refused', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const verify = createVerifier({ secrets: [secret] })
  const body = encoder.encode(JSON.stringify({ name: 'WEBHOOK_CHALLENGE', challenge: 'c'.repeat(1_150) }))
  const headers = await sign({ secret, id: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', body })
  await expect(verify(new Headers(headers), body)).resolves.toBeUndefined()
  const requests = [...flipsOf(body)].map((changed) => ({ headers: new Headers(headers), body: changed }))
  for (const [name, value] of Object.entries(headers)) {
    for (const bytes of flipsOf(encoder.encode(value))) {
      const changed = String.fromCharCode(...bytes)
      // No header can hold these characters.
      if (!/[\0\r\n]/.test(changed))
        requests.push({ headers: new Headers({ ...headers, [name]: changed }), body })
    }
  }
  expect(requests.length).toBeGreaterThan(10_000)
  for (const changed of requests)
    await expect(verify(changed.headers, changed.body)).rejects.toMatchObject({ code: 'invalid_signature' })
})

it('an HMAC is that of Web Crypto for any key, text and bytes, short and long', async () => {
  const some = fc.uint8Array({ minLength: 1 }).map((values) => Uint8Array.from(values))
  const length = fc.oneof(fc.nat(1_000), fc.integer({ min: 60_000, max: 90_000 }))
  const bytes = fc
    .tuple(some, length)
    .map(([some, length]) => new Uint8Array(length).map((_, at) => some[at % some.length] ?? 0))
  const text = fc
    .tuple(fc.string({ unit: 'binary' }), fc.constantFrom(1, 20_000))
    .map(([text, times]) => text.repeat(times))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  await fc.assert(
    fc.asyncProperty(some, text, bytes, async (secret, text, bytes) => {
      const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign'])
      const expected = await crypto.subtle.sign('HMAC', key, await new Blob([text, bytes]).arrayBuffer())
      expect(await createHmac(secret)(text, bytes)).toEqual(new Uint8Array(expected))
    }),
  )
})
