/**
 * The parts that `@org/idp-server` shares: it provisions the applications that this integration attaches to.
 */
export { createIdpClient, type IdpClient } from './client.ts'
export { createFunctions } from './functions.ts'
export { createInstanceHandlers, type InstanceAccess } from './instance-handlers.ts'
export { instanceDownloads, instanceFunctions, instanceMetrics, instanceOutputs } from './integration.ts'
export { type Environment, parsePublishableKey } from './keys.ts'
