/** Deliveries, as the platform makes them. */
import { sign } from '@org/core'

/** An event on its way to the host. */
export interface Delivery {
  route: string
  body: string
  /** Without an id, the host records nothing. */
  id: string | undefined
  /** @default right, if there is a secret */
  signature?: 'right' | 'wrong' | 'missing'
}

/** The headers of a delivery. `secret`: signs the delivery. */
export async function deliveryHeaders(
  { id, body, signature = 'right' }: Omit<Delivery, 'route'>,
  secret: string | undefined,
): Promise<Record<string, string>> {
  const type = { 'content-type': 'application/json' }
  const key = signature === 'wrong' ? `whsec_${btoa(crypto.randomUUID())}` : secret
  if (key && signature !== 'missing')
    return { ...type, ...(await sign({ secret: key, id: id ?? crypto.randomUUID(), body })) }
  return id === undefined ? type : { ...type, 'webhook-id': id }
}
