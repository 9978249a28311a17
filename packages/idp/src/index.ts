/**
 * A client for the users and organizations of an identity-provider application.
 *
 * @example
 * ```ts
 * import { createIdpClient } from '@org/idp'
 *
 * const idp = createIdpClient({ secretKey })
 * const user = await idp.createUser({ emailAddress: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' })
 * ```
 * @module
 */

export type { ErrorCode, FieldError, ProviderRefusal } from '@org/core/errors'
export { IntegrationError, isIntegrationError } from '@org/core/errors'
export type { CallOptions } from '@org/core/http'
export type { IdpClient, IdpClientOptions } from './client.ts'
export { createIdpClient } from './client.ts'
export type { Environment, PublishableKey } from './keys.ts'
export { parsePublishableKey } from './keys.ts'
export type {
  NewOrganization,
  NewUser,
  Organization,
  OrganizationListOptions,
  User,
  UserChanges,
  UserFilter,
  UserListOptions,
} from './schema.ts'
