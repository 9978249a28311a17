/**
 * The identity provider's Backend API as an emulator, for tests and the sandbox, and what an emulator of its
 * other APIs is made of.
 *
 * @module
 */
export type { BackendApi, BackendApiCall, BackendApiOptions } from './backend-api.ts'
export { apiVersion, createBackendApi, readBearer } from './backend-api.ts'
export { readBody } from './body.ts'
export type { WireDomain } from './domains.ts'
export { buildDomain } from './domains.ts'
export type { EnvironmentType, IdpInstance, InstanceOptions, InstanceSettings } from './instance.ts'
export { publishableKeyOf } from './instance.ts'
export { newId } from './random.ts'
export type { WireError } from './refusals.ts'
export {
  answer,
  asFault,
  internalError,
  parameterReason,
  Refusal,
  rateLimited,
  reason,
  refusals,
  underMaintenance,
  withUndocumented,
} from './refusals.ts'
export type { NewUser } from './user-fields.ts'
export type { NewOrganization, WireOrganization } from './wire-organization.ts'
export type {
  WireEmailAddress,
  WireMetadata,
  WirePhoneNumber,
  WireUser,
  WireVerification,
  WireWallet,
} from './wire-user.ts'
