import type { OutboundInit } from '@org/core/internal'
import { describe, expect, it } from 'vitest'
import { type Call, failureOf, type HttpCall, type Onlooker, together, watchFetch } from '../src/onlooker.ts'

/** An onlooker that writes down what it sees, and sends headers along. */
function createOnlooker(name: string, seen: string[], headers: Record<string, string> = {}): Onlooker {
  return {
    answered: () => void seen.push(`${name} answered`),
    async step(step, work) {
      seen.push(`${name} begins ${step}`)
      return work()
    },
    async webhook(route, _, work) {
      seen.push(`${name} begins ${route}`)
      return work()
    },
    async call(call, work, outcomeOf) {
      if ('headers' in call) Object.assign(call.headers, headers)
      const result = await work()
      seen.push(`${name} ${'method' in call ? call.method : call.to} ${outcomeOf(result)}`)
      return result
    },
  }
}

const toPlatform = (call: HttpCall): Call => ({ to: 'platform-api', ...call })

/** What left, behind a watched `fetch`. */
async function send(onlooker: Onlooker, input: string | Request, init?: OutboundInit) {
  const left: { input: unknown; init: OutboundInit | undefined }[] = []
  const watched = watchFetch(
    async (...given: [unknown, OutboundInit?]) => {
      left.push({ input: given[0], init: given[1] })
      return new Response(null, { status: 429 })
    },
    onlooker,
    toPlatform,
  )
  await watched(input, init)
  return left[0]
}

describe('a watched fetch', () => {
  const ensureHeld = () => {}

  it('passes on what it is given as it is, so that nothing is copied', async () => {
    const seen: string[] = []
    const init = { method: 'POST', body: '{}', ensureHeld }
    const left = await send(createOnlooker('one', seen), 'http://provider.test/', init)
    expect(left?.init).toBe(init)
    expect(seen).toEqual(['one POST 429'])
  })

  it('sends along what an onlooker adds, and loses nothing else', async () => {
    const onlooker = createOnlooker('one', [], { traceparent: 'parent' })
    const init = { method: 'POST', headers: { accept: 'x' }, body: '{}', ensureHeld }
    const left = await send(onlooker, 'http://provider.test/', init)
    expect(left?.init).toMatchObject({ method: 'POST', body: '{}', ensureHeld })
    expect([...new Headers(left?.init?.headers)]).toEqual([
      ['accept', 'x'],
      ['traceparent', 'parent'],
    ])
    const request = new Request('http://provider.test/', { headers: { accept: 'y' } })
    const other = await send(onlooker, request)
    expect(other?.input).toBe(request)
    expect([...new Headers(other?.init?.headers)]).toEqual([
      ['accept', 'y'],
      ['traceparent', 'parent'],
    ])
  })
})

describe('two onlookers', () => {
  it('see the same, one around the other', async () => {
    const seen: string[] = []
    const both = together(createOnlooker('outer', seen), createOnlooker('inner', seen))
    const work = async () => new Response()
    await both?.webhook?.('mailer', new Request('http://host.test'), work)
    await both?.step?.('handler', work)
    await both?.call({ to: 'store', operation: 'read' }, work, () => 'found')
    expect(seen).toEqual([
      'outer begins mailer',
      'inner begins mailer',
      'outer begins handler',
      'inner begins handler',
      'inner store found',
      'outer store found',
    ])
  })

  it('are one where there is one, and none where there is none', () => {
    const one = createOnlooker('one', [])
    expect([together(one, undefined), together(undefined, one)]).toEqual([one, one])
    expect(together(undefined, undefined)).toBeUndefined()
  })
})

it.each([
  [new DOMException('Late.', 'TimeoutError'), 'timeout'],
  [new DOMException('Ended.', 'AbortError'), 'aborted'],
  [new TypeError('fetch failed'), 'unreachable'],
  ['thrown', 'unreachable'],
])('what a call threw is a word: %s', (thrown, word) => {
  expect(failureOf(thrown)).toBe(word)
})
