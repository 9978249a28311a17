/** The platform's callback API. */
export { createPlatformClient, type PlatformClientOptions } from './client.ts'
