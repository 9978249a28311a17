/**
 * An emulator of the identity provider's Backend API, for tests and the sandbox, and its parts, from which
 * `@org/idp-server/testing` builds an emulator of the Platform API.
 */
export type { BackendApi, BackendApiCall, BackendApiOptions } from './backend-api.ts'
export { createBackendApi, readBearer } from './backend-api.ts'
export { readBody } from './body.ts'
export type { EnvironmentType, IdpInstance, InstanceOptions, InstanceSettings } from './instance.ts'
export { publishableKeyOf } from './instance.ts'
export { newId } from './random.ts'
export type { NewOrganization, NewUser, WireMetadata, WireOrganization, WireUser } from './records.ts'
export type { WireError } from './refusals.ts'
export {
  asFault,
  internalError,
  parameterReason,
  Refusal,
  rateLimited,
  reason,
  refusals,
  respond,
  underMaintenance,
  withUndocumented,
} from './refusals.ts'
