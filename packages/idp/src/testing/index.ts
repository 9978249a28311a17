/**
 * An emulator of the identity provider's Backend API, for tests and the sandbox, and its parts, from which
 * `@org/idp-server/testing` builds an emulator of the Platform API.
 */
export type { BackendApi, BackendApiCall, BackendApiOptions } from './backend-api.ts'
export { createBackendApi } from './backend-api.ts'
export type { IdpInstance, InstanceOptions } from './instance.ts'
export { publishableKeyOf } from './instance.ts'
export type { NewOrganization, NewUser, WireMetadata, WireOrganization, WireUser } from './records.ts'
export { newId } from './records.ts'
export {
  asFault,
  organizationsDisabled,
  parameterReason,
  Refusal,
  rateLimited,
  readBearer,
  readBody,
  reason,
  refusals,
  respond,
  withUndocumented,
} from './refusals.ts'
