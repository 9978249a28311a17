import type { Config } from './config.ts'
import { createEgress } from './egress.ts'
import { nodeHmac } from './hmac.ts'
import type { HostOptions } from './host.ts'
import { fetchFresh, fetchKept } from './outbound.ts'

/** What a host uses wherever Node runs it. */
export function onNode({
  production,
  egressAllow,
}: Config): Required<Pick<HostOptions, 'fetch' | 'platformFetch' | 'egress' | 'hmac'>> {
  return {
    fetch: fetchFresh,
    platformFetch: fetchKept,
    egress: createEgress({ production, allow: egressAllow }),
    hmac: nodeHmac,
  }
}
