/**
 * What tests and the sandbox stand on: the platform as an emulator, faults on demand, and a server for any
 * fetch handler.
 *
 * @module
 */
export { type DeliverOptions, type DeliveryAnswer, deliver } from './deliver.ts'
export { describeDeliveryStore, type StoreTestRunner } from './describe-delivery-store.ts'
export { describeIntegration } from './describe-integration.ts'
export type { EmulatedRequest, Emulator, EmulatorCall, EmulatorOptions } from './emulator.ts'
export { createEmulator, keepNewest } from './emulator.ts'
export type {
  CutFault,
  DelayFault,
  EmptyFault,
  Fault,
  FaultSelector,
  Faults,
  HangFault,
  HtmlFault,
  StatusFault,
  TruncateFault,
} from './faults.ts'
export { ConnectionCut, createFaults, isConnectionCut, withFaults } from './faults.ts'
export type { ArrangedIntegration } from './integration-host.ts'
export type { Expectation, TestRunner } from './integration-suite.ts'
export type { PlatformCall, PlatformEmulator, PlatformEmulatorOptions } from './platform.ts'
export { createPlatformEmulator } from './platform.ts'
export type { EmulatedDeployment } from './platform-callbacks.ts'
export { connectPlatform } from './platform-port.ts'
export type { Served, ServeOptions } from './serve.ts'
export { serve } from './serve.ts'
