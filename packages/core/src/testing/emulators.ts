/** What emulators of providers need: a part of `@org/core/testing` that is a CommonJS module, too. */
export { createEmulator, type EmulatedRequest, type EmulatorCall, keepNewest } from './emulator.ts'
export { ConnectionCut, createFaults, type Fault, type Faults, type StatusFault } from './faults.ts'
export { type Served, serve } from './serve.ts'
