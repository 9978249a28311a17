/** Deliveries, as the platform makes them. */
import { sign } from '@org/core'

/** An event on its way to the host. */
export interface Delivery {
  route: string
  body: string
  /** Without an id, the host records nothing. */
  id: string | undefined
}

/**
 * The headers of a delivery.
 *
 * @param secret signs the delivery
 */
export async function deliveryHeaders(
  { id, body }: Omit<Delivery, 'route'>,
  secret: string | undefined,
): Promise<Record<string, string>> {
  const type = { 'content-type': 'application/json' }
  if (secret) return { ...type, ...(await sign({ secret, id: id ?? crypto.randomUUID(), body })) }
  return id === undefined ? type : { ...type, 'webhook-id': id }
}
