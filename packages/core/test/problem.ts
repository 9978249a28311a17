import { expect } from 'vitest'
import { type ErrorCode, problemSchema } from '../src/index.ts'
import { type createHost, token } from './example.ts'

const headerCanary = 'canary-in-a-header'
/** The codes of all failures that were read in this file. */
export const seen = new Set<ErrorCode>()

/** Posts a body, as it is or as JSON, with a header that must not come back. */
export async function post(host: ReturnType<typeof createHost>, body: unknown, headers: HeadersInit = {}) {
  const response = await host.handle(
    new Request('http://host.test/greeter/webhook', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${headerCanary}`,
        'x-forwarded-for': headerCanary,
        ...headers,
      },
      body: typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body),
    }),
  )
  return read(response)
}

/** Reads a failure, and holds it to what every failure promises. */
export async function read(response: Response) {
  const text = await response.text()
  expect(text).not.toContain(token)
  expect(text).not.toContain(headerCanary)
  expect(text).not.toMatch(/\n? +at .+:\d+|"(stack|cause|headers)"/)
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  const problem = problemSchema.strict().parse(JSON.parse(text))
  expect(problem).toMatchObject({ status: response.status, type: `urn:problem:${problem.code}` })
  expect(problem.title).not.toBe('')
  seen.add(problem.code)
  return { problem, headers: response.headers }
}
