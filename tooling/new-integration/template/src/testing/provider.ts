/**
 * The provider as an emulator: the endpoints that the client uses, on the provider's wire format, with its
 * refusals.
 */
import { createEmulator, createFaults, type EmulatedRequest } from '@org/core/testing'
import * as z from 'zod'

/** Options of {@link createExampleServiceProvider}. */
export interface ExampleServiceProviderOptions {
  /**
   * The tokens that are accepted.
   * @default ['api-token']
   */
  apiTokens?: readonly string[] | undefined
  /**
   * Items that the account holds at most.
   * @default 10_000
   */
  capacity?: number | undefined
}

/** A provider that lives in memory. */
export type ExampleServiceProvider = ReturnType<typeof createExampleServiceProvider>

const newItem = z.strictObject({ name: z.string().min(1) })

/**
 * Makes a provider.
 *
 * @example
 * ```ts
 * const provider = createExampleServiceProvider()
 * provider.faults.add({ path: '/items', cut: 'after' })
 * const client = createExampleServiceClient({ apiToken: 'api-token', fetch: provider.fetch })
 * ```
 */
export function createExampleServiceProvider({
  apiTokens = ['api-token'],
  capacity = 10_000,
}: ExampleServiceProviderOptions = {}) {
  const items = new Map<string, { id: string; name: string }>()
  const faults = createFaults()

  function handle({ method, url, headers, text }: EmulatedRequest): Response {
    const token = headers.get('authorization')?.replace(/^Bearer /, '')
    if (token === undefined || !apiTokens.includes(token)) return refuse(401, 'bad_token', 'Unknown token.')
    const id = /^\/items\/(?!count$)([^/]+)$/.exec(url.pathname)?.[1]
    if (method === 'GET' && id !== undefined) return getItem(decodeURIComponent(id))
    switch (`${method} ${url.pathname}`) {
      case 'GET /account':
        return Response.json({ id: 'account_1', name: 'Example' })
      case 'GET /items/count':
        return Response.json({ count: items.size })
      case 'POST /items':
        return createItem(text)
      default:
        return refuse(404, 'not_found', 'There is nothing here.')
    }
  }

  function getItem(id: string): Response {
    const item = items.get(id)
    return item ? Response.json(item) : refuse(404, 'no_item', 'There is no such item.')
  }

  function createItem(text: string): Response {
    const { data } = newItem.safeParse(parseJson(text))
    if (!data) return refuse(422, 'invalid_item', 'An item needs a name.')
    if (items.size >= capacity) return refuse(422, 'account_full', 'The account is full.')
    const item = { id: `item_${items.size + 1}`, ...data }
    items.set(item.id, item)
    return Response.json(item, { status: 201 })
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
    /** The newest 10,000 calls, with those that met a fault, newest last. */
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
