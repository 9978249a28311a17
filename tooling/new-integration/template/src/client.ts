/**
 * The client of the example service: the only file that knows the provider's URLs and headers.
 *
 * @module
 */
import { createHttpClient, type HttpRequest } from '@org/core/http'
import type * as z from 'zod'
import { callError, missingToken, notUnderstood } from './errors.ts'
import { wireAccount, wireCount, wireItem } from './wire.ts'

/** The provider's API. */
export const DEFAULT_BASE_URL = 'https://api.example.com'

/** Options of {@link createExampleServiceClient}. */
export interface ExampleServiceClientOptions {
  /** The API token. */
  apiToken: string
  /** @default 'https://api.example.com' */
  baseUrl?: string | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /**
   * Longest time for one call of a method with everything under it, in milliseconds.
   * @default 30_000
   */
  timeoutMs?: number | undefined
  /** Waits between two tries; tests pass one that does not. */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined
}

/** What every method takes beside its input. */
export interface CallOptions {
  /** Ends the call at once. */
  signal?: AbortSignal | undefined
  /**
   * Longest time for this call, in milliseconds.
   * @default the client's `timeoutMs`
   */
  timeoutMs?: number | undefined
}

/** An item, as the provider keeps it. */
export interface Item {
  id: string
  name: string
}

/**
 * The items of one account. Every method throws an `IntegrationError`; where its signal ended it before
 * anything was changed, the signal's reason.
 */
export interface ExampleServiceClient {
  /**
   * Creates an item. It is repeated only where it certainly was not created.
   *
   * @throws `provider_rejected`; `outcome_unknown` where the item may have been created
   */
  createItem(item: { name: string }, options?: CallOptions): Promise<Item>
  countItems(options?: CallOptions): Promise<number>
  /** The account that the token belongs to; the cheapest way to see whether it is accepted. */
  getAccount(options?: CallOptions): Promise<{ id: string; name: string }>
}

/**
 * Makes a client for one account.
 *
 * @example
 * ```ts
 * const client = createExampleServiceClient({ apiToken })
 * const { id } = await client.createItem({ name: 'A first one' })
 * ```
 */
export function createExampleServiceClient(options: ExampleServiceClientOptions): ExampleServiceClient {
  const { apiToken, baseUrl = DEFAULT_BASE_URL, timeoutMs = 30_000 } = options
  const connection = {
    baseUrl,
    headers: { authorization: `Bearer ${apiToken}` },
    fetch: options.fetch,
    wait: options.wait,
  }
  const read = createHttpClient(connection)
  // A change that timed out is not made again, so one try may take all the time that there is.
  const change = createHttpClient({ ...connection, timeoutMs: Number.POSITIVE_INFINITY })

  async function call<Schema extends z.ZodType>(
    request: HttpRequest,
    schema: Schema,
    { signal, ...options }: CallOptions = {},
  ): Promise<z.output<Schema>> {
    // Not when the client is made: a module that makes one must also load where there is no token.
    if (!/^[!-~]+$/.test(apiToken)) throw missingToken()
    const effect = request.method !== 'GET'
    const http = effect ? change : read
    const deadline = Date.now() + (options.timeoutMs ?? timeoutMs)
    const answer = await http({ ...request, repeatable: !effect, signal, deadline }).catch(
      (error: unknown) => {
        throw callError(error, effect)
      },
    )
    const parsed = schema.safeParse(answer.body)
    if (!parsed.success) throw notUnderstood(answer.status, effect)
    return parsed.data
  }

  return {
    async createItem({ name }, options) {
      return call({ method: 'POST', path: '/items', json: { name } }, wireItem, options)
    },
    async countItems(options) {
      return call({ method: 'GET', path: '/items/count' }, wireCount, options)
    },
    async getAccount(options) {
      return call({ method: 'GET', path: '/account' }, wireAccount, options)
    },
  }
}
