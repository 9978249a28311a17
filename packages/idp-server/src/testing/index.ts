/**
 * The identity provider's Platform API as an emulator, with the Backend API behind it, for tests and the
 * sandbox.
 *
 * @module
 */
export type { EmulatedApplication, NewApplication } from './applications.ts'
export type { PlatformApi, PlatformApiOptions, PlatformApiSettings } from './platform-api.ts'
export { createPlatformApi, platformNotEnabled } from './platform-api.ts'
