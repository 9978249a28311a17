/** Tools for tests: emulators, faults on demand, a server, and the suites that integrations and stores pass. */
export { type DeliverOptions, type DeliveryResponse, deliver } from './deliver.ts'
export { describeDeliveryStore } from './describe-delivery-store.ts'
export { describeIntegration } from './describe-integration.ts'
export { createEmulator, type EmulatedRequest, type EmulatorCall, keepNewest } from './emulator.ts'
export { ConnectionCut, createFaults, type Fault, type Faults, type StatusFault } from './faults.ts'
export type { IntegrationFixture, IntegrationSample } from './integration-host.ts'
export type { TestRunner } from './integration-suite.ts'
export {
  createPlatformEmulator,
  type EmulatedDeployment,
  type PlatformCall,
  type PlatformEmulator,
} from './platform.ts'
export { connectPlatform } from './platform-port.ts'
export { type Served, serve } from './serve.ts'
