import { withBreaker } from '../../apps/server/src/breaker.ts'
import { fetchFresh } from '../../apps/server/src/outbound.ts'

/** What the host on Node gives its integrations to call their providers with. */
export async function hostTransport(integration: string): Promise<typeof fetch> {
  return withBreaker(fetchFresh, integration, () => {})
}
