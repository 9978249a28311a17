/**
 * A host for the suite that every integration passes: one integration between its provider's emulator and the
 * platform's, with everything that leaves it kept to be looked at.
 *
 * @module
 */

import { type IntegrationDefinition, secretNames } from '../contract/integration.ts'
import type { DeliveryStore } from '../delivery/store.ts'
import { memoryStore } from '../delivery/stores/memory.ts'
import type { HandlerDependencies, WebhookHandler } from '../pipeline/webhook.ts'
import { type DeliveryAnswer, deliver } from './deliver.ts'
import type { EmulatorCall } from './emulator.ts'
import type { Faults } from './faults.ts'
import { createPlatformEmulator, type PlatformEmulator } from './platform.ts'
import { connectPlatform } from './platform-port.ts'

/** An integration that is ready to be tested: made anew for every test. */
export interface ArrangedIntegration {
  /** Makes the handler; what it is given goes to the integration's own `createHandler`, with its settings. */
  createHandler(dependencies: HandlerDependencies): WebhookHandler
  /** The provider's emulator. */
  provider: {
    fetch: typeof globalThis.fetch
    faults: Faults
    calls: readonly EmulatorCall[]
  }
  /** The inputs of a deployment that succeeds. */
  inputs: Record<string, unknown>
  /** A function that has an effect. */
  effect: {
    name: string
    /** Arguments that fit; others for another number, so that the provider takes both. */
    arguments(number: number): Record<string, unknown>
    /** How often it took effect at the provider. */
    count(): number
  }
  /** How much DEPLOYMENT_CREATED has made at the provider; left out where it makes nothing. */
  provisioned?(): number
}

/** What an event is delivered with. */
interface SendOptions {
  /** The delivery's id. */
  id?: string
  /** @default a handler that serves the whole test */
  using?: WebhookHandler
}

/** The host of one test. */
export interface IntegrationHost extends ArrangedIntegration {
  platform: PlatformEmulator
  /** A handler on the same platform, provider and store, unless it is given others. */
  handler(dependencies?: Partial<HandlerDependencies>): WebhookHandler
  send(event: object, options?: SendOptions): Promise<DeliveryAnswer>
  /** Everything that must hold no secret, as text: the log, the store, and what the platform was told beside outputs. */
  traces(): string
  /** The values that the schemas mark as secret: those of the inputs, and those that were published. */
  secrets(): string[]
}

/** The deployment that every test is about. */
export const deploymentId = 'dep_1'

/** Makes the host of one test. */
export function createIntegrationHost(
  definition: IntegrationDefinition,
  arranged: ArrangedIntegration,
): IntegrationHost {
  const platform = createPlatformEmulator()
  const deployment = platform.addDeployment({ id: deploymentId, inputs: arranged.inputs })
  const log: unknown[] = []
  const written: unknown[] = []
  const store = watch(memoryStore(), written)

  const handler: IntegrationHost['handler'] = (dependencies) =>
    arranged.createHandler({
      platform: connectPlatform(platform.fetch),
      store,
      fetch: arranged.provider.fetch,
      logger: (...line) => void log.push(line),
      ...dependencies,
    })
  const handle = handler()

  return {
    ...arranged,
    platform,
    handler,
    send: (event, { id, using = handle } = {}) => deliver(using, event, { id }),
    traces: () =>
      JSON.stringify([log, written, platform.calls.filter(({ path }) => !path.endsWith('/outputs'))]),
    secrets: () => [
      ...secretValues(secretNames(definition.inputs), arranged.inputs),
      ...secretValues(secretNames(definition.outputs), deployment.outputs),
    ],
  }
}

function secretValues(names: readonly string[], values: Record<string, unknown>): string[] {
  return names.flatMap((name) => {
    const value = values[name]
    return typeof value === 'string' && value !== '' ? [value] : []
  })
}

/** The store as it is, with a copy of everything that is written to it. */
function watch(store: DeliveryStore, written: unknown[]): DeliveryStore {
  return {
    ...store,
    advance(lease, progress) {
      written.push(structuredClone(progress))
      return store.advance(lease, progress)
    },
    complete(lease, completion) {
      written.push(structuredClone(completion))
      return store.complete(lease, completion)
    },
  }
}
