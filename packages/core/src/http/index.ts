/**
 * HTTP clients for providers: deadline, retries where they are safe, capped responses, and failures that say
 * whether the call may have taken effect. It loads no schema library.
 */

export { toBase64 } from '../base64.ts'
export { breathe } from '../breathe.ts'
export type { Gate, GateLimits, Pass } from '../contract/gate.ts'
export { readJson } from '../json.ts'
export { maskAddresses } from '../log.ts'
export { pause } from './attempt.ts'
export { createGate } from './gate.ts'
export {
  type CallOptions,
  createProviderClient,
  type ProviderClient,
  type ProviderClientOptions,
  type ProviderRequest,
} from './provider-client.ts'
export { type Provider, type ProviderWords, unknownOutcome } from './provider-error.ts'
export {
  HttpFailure,
  type JsonReader,
  readResponse,
  toHttpFailure,
  toStatusFailure,
} from './response.ts'
