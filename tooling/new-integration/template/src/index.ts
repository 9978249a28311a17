/**
 * Example service.
 *
 * @example
 * ```ts
 * import { createExampleServiceClient } from '@org/example-service'
 *
 * const client = createExampleServiceClient({ apiToken })
 * await client.createItem({ name: 'A first one' })
 * ```
 * @module
 */

export type { ErrorCode, FieldError, ProviderRefusal } from '@org/core/errors'
export { IntegrationError, isIntegrationError } from '@org/core/errors'
export type { CallOptions, ExampleServiceClient, ExampleServiceClientOptions, Item } from './client.ts'
export { createExampleServiceClient } from './client.ts'
