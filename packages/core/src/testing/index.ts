/**
 * Tools for tests and the sandbox: the platform emulator, faults on demand, a server for a fetch handler, and
 * the suites that integrations and stores pass.
 */
export { type DeliverOptions, type DeliveryResponse, deliver } from './deliver.ts'
export { describeDeliveryStore } from './describe-delivery-store.ts'
export { describeIntegration } from './describe-integration.ts'
export { createEmulator, type EmulatedRequest, type EmulatorCall, keepNewest } from './emulator.ts'
export { ConnectionCut, createFaults, type Fault, type Faults, type StatusFault } from './faults.ts'
export type { IntegrationFixture } from './integration-host.ts'
export type { TestRunner } from './integration-suite.ts'
export { createPlatformEmulator, type PlatformCall, type PlatformEmulator } from './platform.ts'
export type { EmulatedDeployment } from './platform-callbacks.ts'
export { connectPlatform } from './platform-port.ts'
export type { IntegrationSample } from './sample.ts'
export { type Served, serve } from './serve.ts'
