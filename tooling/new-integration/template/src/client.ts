/** The client of the example service: the only file that knows the provider's URLs and headers. */
import {
  type CallOptions,
  createProviderClient,
  type ProviderClientOptions,
  type ProviderRequest,
  readJson,
} from '@org/core/http'
import type * as z from 'zod'
import { exampleServiceProvider } from './errors.ts'
import { wireAccount, wireCount, wireItem } from './wire.ts'

/** The provider's API. */
export const DEFAULT_BASE_URL = 'https://api.example.com'

/** Options of {@link createExampleServiceClient}. */
export interface ExampleServiceClientOptions
  extends Pick<ProviderClientOptions, 'fetch' | 'timeoutMs' | 'wait'> {
  apiToken: string
  /** @default 'https://api.example.com' */
  baseUrl?: string | undefined
}

/** One item. */
export interface Item {
  id: string
  name: string
}

/** The items of one account. Every method throws an `IntegrationError`. */
export interface ExampleServiceClient {
  /** @throws `outcome_unknown` if the item may have been created */
  createItem(item: { name: string }, options?: CallOptions): Promise<Item>
  getItem(id: string, options?: CallOptions): Promise<Item>
  countItems(options?: CallOptions): Promise<number>
  /** The account of the token: the cheapest way to check the token. */
  getAccount(options?: CallOptions): Promise<{ id: string; name: string }>
}

/** Makes a client for one account. */
export function createExampleServiceClient(options: ExampleServiceClientOptions): ExampleServiceClient {
  const { apiToken, baseUrl = DEFAULT_BASE_URL, ...connection } = options
  const provider = createProviderClient(exampleServiceProvider, {
    ...connection,
    readJson,
    baseUrl,
    credential: apiToken,
    headers: { authorization: `Bearer ${apiToken}` },
  })

  const call = <Schema extends z.ZodType>(
    request: ProviderRequest,
    schema: Schema,
    callOptions: CallOptions = {},
  ): Promise<z.output<Schema>> => provider.call(request, (body) => schema.safeParse(body).data, callOptions)

  return {
    createItem({ name }, options) {
      const change = 'the item was created'
      return call({ method: 'POST', path: '/items', json: { name }, change }, wireItem, options)
    },
    // An id that is not escaped could name another path.
    getItem: (id, options) =>
      call({ method: 'GET', path: `/items/${encodeURIComponent(id)}` }, wireItem, options),
    countItems: (options) => call({ method: 'GET', path: '/items/count' }, wireCount, options),
    getAccount: (options) => call({ method: 'GET', path: '/account' }, wireAccount, options),
  }
}

export type { CallOptions } from '@org/core/http'
