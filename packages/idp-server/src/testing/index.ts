/** An emulator of the identity provider's Platform and Backend APIs, for tests and the sandbox. */
export type { EmulatedApplication, NewApplication } from './applications.ts'
export type { PlatformApi, PlatformApiSettings } from './platform-api.ts'
export { createPlatformApi, platformNotEnabled } from './platform-api.ts'
