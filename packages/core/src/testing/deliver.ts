import { sign } from '../request/signature.ts'

/** What an event was answered. */
export interface DeliveryAnswer {
  status: number
  headers: Headers
  /** The parsed JSON. */
  body: unknown
}

/** How an event is delivered. */
export interface DeliverOptions {
  /** Sent as `webhook-id`. */
  id?: string | undefined
  /** Signs the delivery as the platform does: `whsec_…`. */
  secret?: string | undefined
  /** @default 'http://host.test/webhook' */
  url?: string | undefined
}

/**
 * Delivers an event through the front door: as a real `Request`, to a handler in process or, with `fetch`, to
 * a host anywhere.
 *
 * @example
 * ```ts
 * const { status, body } = await deliver(handle, { name: 'HEALTH_CHECK' })
 * ```
 */
export async function deliver(
  handle: (request: Request) => Response | Promise<Response>,
  event: unknown,
  { id, secret, url = 'http://host.test/webhook' }: DeliverOptions = {},
): Promise<DeliveryAnswer> {
  const body = JSON.stringify(event)
  const headers = new Headers({ 'content-type': 'application/json' })
  if (id) headers.set('webhook-id', id)
  if (secret) {
    const signed = await sign({ secret, id: id ?? crypto.randomUUID(), body })
    for (const [name, value] of Object.entries(signed)) headers.set(name, value)
  }
  const response = await handle(new Request(url, { method: 'POST', headers, body }))
  return { status: response.status, headers: response.headers, body: await response.json() }
}
