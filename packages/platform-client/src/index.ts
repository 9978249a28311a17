/**
 * The platform's callback API.
 *
 * @module
 */
export { createPlatformClient, type PlatformClientOptions } from './client.ts'
