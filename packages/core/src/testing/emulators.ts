/** What emulators of providers need: the part of `@org/core/testing` that loads no schema library. */
export { createEmulator, type EmulatedRequest, type EmulatorCall, keepNewest } from './emulator.ts'
export { ConnectionCut, createFaults, type Fault, type Faults, type StatusFault } from './faults.ts'
export { type Served, serve } from './serve.ts'
