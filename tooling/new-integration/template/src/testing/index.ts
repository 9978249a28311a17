/** The provider as an emulator, with failures on demand. */
export type { ExampleServiceProvider } from './provider.ts'
export { createExampleServiceProvider } from './provider.ts'
export { createSample } from './sample.ts'
