/** The provider as an emulator: the endpoints that the client uses, in the provider's wire format, with its refusals. */
import { createEmulator, createFaults, type EmulatedRequest } from '@org/core/testing'
import * as z from 'zod'

/** A provider that lives in memory. */
export type ExampleServiceProvider = ReturnType<typeof createExampleServiceProvider>

const newItem = z.strictObject({ name: z.string().min(1) })

/**
 * Makes a provider.
 *
 * @param apiTokens the tokens that it accepts
 * @example
 * ```ts
 * const provider = createExampleServiceProvider()
 * provider.faults.add({ path: '/items', cut: 'after' })
 * const client = createExampleServiceClient({ apiToken: 'api-token', fetch: provider.fetch })
 * ```
 */
export function createExampleServiceProvider(apiTokens: readonly string[] = ['api-token']) {
  const items = new Map<string, { id: string; name: string }>()
  const faults = createFaults()

  function handle({ method, url, headers, text }: EmulatedRequest): Response {
    const token = headers.get('authorization')?.replace(/^Bearer /, '') ?? ''
    if (!apiTokens.includes(token)) return refuse(401, 'bad_token', 'Unknown token.')
    switch (`${method} ${url.pathname}`) {
      case 'GET /account':
        return Response.json({ id: 'account_1', name: 'Example' })
      case 'GET /items/count':
        return Response.json({ count: items.size })
      case 'POST /items': {
        const { data } = newItem.safeParse(JSON.parse(text))
        if (!data) return refuse(422, 'invalid_item', 'An item needs a name.')
        const item = { id: `item_${items.size + 1}`, ...data }
        items.set(item.id, item)
        return Response.json(item, { status: 201 })
      }
    }
    const id = /^\/items\/([^/]+)$/.exec(url.pathname)?.[1] ?? ''
    const item = items.get(decodeURIComponent(id))
    return method === 'GET' && item ? Response.json(item) : refuse(404, 'not_found', 'There is nothing here.')
  }

  const { fetch, calls } = createEmulator({
    faults,
    handle,
    refusal: () => ({ code: 'refused', message: 'Refused.' }),
    details: () => ({}),
  })
  return {
    /** Works as a `fetch` in process, and as a handler for `serve` of `@org/core/testing`. */
    fetch,
    faults,
    /** The newest calls, with those that met a fault, newest last. */
    calls,
    /** The items, by id. */
    items,
    /** Forgets items, calls and faults. */
    reset() {
      items.clear()
      faults.clear()
      calls.length = 0
    },
  }
}

function refuse(status: number, code: string, message: string): Response {
  return Response.json({ code, message }, { status })
}
