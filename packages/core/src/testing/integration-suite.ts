/**
 * The tools of the suite for integrations: a host between the emulator of a provider and the emulator of the
 * platform, events for it, and shared expectations.
 */

import type { IntegrationDefinition } from '../contract/integration.ts'
import { secretNames } from '../contract/marks.ts'
import { memoryStore } from '../delivery/stores/memory.ts'
import { errorCodes } from '../errors.ts'
import type { HandlerDependencies } from '../pipeline/options.ts'
import type { WebhookHandler } from '../pipeline/webhook.ts'
import { type Problem, problemSchema } from '../problem.ts'
import { type DeliveryResponse, deliver } from './deliver.ts'
import type { EmulatorCall } from './emulator.ts'
import type { Fault, Faults } from './faults.ts'
import { createPlatformEmulator } from './platform.ts'
import { connectPlatform } from './platform-port.ts'

/** The functions of a test runner that a suite needs; Vitest, Jest and Bun have them. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => Promise<void>): unknown
  expect(actual: unknown): Expectation & { not: Expectation }
}
interface Expectation {
  toBe(expected: unknown): unknown
  toEqual(expected: unknown): unknown
  toMatchObject(expected: object): unknown
  toContain(expected: string): unknown
}

/** An integration under test, with its provider; each test makes a new one. */
export interface IntegrationFixture {
  /** Passes the dependencies to the integration's own `createHandler`, with its settings. */
  createHandler(dependencies: HandlerDependencies): WebhookHandler
  /** The emulator of the provider. */
  provider: { fetch: typeof globalThis.fetch; faults: Faults; calls: readonly EmulatorCall[] }
  /** The inputs of a deployment that succeeds. */
  inputs: Record<string, unknown>
  /** A function with an effect. */
  effect: {
    name: string
    /** Valid arguments; others for each number, so that the provider accepts both. */
    arguments(number: number): Record<string, unknown>
    /** How often it took effect at the provider. */
    count(): number
  }
  /** How much DEPLOYMENT_CREATED has created at the provider; left out if it creates nothing. */
  provisioned?(): number
}

/** The host of one test. */
export type IntegrationHost = ReturnType<typeof createHost>

/** Makes an event for a host. */
export type EventOf = (running: IntegrationHost) => object

export const deployment = { id: 'dep_1' }
/** With these, a fault meets every request from now on. */
export const always = { times: Number.POSITIVE_INFINITY }
/** Time for one event whose provider hangs, in milliseconds. */
export const IMPATIENT_MS = 100

export const created: EventOf = ({ inputs }) => ({
  name: 'DEPLOYMENT_CREATED',
  deployment: { ...deployment, inputs },
})

/** Calls the function with an effect. */
export const calling = ({ effect }: IntegrationHost, number = 1) => ({
  name: 'FUNCTION_CALL',
  deployment,
  functionCall: { name: effect.name, arguments: effect.arguments(number) },
})

function createHost(definition: IntegrationDefinition, fixture: IntegrationFixture) {
  const platform = createPlatformEmulator()
  const record = platform.addDeployment({ ...deployment, inputs: fixture.inputs })
  const memory = memoryStore()
  const traces: unknown[] = []

  const handler = (dependencies: Partial<HandlerDependencies> = {}) =>
    fixture.createHandler({
      platform: connectPlatform(platform.fetch),
      store: {
        ...memory,
        advance(lease, progress) {
          traces.push(structuredClone(progress))
          return memory.advance(lease, progress)
        },
        complete(lease, completion) {
          traces.push(structuredClone(completion))
          return memory.complete(lease, completion)
        },
      },
      fetch: fixture.provider.fetch,
      logger: (...line) => void traces.push(line),
      ...dependencies,
    })
  const handle = handler()
  const secretsIn = (schema: IntegrationDefinition['inputs'], values: Record<string, unknown>) =>
    secretNames(schema).flatMap((name) => (values[name] ? [String(values[name])] : []))

  return {
    ...fixture,
    platform,
    record,
    /** A handler on the same platform, provider and store, unless the dependencies replace them. */
    handler,
    send: (event: object, { id, using = handle }: { id?: string; using?: WebhookHandler } = {}) =>
      deliver(using, event, { id }),
    /** The statuses that the platform got, in order. */
    statuses: () => record.statusHistory.map(({ status }) => status),
    /** Everything that must hold no secret: the log, the store, and the callbacks except outputs. */
    traces: () => JSON.stringify([traces, platform.calls.filter(({ path }) => !path.endsWith('/outputs'))]),
    /** The secret values of the inputs and of the published outputs. */
    secrets: () => [
      ...secretsIn(definition.inputs, fixture.inputs),
      ...secretsIn(definition.outputs, record.outputs),
    ],
  }
}

/** Makes the tools of the suite. */
export function createSuite(
  definition: IntegrationDefinition,
  createFixture: () => IntegrationFixture,
  runner: TestRunner,
) {
  const { expect } = runner
  const host = () => createHost(definition, createFixture())

  /** A host whose deployment runs. */
  async function deployed(): Promise<IntegrationHost> {
    const running = host()
    expect(await running.send(created(running), { id: 'evt_created' })).toMatchObject({ status: 200 })
    return running
  }

  /** Reads a failure, and checks what every failure promises. */
  function problemOf({ status, headers, body }: DeliveryResponse): Problem {
    expect(headers.get('content-type')).toBe('application/problem+json')
    const problem = problemSchema.strict().parse(body)
    expect(problem).toMatchObject({ status, retryable: errorCodes[problem.code].retryable })
    return problem
  }

  /** A retryable failure succeeds at the next try; an unknown outcome is never tried again. */
  async function expectRecovery(running: IntegrationHost, eventOf: EventOf, fault: Fault): Promise<void> {
    const { provider } = running
    const changes = () => provider.calls.filter(({ method }) => method !== 'GET').length
    const before = changes()
    provider.faults.add({ ...fault, ...always })
    // A call that changes something is not repeated, so it is slow only if the provider hangs.
    const isSlow = eventOf !== calling || 'hang' in fault
    const using = running.handler(isSlow ? { timeoutMs: IMPATIENT_MS } : {})
    const first = await running.send(eventOf(running), { id: 'evt_1', using })
    const problem = problemOf(first)
    provider.faults.clear()
    const [calls, changed] = [provider.calls.length, changes() - before]

    const again = await running.send(eventOf(running), { id: 'evt_1' })
    if (problem.retryable) {
      expect(problem.status >= 500).toBe(true)
      expect(again.status).toBe(200)
    } else {
      expect(problem).toMatchObject({ status: 409, code: 'outcome_unknown' })
      expect([again.status, again.body]).toEqual([409, first.body])
      expect([changed, provider.calls.length]).toEqual([1, calls])
    }
  }

  return { ...runner, host, deployed, problemOf, expectRecovery }
}

/** Whether a response was replayed from the record. */
export const isReplay = ({ headers }: DeliveryResponse) => headers.get('idempotency-replayed') === 'true'
