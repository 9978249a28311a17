/**
 * HTTP clients for providers: deadline, retries where they are safe, capped responses, and failures that say
 * whether the call may have taken effect. It loads no schema library.
 */

export { toBase64 } from '../base64.ts'
export { breathe } from '../breathe.ts'
export type { Gate, GateLimits, Pass } from '../contract/gate.ts'
export { readJson } from '../json.ts'
export { maskAddresses } from '../log.ts'
export {
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  pause,
} from './client.ts'
export { createGate } from './gate.ts'
export {
  type CallOptions,
  createProviderClient,
  type Provider,
  type ProviderClient,
  type ProviderClientOptions,
  type ProviderRequest,
  type ProviderWords,
  unknownOutcome,
} from './provider-client.ts'
export {
  HttpFailure,
  type HttpFailureKind,
  type HttpResponse,
  type JsonReader,
  readResponse,
  toHttpFailure,
  toStatusFailure,
} from './response.ts'
