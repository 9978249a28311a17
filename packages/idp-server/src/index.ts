/**
 * A client for the applications of an identity-provider workspace.
 *
 * @example
 * ```ts
 * import { createIdpPlatformClient } from '@org/idp-server'
 *
 * const platform = createIdpPlatformClient({ platformApiKey })
 * const application = await platform.createApplication({ name: 'Shop', template: 'b2c-saas' })
 * ```
 * @module
 */

export type { ErrorCode, FieldError, ProviderRefusal } from '@org/core/errors'
export { IntegrationError, isIntegrationError } from '@org/core/errors'
export type { CallOptions } from '@org/core/http'
export type { IdpPlatformClient, IdpPlatformClientOptions, NewApplication, ReadOptions } from './client.ts'
export { createIdpPlatformClient } from './client.ts'
export type { Application, Domain, DomainStatus, Instance } from './wire.ts'
