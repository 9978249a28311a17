import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deliver } from '../src/testing/index.ts'
import { calling, createHost } from './example.ts'

async function post(body: string | Uint8Array<ArrayBuffer>) {
  const { handle, asked } = createHost()
  const headers = { 'content-type': 'application/json' }
  const response = await handle(new Request('http://host.test/', { method: 'POST', headers, body }))
  return { status: response.status, body: await response.json(), asked }
}

/** Every name that objects, functions, lists and texts have from their prototypes. */
const inherited = [Object, Function, Array, String].flatMap(({ prototype }) =>
  Object.getOwnPropertyNames(prototype),
)

/** What would have to change for a prototype to be poisoned. */
const prototypes = () =>
  [Object.prototype, Function.prototype, Array.prototype].map((prototype) =>
    Object.getOwnPropertyNames(prototype),
  )

describe('a body', () => {
  it.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['half a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a character that breaks off', [0xe2, 0x82]],
    ['a byte that never occurs', [0xff]],
    ['a character above the last one', [0xf4, 0x90, 0x80, 0x80]],
  ])('that is not UTF-8 is refused: %s', async (_, bytes) => {
    const [before, after] = ['{"name":"WEBHOOK_CHALLENGE","challenge":"', '"}'].map((text) =>
      Buffer.from(text),
    )
    const answer = await post(
      Buffer.concat([before ?? [], Uint8Array.from(bytes), after ?? []].map(Buffer.from)),
    )
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_json', detail: 'The body is not UTF-8.' },
    })
  })

  it('that holds a key twice counts by the last one', async () => {
    const answer = await post(
      '{"name":"DEPLOYMENT_DELETED","name":"WEBHOOK_CHALLENGE","challenge":"a","challenge":"b"}',
    )
    expect(answer).toMatchObject({ status: 200, body: { challenge: 'b' } })
  })

  it('with names of prototypes as its keys changes no prototype, wherever they stand', async () => {
    const before = prototypes()
    const poison = fc.constantFrom(
      '{"__proto__":{"polluted":1}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"__proto__":null}',
      '{"__proto__":[]}',
      '[{"__proto__":{"polluted":1}}]',
    )
    const place = fc.constantFrom(
      (value: string) => value,
      (value: string) => `{"name":"WEBHOOK_CHALLENGE","challenge":${value}}`,
      (value: string) => `{"name":"DEPLOYMENT_CREATED","deployment":{"id":"dep_1","inputs":${value}}}`,
      (value: string) => `{"name":"DEPLOYMENT_DELETED","deployment":{"id":"dep_1","outputs":${value}}}`,
      (value: string) => `{"name":"FUNCTION_CALL","functionCall":{"name":"greet","arguments":${value}}}`,
      (value: string) => `{"name":"FUNCTION_CALL","functionCall":${value}}`,
      (value: string) => `{"__proto__":{"name":"WEBHOOK_CHALLENGE"},"deployment":${value}}`,
    )
    await fc.assert(
      fc.asyncProperty(place, poison, async (place, value) => {
        const { status } = await post(place(value))
        expect(status).toBeLessThan(500)
        expect(Reflect.get({}, 'polluted')).toBeUndefined()
        expect(prototypes()).toEqual(before)
      }),
    )
  })

  it('can’t bring the name of its event by its prototype', async () => {
    expect(await post('{"__proto__":{"name":"WEBHOOK_CHALLENGE"}}')).toMatchObject({
      status: 400,
      body: { code: 'invalid_event' },
    })
  })
})

describe('a function', () => {
  it.each([...new Set(inherited)])('named “%s” is one that nobody has', async (name) => {
    const { handle, asked } = createHost()
    const { status, body } = await deliver(handle, calling(name), { id: 'evt_1' })
    expect({ status, body }).toMatchObject({ status: 404, body: { code: 'unknown_function' } })
    expect(asked).toEqual([])
  })
})

describe('an id', () => {
  it.each(['id', 'deployment.id', 'download.id'])('can’t hold half a character: %s', async (path) => {
    const half = { id: '\ud800' }
    const event = path === 'id' ? half : { [path.replace('.id', '')]: half }
    const { handle } = createHost()
    expect(await deliver(handle, { name: 'HEALTH_CHECK', ...event })).toMatchObject({
      status: 400,
      body: { code: 'invalid_event', errors: [{ path }] },
    })
  })
})
