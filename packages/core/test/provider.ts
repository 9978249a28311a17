import { isIntegrationError } from '@org/core'
import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'

/**
 * Runs the emulator of a provider over real HTTP for a test file, and resets it before each test.
 *
 * @param toPath the path of a request, as the tests name it
 */
export function runProvider(
  provider: { fetch: typeof fetch; reset: () => void },
  toPath = ({ pathname, search }: URL) => pathname + search,
) {
  const requests: { method: string; path: string; headers: Headers; text: string }[] = []
  const waits: number[] = []
  const actions = new Map<number, () => void>()
  let server: Served | undefined

  beforeAll(async () => {
    server = await serve(async (request) => {
      const text = await request.clone().text()
      const { method, url, headers } = request
      requests.push({ method, path: toPath(new URL(url)), headers, text })
      actions.get(requests.length)?.()
      return provider.fetch(request)
    })
  })
  afterAll(() => server?.close())
  beforeEach(() => {
    provider.reset()
    requests.length = 0
    waits.length = 0
    actions.clear()
  })

  return {
    /** The requests that the provider received. */
    requests,
    /** The pauses between attempts, in milliseconds. The client records them, and does not wait. */
    waits,
    wait: async (milliseconds: number) => void waits.push(milliseconds),
    origin: () => server?.url ?? '',
    /** Runs an action as soon as the request of this number, from 1, arrives. */
    atRequest: (number: number, action: () => void) => void actions.set(number, action),
  }
}

/** Returns the `IntegrationError` that a promise rejects with. */
export async function failureOf(work: Promise<unknown>) {
  const error: unknown = await work.then(
    () => expect.fail('The promise resolved.'),
    (reason: unknown) => reason,
  )
  if (!isIntegrationError(error)) throw error
  return error
}
