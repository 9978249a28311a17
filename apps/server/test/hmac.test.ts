import { createVerifier, sign } from '@org/core'
import type { Hmac } from '@org/core/internal'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeHmac } from '../src/runtimes/hmac.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const encoder = new TextEncoder()

/** Every header or body that differs from a signed one in a single bit, as far as a header can carry it. */
function* singleBitMutations(headers: Record<string, string>, body: Uint8Array<ArrayBuffer>) {
  const flip = (bytes: Uint8Array<ArrayBuffer>, bit: number) => {
    const mutated = bytes.slice()
    mutated[bit >> 3] = (mutated[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    return mutated
  }
  for (let bit = 0; bit < body.length * 8; bit += 1)
    yield { headers: new Headers(headers), body: flip(body, bit) }
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const bytes = encoder.encode(headers[name])
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const value = String.fromCharCode(...flip(bytes, bit))
      if (!/[\0\r\n]/.test(value)) yield { headers: new Headers({ ...headers, [name]: value }), body }
    }
  }
}

describe.each<[string, Hmac | undefined]>([
  ['Node', nodeHmac],
  ['Web Crypto', undefined],
])('the HMAC of %s', (_, hmac) => {
  it('verifies the example of the specification', async () => {
    const headers = new Headers({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
    const verify = createVerifier({ secrets: [secret], hmac, now: () => 1_614_265_330_000 })
    await expect(verify(headers, encoder.encode('{"test": 2432232314}'))).resolves.toBeUndefined()
  })

  it('refuses every request that differs from the signed one in a single bit', async () => {
    const verify = createVerifier({ secrets: [secret], hmac })
    const body = encoder.encode(JSON.stringify({ name: 'WEBHOOK_CHALLENGE', challenge: 'c'.repeat(1_150) }))
    const headers = await sign({ secret, id: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', body })
    await expect(verify(new Headers(headers), body)).resolves.toBeUndefined()
    let tried = 0
    for (const mutated of singleBitMutations(headers, body)) {
      await expect(verify(mutated.headers, mutated.body)).rejects.toMatchObject({ code: 'invalid_signature' })
      tried += 1
    }
    expect(tried).toBeGreaterThan(10_000)
  })
})

it('Node makes the signatures of Web Crypto for any key, id and body', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1 }),
      fc.string(),
      fc.uint8Array(),
      async (key, id, bytes) => {
        const request = {
          secret: `whsec_${Buffer.from(key).toString('base64')}`,
          id,
          body: Uint8Array.from(bytes),
          timestamp: new Date(1_614_265_330_000),
        }
        expect(await sign({ ...request, hmac: nodeHmac })).toEqual(await sign(request))
      },
    ),
  )
})
