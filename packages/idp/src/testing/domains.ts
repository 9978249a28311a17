/**
 * The domains of an instance, as `GET /domains` answers them.
 *
 * @module
 */
import type { EnvironmentType } from './instance.ts'
import { newId } from './random.ts'

/** One domain. */
export interface WireDomain {
  object: 'domain'
  /** `dmn_…` */
  id: string
  name: string
  is_satellite: boolean
  /** `https://` and the frontend host. */
  frontend_api_url: string
  accounts_portal_url: string | null
  proxy_url: string | null
  development_origin: string
  cname_targets: { host: string; value: string; required: boolean }[] | null
}

/** Makes the domain of a frontend host. */
export function buildDomain(
  frontendHost: string,
  environmentType: EnvironmentType,
  { isSatellite = false } = {},
): WireDomain {
  const isProduction = environmentType === 'production'
  const name = isProduction ? frontendHost.replace(/^clerk\./, '') : frontendHost.replace('.clerk.', '.')
  const accounts = isProduction ? `accounts.${name}` : name
  return {
    object: 'domain',
    id: newId('dmn'),
    name,
    is_satellite: isSatellite,
    frontend_api_url: `https://${frontendHost}`,
    accounts_portal_url: isSatellite ? null : `https://${accounts}`,
    proxy_url: null,
    development_origin: '',
    cname_targets: isProduction
      ? [{ host: frontendHost, value: 'frontend-api.clerk.services', required: true }]
      : null,
  }
}
