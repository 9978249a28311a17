/**
 * What the tests of the suite have in common: events, hosts, and expectations that come back.
 *
 * @module
 */

import type { IntegrationDefinition } from '../contract/integration.ts'
import { errorCodes } from '../errors.ts'
import { type Problem, problemSchema } from '../problem.ts'
import type { DeliveryAnswer } from './deliver.ts'
import type { Fault } from './faults.ts'
import {
  type ArrangedIntegration,
  createIntegrationHost,
  deploymentId,
  type IntegrationHost,
} from './integration-host.ts'

/** What a suite needs of a test runner: Vitest, Jest and Bun have it. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => Promise<void>): unknown
  expect(actual: unknown): Expectation & { not: Expectation }
}

/** What the suite expects with. */
export interface Expectation {
  toBe(expected: unknown): unknown
  toEqual(expected: unknown): unknown
  toMatchObject(expected: object): unknown
  toContain(expected: string): unknown
}

/** Makes an event for a host. */
export type EventOf = (running: IntegrationHost) => object

/** The tools of the suite. */
export interface Suite extends TestRunner {
  definition: IntegrationDefinition
  /** A host that has done nothing yet. */
  host(): IntegrationHost
  /** A host whose deployment runs. */
  deployed(): Promise<IntegrationHost>
  /** The statuses that the platform was told, in their order. */
  statuses(running: IntegrationHost): string[]
  /** Holds a failure to what every failure promises. */
  problemOf(answer: DeliveryAnswer): Problem
  expectReplay(answer: DeliveryAnswer, replayed: boolean): void
  /** While one delivery is under way, the same again is told to come back. */
  expectOneAtATime(running: IntegrationHost, eventOf: EventOf): Promise<void>
  /** What may pass is tried again and succeeds; what is not known is not tried again, not even within one event. */
  expectRecovery(running: IntegrationHost, eventOf: EventOf, fault: Fault): Promise<void>
}

/** So that a fault befalls every request from now on. */
export const always = { times: Number.POSITIVE_INFINITY }
/** So long may an event take whose provider hangs, in milliseconds. */
export const IMPATIENT_MS = 100

export const deployment = { id: deploymentId }

/** DEPLOYMENT_CREATED, with the inputs of the arrangement. */
export const created: EventOf = ({ inputs }) => ({
  name: 'DEPLOYMENT_CREATED',
  deployment: { ...deployment, inputs },
})

/** FUNCTION_CALL of the function that has an effect. */
export const calling = ({ effect }: IntegrationHost, number = 1) => ({
  name: 'FUNCTION_CALL',
  deployment,
  functionCall: { name: effect.name, arguments: effect.arguments(number) },
})

/** Makes the tools. */
export function createSuite(
  definition: IntegrationDefinition,
  arrange: () => ArrangedIntegration,
  runner: TestRunner,
): Suite {
  const { expect } = runner
  const host = () => createIntegrationHost(definition, arrange())

  async function deployed(): Promise<IntegrationHost> {
    const running = host()
    expect(await running.send(created(running), { id: 'evt_created' })).toMatchObject({ status: 200 })
    return running
  }

  function problemOf({ status, headers, body }: DeliveryAnswer): Problem {
    expect(headers.get('content-type')).toBe('application/problem+json')
    const problem = problemSchema.strict().parse(body)
    expect(problem).toMatchObject({ status, retryable: errorCodes[problem.code].retryable })
    return problem
  }

  function expectReplay({ headers }: DeliveryAnswer, replayed: boolean): void {
    expect(headers.get('idempotency-replayed')).toBe(replayed ? 'true' : null)
  }

  async function expectOneAtATime(running: IntegrationHost, eventOf: EventOf): Promise<void> {
    const [begun, allowed] = [gate(), gate()]
    const using = running.handler({
      async fetch(...request) {
        begun.open()
        await allowed.passed
        return running.provider.fetch(...request)
      },
    })
    const first = running.send(eventOf(running), { id: 'evt_1', using })
    await begun.passed
    const second = await running.send(eventOf(running), { id: 'evt_1', using })
    expect(problemOf(second)).toMatchObject({ status: 409, code: 'delivery_in_progress' })
    expect(Number(second.headers.get('retry-after')) > 0).toBe(true)
    allowed.open()
    expect((await first).status).toBe(200)
  }

  async function expectRecovery(running: IntegrationHost, eventOf: EventOf, fault: Fault): Promise<void> {
    running.provider.faults.add({ ...fault, ...always })
    const before = changes(running)
    // A call that changes something is not repeated, so only one that hangs takes its time.
    const waits = eventOf !== calling || 'hang' in fault
    const using = running.handler(waits ? { timeoutMs: IMPATIENT_MS } : {})
    const first = await running.send(eventOf(running), { id: 'evt_1', using })
    const problem = problemOf(first)
    running.provider.faults.clear()
    const calls = running.provider.calls.length
    const changed = changes(running) - before

    const again = await running.send(eventOf(running), { id: 'evt_1' })
    if (problem.retryable) {
      expect(problem.status >= 500).toBe(true)
      expect(again.status).toBe(200)
    } else {
      expect(problem).toMatchObject({ status: 409, code: 'outcome_unknown' })
      expect([again.status, again.body]).toEqual([409, first.body])
      expect([changed, running.provider.calls.length]).toEqual([1, calls])
    }
  }

  return {
    ...runner,
    definition,
    host,
    deployed,
    statuses: ({ platform }) =>
      platform.deployments.get(deploymentId)?.statusHistory.map(({ status }) => status) ?? [],
    problemOf,
    expectReplay,
    expectOneAtATime,
    expectRecovery,
  }
}

/** How many calls were made that may change something at the provider. */
function changes({ provider }: IntegrationHost): number {
  return provider.calls.filter(({ method }) => method !== 'GET').length
}

/** Something to wait at until it is opened. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}
