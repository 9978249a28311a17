/** The tools of the suite for integrations: events, faults, and shared expectations. */
import * as z from 'zod'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { errorCodes } from '../errors.ts'
import { type Problem, problemSchema } from '../openapi/problem-schema.ts'
import { exampleOf } from '../openapi/shared.ts'
import type { DeliveryResponse } from './deliver.ts'
import type { Fault } from './faults.ts'
import {
  createIntegrationHost,
  deployment,
  fail,
  type IntegrationFixture,
  type IntegrationHost,
} from './integration-host.ts'

/** The functions of a test runner that a suite needs; Vitest, Jest and Bun have them. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  /** @param timeoutMs the longest time of the test */
  it(name: string, body: () => Promise<void>, timeoutMs?: number): unknown
  expect(actual: unknown): Expectation & { not: Expectation }
}
interface Expectation {
  toBe(expected: unknown): unknown
  toEqual(expected: unknown): unknown
  toMatchObject(expected: object): unknown
}

/** Makes an event for a host. */
export type EventOf = (running: IntegrationHost) => object

/** With these, a fault meets every request from now on. */
export const always = { times: Number.POSITIVE_INFINITY }
/** Time for one event whose provider hangs, in milliseconds. */
export const IMPATIENT_MS = 250
/** The longest time for one test, in milliseconds; each of its events has a bound of its own. */
const CASE_MS = 60_000
/** A body in which no client finds what it expects. */
export const nonsense = { status: 200, body: '"nonsense"' }

export const faults: readonly (readonly [failure: string, fault: Fault])[] = [
  ['the provider answers 500', { status: 500 }],
  ['the connection is cut before the effect', { cut: 'before' }],
  ['the connection is cut after the effect', { cut: 'after' }],
  ['the provider hangs before the effect', { hang: true }],
  ['the provider hangs after the effect', { hang: 'after' }],
  ['a proxy answers with a page', { html: true }],
  ['the provider answers in another shape', nonsense],
]

export const created: EventOf = ({ inputs }) => ({
  name: 'DEPLOYMENT_CREATED',
  deployment: { ...deployment, inputs },
})

/** Calls a function for the deployment. */
export const callOf = (name: string, args: Record<string, unknown>) => ({
  name: 'FUNCTION_CALL',
  deployment,
  functionCall: { name, arguments: args },
})

/** Calls the function with an effect that can be counted. */
export const calling = ({ effectfulCall }: IntegrationHost, number = 1) =>
  callOf(effectfulCall.name, effectfulCall.arguments(number))

/** Makes the tools of the suite. */
export function createSuite(createFixture: () => IntegrationFixture, runner: TestRunner) {
  const { expect } = runner
  const host = () => createIntegrationHost(createFixture())

  /** A host whose deployment runs, and whose provider knows what the examples name. */
  async function deployed(): Promise<IntegrationHost> {
    const running = host()
    const response = await running.send(created(running), { id: 'evt_created' })
    running.expectSuccess('A deployment with the inputs of the fixture succeeds', response)
    running.prepare?.()
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
  async function expectRecovery(
    running: IntegrationHost,
    event: object,
    fault: Fault,
    { effectful, resumable = false }: { effectful: boolean; resumable?: boolean | undefined },
  ): Promise<void> {
    const { provider, changes, describeResponse } = running
    const [before, changed] = [provider.calls.length, changes().length]
    provider.faults.add({ ...fault, ...always })
    // A call that changes something is not repeated, so it is slow only if the provider hangs.
    const isSlow = !effectful || 'hang' in fault
    const using = running.handler(isSlow ? { timeoutMs: IMPATIENT_MS } : {})
    const first = await running.send(event, { id: 'evt_1', using })
    provider.faults.clear()
    // It needs no provider.
    if (provider.calls.length === before && first.status === 200) return
    if (first.status === 200) {
      // A function that continues later has a result for each of its parts; an effect may need no answer.
      if (resumable || (effectful && fault === nonsense)) return
      fail(
        `A failure of the provider is a failure of the event: catch none, and parse every answer. But ${describeResponse(first)}`,
      )
    }
    const problem = problemOf(first)
    const isFault = problem.code === 'internal_error' || problem.detail.startsWith('The host failed')
    if (isFault)
      fail(`Parse every answer of the provider with a schema, and cast none: ${describeResponse(first)}`)
    const [calls, sent] = [provider.calls.length, changes().length - changed]

    const again = await running.send(event, { id: 'evt_1' })
    if (problem.retryable) {
      if (problem.status < 500) fail(`The sender is not at fault, but ${describeResponse(first)}`)
      running.expectSuccess(`A redelivery succeeds after ${problem.code}`, again)
    } else {
      if (problem.code !== 'outcome_unknown')
        fail(
          `A failure of the provider can be tried again, or its outcome is unknown, but ${describeResponse(first)}`,
        )
      expect([again.status, again.body]).toEqual([first.status, first.body])
      expect([sent, provider.calls.length]).toEqual([1, calls])
    }
  }

  const it = (name: string, body: () => Promise<void>) => runner.it(name, body, CASE_MS)
  return { describe: runner.describe, it, expect, host, deployed, problemOf, expectRecovery }
}

/** The tools of the suite. */
export type Suite = ReturnType<typeof createSuite>

/** Calls a function with the example of its contract. */
export function exampleCall({ functions }: IntegrationDefinition, name: string) {
  const schema = functions[name]?.arguments
  return callOf(name, schema ? exampleOf(schema) : {})
}

/** Whether a deployment may use the account of the settings. */
export function hasSharedAccount({ inputs }: IntegrationDefinition): boolean {
  const { serverType } = inputs.shape
  return serverType !== undefined && z.safeParse(serverType, 'shared').success
}

/** Whether a response was replayed from the record. */
export const isReplay = ({ headers }: DeliveryResponse) => headers.get('idempotency-replayed') === 'true'
