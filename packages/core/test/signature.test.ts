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

const otherSecret = `whsec_${btoa('another secret, while it is rotated')}`
const wrong = `v1,${btoa('x'.repeat(32))}`

interface Check {
  secrets?: string[]
  sent?: string
  offset?: number
  toleranceSeconds?: number
}

/** Verifies the example with changed headers, `offset` seconds after it was signed. */
async function verify(changed: Record<string, string | undefined> = {}, check: Check = {}) {
  const { secrets = [secret], sent = body, offset = 0, toleranceSeconds } = check
  const signed = { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': published }
  const headers = new Headers()
  for (const [name, value] of Object.entries({ ...signed, ...changed }))
    if (value !== undefined) headers.set(name, value)
  const now = () => (seconds + offset) * 1000
  const verifier = createVerifier({
    secrets,
    now,
    ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
  })
  await verifier(headers, new TextEncoder().encode(sent))
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

  it.each<[string, Check, Record<string, string>]>([
    ['the body', { sent: `${body} ` }, {}],
    ['the id', {}, { 'webhook-id': `${id}x` }],
    ['the timestamp', {}, { 'webhook-timestamp': String(seconds + 1) }],
    ['the secret', { secrets: [otherSecret] }, {}],
    ['every secret', { secrets: [] }, {}],
    ['one letter', {}, { 'webhook-signature': published.replace('g0', 'g1') }],
    ['the end', {}, { 'webhook-signature': published.slice(0, -5) }],
    ['the version', {}, { 'webhook-signature': published.replace('v1,', 'v1a,') }],
    ['the spelling of the last letter', {}, { 'webhook-signature': published.replace('OE=', 'OF=') }],
    ['the length', {}, { 'webhook-signature': `${published}AAAA` }],
    ['the padding', {}, { 'webhook-signature': published.replace('OE=', 'OE') }],
    ['the separator', {}, { 'webhook-signature': published.replace(',', '=') }],
  ])('is refused after a change of %s', async (_, check, headers) => {
    await expect(verify(headers, check)).rejects.toEqual(refused)
  })

  it('covers the raw bytes, also if they are not text', async () => {
    const verifier = createVerifier({ secrets: [secret] })
    const headers = new Headers(await sign({ secret, id, body: new Uint8Array([0xff, 0x00, 0xfe]) }))
    await expect(verifier(headers, new Uint8Array([0xff, 0x00, 0xfe]))).resolves.toBeUndefined()
    await expect(verifier(headers, new Uint8Array([0xfe, 0x00, 0xfe]))).rejects.toEqual(refused)
  })

  it.each([
    ['after a wrong one', `${wrong} ${published}`],
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

  it('is not looked for behind a thousand others', async () => {
    const signatures = `${wrong} `.repeat(1000) + published
    await expect(verify({ 'webhook-signature': signatures })).rejects.toEqual(refused)
  })

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('is refused without %s', async (name) => {
    await expect(verify({ [name]: undefined })).rejects.toThrow(`it has no ${name}`)
    await expect(verify({ [name]: '' })).rejects.toEqual(refused)
  })

  it.each([
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
  it.each([-300, -1, 0, 1, 300])('may be %i seconds off', async (offset) => {
    await expect(verify({}, { offset })).resolves.toBeUndefined()
  })

  it.each([-301, 301, 86_400])('must not be %i seconds off', async (offset) => {
    await expect(verify({}, { offset })).rejects.toEqual(refused)
  })

  it('has the tolerance of the options', async () => {
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
  const [old = '', current = '', next = ''] = [1, 2, 3].map((byte) => toSecret(new Uint8Array(24).fill(byte)))
  const hostWith = (...secrets: string[]) => createHost({ verify: createVerifier({ secrets }) }).handle
  const send = (handle: ReturnType<typeof hostWith>, secret: string, id: string) =>
    deliver(handle, { name: 'WEBHOOK_CHALLENGE', challenge: id }, { id, secret })

  it.each(['', 'whsec_', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_not base64!'])(
    'must not be “%s”: the verifier is not created',
    (wrong) => {
      expect(() => createVerifier({ secrets: [wrong] })).toThrow(TypeError)
    },
  )

  it('can be rotated without a refused event, if hosts accept it before it is used and after', async () => {
    const phases = [
      { hosts: [hostWith(old), hostWith(old, current)], secrets: [old] },
      { hosts: [hostWith(old, current)], secrets: [old, current] },
      { hosts: [hostWith(old, current), hostWith(old, current, next)], secrets: [old, current] },
      { hosts: [hostWith(old, current, next)], secrets: [old, current, next] },
      { hosts: [hostWith(old, current, next), hostWith(current, next)], secrets: [current, next] },
      { hosts: [hostWith(next)], secrets: [next] },
    ]
    const answers = phases.flatMap(({ hosts, secrets }, phase) =>
      hosts.flatMap((host) => secrets.map((secret, index) => send(host, secret, `evt_${phase}_${index}`))),
    )
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses).toEqual(Array(16).fill(200))
  })

  it('is refused after it is dropped', async () => {
    expect((await send(hostWith(current, next), old, 'evt_1')).status).toBe(401)
  })

  it('signs for another implementation of Standard Webhooks, and verifies its signatures', async () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 64 })
    // Characters that a header carries unchanged.
    const id = fc.stringMatching(/^[!-~]{1,60}$/)
    const change = fc.constantFrom('id', 'signature', 'body', 'nothing')
    const text = fc.string({ unit: 'binary' })
    await fc.assert(
      fc.asyncProperty(bytes, id, text, change, text, async (bytes, id, body, what, other) => {
        const secret = toSecret(bytes)
        const theirs = new Webhook(secret)
        const now = new Date()
        const ours = await sign({ secret, id, body, timestamp: now })
        expect(ours['webhook-signature']).toBe(theirs.sign(id, now, body))

        const sent = what === 'body' ? other : body
        const headers = {
          ...ours,
          ...(what === 'id' ? { 'webhook-id': `${id}x` } : {}),
          ...(what === 'signature'
            ? { 'webhook-signature': `v1,${Buffer.from(other).toString('base64')}` }
            : {}),
        }
        const accepts = (verification: Promise<unknown>) =>
          verification.then(
            () => true,
            () => false,
          )
        const verifier = createVerifier({ secrets: [secret] })
        expect(await accepts(verifier(new Headers(headers), new TextEncoder().encode(sent)))).toBe(
          await accepts(Promise.resolve().then(() => theirs.verify(sent, headers, { jsonParse: false }))),
        )
      }),
    )
  })
})
