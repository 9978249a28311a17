import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { createVerifier, sign } from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { createHost } from './example.ts'

const toSecret = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString('base64')}`
const secretBytes = fc.uint8Array({ minLength: 1, maxLength: 64 })
/** What a header can carry without a change. */
const id = fc.stringMatching(/^[!-~]{1,60}$/)
const body = fc.string({ unit: 'binary' })

describe('another implementation of Standard Webhooks', () => {
  it('accepts what is signed here', async () => {
    await fc.assert(
      fc.asyncProperty(secretBytes, id, body, async (bytes, id, body) => {
        const secret = toSecret(bytes)
        const headers = await sign({ secret, id, body })
        expect(() => new Webhook(secret).verify(body, headers, { jsonParse: false })).not.toThrow()
      }),
    )
  })

  it('signs what is accepted here', async () => {
    await fc.assert(
      fc.asyncProperty(secretBytes, id, body, async (bytes, id, body) => {
        const secret = toSecret(bytes)
        const now = new Date()
        const headers = new Headers({
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
          'webhook-signature': new Webhook(secret).sign(id, now, body),
        })
        const verify = createVerifier({ secrets: [secret] })
        await expect(verify(headers, new TextEncoder().encode(body))).resolves.toBeUndefined()
      }),
    )
  })

  it('is of the same opinion about every change of a signed request', async () => {
    const secret = toSecret(new Uint8Array(24).fill(7))
    const verify = createVerifier({ secrets: [secret] })
    const change = fc.constantFrom('id', 'signature', 'body', 'nothing')
    await fc.assert(
      fc.asyncProperty(
        id,
        body,
        change,
        fc.string({ unit: 'binary-ascii', minLength: 1 }),
        async (id, body, what, other) => {
          const signed = await sign({ secret, id, body })
          const sent = what === 'body' ? other : body
          const headers = {
            ...signed,
            ...(what === 'id' ? { 'webhook-id': `${id}x` } : {}),
            ...(what === 'signature' ? { 'webhook-signature': `v1,${btoa(other)}` } : {}),
          }
          const theirs = () => new Webhook(secret).verify(sent, headers, { jsonParse: false })
          const ours = verify(new Headers(headers), new TextEncoder().encode(sent)).then(
            () => true,
            () => false,
          )
          expect(await ours).toBe(succeeds(theirs))
        },
      ),
    )
  })
})

function succeeds(act: () => unknown): boolean {
  try {
    act()
    return true
  } catch {
    return false
  }
}

describe('three secrets, rotated while events arrive', () => {
  const [old, current, next] = [1, 2, 3].map((byte) => toSecret(new Uint8Array(24).fill(byte)))
  if (!old || !current || !next) throw new Error('There are three secrets.')
  const hostWith = (...secrets: string[]) => createHost({ verify: createVerifier({ secrets }) }).handle
  const send = (handle: ReturnType<typeof hostWith>, secret: string, id: string) =>
    deliver(handle, { name: 'WEBHOOK_CHALLENGE', challenge: id }, { id, secret })

  it('refuse no event, as long as a secret is taken before it is used and dropped after', async () => {
    const overlapping = [
      { hosts: [hostWith(old), hostWith(old, current)], secrets: [old] },
      { hosts: [hostWith(old, current)], secrets: [old, current] },
      { hosts: [hostWith(old, current), hostWith(old, current, next)], secrets: [old, current] },
      { hosts: [hostWith(old, current, next)], secrets: [old, current, next] },
      { hosts: [hostWith(old, current, next), hostWith(current, next)], secrets: [current, next] },
      { hosts: [hostWith(next)], secrets: [next] },
    ]
    // Everything at once: a phase does not wait for the one before.
    const answers = overlapping.flatMap(({ hosts, secrets }, phase) =>
      hosts.flatMap((host) =>
        secrets.flatMap((secret) =>
          Array.from({ length: 40 }, (_, index) => send(host, secret, `evt_${phase}_${index}`)),
        ),
      ),
    )
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.length).toBeGreaterThan(500)
    expect(statuses.filter((status) => status !== 200)).toEqual([])
  })

  it('are refused once they are dropped', async () => {
    expect((await send(hostWith(current, next), old, 'evt_1')).status).toBe(401)
  })
})
