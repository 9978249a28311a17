import { createVerifier, sign } from '@org/core'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { nodeHmac } from '../src/runtimes/hmac.ts'

const encoder = new TextEncoder()

/** Each variation of some bytes with one other bit. */
function* flipsOf(bytes: Uint8Array<ArrayBuffer>) {
  for (let bit = 0; bit < bytes.length * 8; bit += 1)
    yield bytes.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
}

it.each([
  ['Node', nodeHmac],
  ['Web Crypto', undefined],
])('with %s, a request that differs from the signed one in a single bit is refused', async (_, hmac) => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const verify = createVerifier({ secrets: [secret], hmac })
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

it('Node makes the signatures of Web Crypto for any key, id and body', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1 }),
      fc.string(),
      fc.uint8Array(),
      async (key, id, bytes) => {
        const secret = `whsec_${Buffer.from(key).toString('base64')}`
        const request = { secret, id, body: Uint8Array.from(bytes), timestamp: new Date(1_614_265_330_000) }
        expect(await sign({ ...request, hmac: nodeHmac })).toEqual(await sign(request))
      },
    ),
  )
})
