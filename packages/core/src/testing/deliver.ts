import { sign } from '../request/signature.ts'

/** The response to a delivered event. */
export interface DeliveryResponse {
  status: number
  headers: Headers
  /** The parsed JSON. */
  body: unknown
}

/** Options of {@link deliver}. */
export interface DeliverOptions {
  /** Sent as `webhook-id`. */
  id?: string | undefined
  /** Signs the delivery as the platform does: `whsec_…`. */
  secret?: string | undefined
  /** @default 'http://host.test/webhook' */
  url?: string | undefined
}

/** Delivers an event as a real `Request`: to a handler in process or, with `fetch`, to a host anywhere. */
export async function deliver(
  handle: (request: Request) => Response | Promise<Response>,
  event: unknown,
  { id, secret, url = 'http://host.test/webhook' }: DeliverOptions = {},
): Promise<DeliveryResponse> {
  const body = JSON.stringify(event)
  const signed = secret ? await sign({ secret, id: id ?? crypto.randomUUID(), body }) : {}
  const headers = { 'content-type': 'application/json', ...(id ? { 'webhook-id': id } : {}), ...signed }
  const response = await handle(new Request(url, { method: 'POST', headers, body }))
  return { status: response.status, headers: response.headers, body: await response.json() }
}
