/**
 * What every integration promises, as a suite of tests: an integration that passes it behaves like the others
 * wherever their providers do not make a difference.
 *
 * @module
 */
import * as z from 'zod'
import { errorCodes } from '../errors.ts'
import { eventNames } from '../event.ts'
import { type IntegrationDefinition, secretNames } from '../integration.ts'
import { toManifest } from '../manifest.ts'
import { type Problem, problemSchema } from '../problem.ts'
import { memoryStore } from '../stores/memory.ts'
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

/** What a provider, or what stands before it, can do wrong. */
const faults: readonly (readonly [what: string, fault: Fault])[] = [
  ['answers 500', { status: 500 }],
  ['cuts the connection before it acts', { cut: 'before' }],
  ['acts, and cuts the connection', { cut: 'after' }],
  ['hangs', { hang: true }],
  ['acts, and hangs', { hang: 'after' }],
  ['answers with a page', { html: true }],
]
const always = { times: Number.POSITIVE_INFINITY }
/** Its Retry-After is longer than any event has time, so nobody waits for it. */
const down: Fault = { status: 503, headers: { 'retry-after': '600' }, ...always }
/** So long may an event take whose provider hangs, in milliseconds. */
const IMPATIENT_MS = 100

const health = z.strictObject({
  status: z.enum(['healthy', 'unhealthy']),
  checks: z.array(
    z.strictObject({
      name: z.string().min(1),
      healthy: z.boolean(),
      latencyMs: z.number().min(0),
      message: z.string().min(1).optional(),
    }),
  ),
})
const published = z.strictObject({
  status: z.literal('running'),
  outputs: z.record(z.string(), z.unknown()),
})
const measured = z.strictObject({
  metrics: z.array(z.strictObject({ name: z.string(), value: z.number(), unit: z.string().optional() })),
})

const deployment = { id: deploymentId }
const deletedCold = { name: 'DEPLOYMENT_DELETED', deployment }

/**
 * Describes an integration as a suite of tests.
 *
 * @param definition what the integration is
 * @param arrange makes everything anew; called once for each test
 * @param runner the functions of a test runner
 *
 * @example
 * ```ts
 * import { describe, expect, it } from 'vitest'
 *
 * describeIntegration(integration, () => arrangeMailer(), { describe, it, expect })
 * ```
 */
export function describeIntegration(
  definition: IntegrationDefinition,
  arrange: () => ArrangedIntegration,
  { describe, it, expect }: TestRunner,
): void {
  const host = () => createIntegrationHost(definition, arrange())
  const created = ({ inputs }: IntegrationHost) => ({
    name: 'DEPLOYMENT_CREATED',
    deployment: { ...deployment, inputs },
  })
  const calling = ({ effect }: IntegrationHost, number = 1) => ({
    name: 'FUNCTION_CALL',
    deployment,
    functionCall: { name: effect.name, arguments: effect.arguments(number) },
  })
  const statuses = ({ platform }: IntegrationHost) =>
    platform.deployments.get(deploymentId)?.statusHistory.map(({ status }) => status)

  /** A host whose deployment runs. */
  async function deployed(): Promise<IntegrationHost> {
    const running = host()
    expect(await running.send(created(running), { id: 'evt_created' })).toMatchObject({ status: 200 })
    return running
  }

  /** Holds a failure to what every failure promises. */
  function problemOf({ status, headers, body }: DeliveryAnswer): Problem {
    expect(headers.get('content-type')).toBe('application/problem+json')
    const problem = problemSchema.strict().parse(body)
    expect(problem).toMatchObject({ status, retryable: errorCodes[problem.code].retryable })
    return problem
  }

  function expectReplay({ headers }: DeliveryAnswer, replayed: boolean): void {
    expect(headers.get('idempotency-replayed')).toBe(replayed ? 'true' : null)
  }

  describe(`the integration ${definition.name}`, () => {
    it('can be said in JSON Schema, with its secrets marked and its names known', async () => {
      const manifest = toManifest(definition)
      expect(JSON.parse(JSON.stringify(manifest))).toEqual(manifest)
      expect(manifest).toMatchObject({ sensitiveOutputs: secretNames(definition.outputs) })
      for (const event of manifest.events) expect(eventNames.join()).toContain(event)
    })

    it('echoes a challenge, and answers ok where there is none, without a call', async () => {
      const { send, provider, platform } = host()
      const name = 'WEBHOOK_CHALLENGE'
      expect((await send({ name, challenge: 'c_1' })).body).toEqual({ challenge: 'c_1' })
      expect((await send({ name })).body).toEqual({ status: 'ok' })
      expect([provider.calls.length, platform.calls.length]).toEqual([0, 0])
    })

    it('ignores the events that it does not act on', async () => {
      const running = await deployed()
      const handled: readonly string[] = ['WEBHOOK_CHALLENGE', ...definition.events]
      const functionCall = { name: 'anything' }
      for (const name of eventNames.filter((name) => !handled.includes(name))) {
        expect(await running.send({ name, deployment, functionCall })).toMatchObject({
          status: 200,
          body: { status: 'ignored' },
        })
      }
    })
  })

  describe(`a deployment of ${definition.name}`, () => {
    it('goes from deploying to running, and publishes its outputs, the secret ones marked', async () => {
      const running = host()
      const { status, body } = await running.send(created(running))
      expect(status).toBe(200)
      const { outputs } = published.parse(body)
      expect(definition.outputs.parse(outputs)).toEqual(outputs)
      expect(statuses(running)).toEqual(['deploying', 'running'])
      expect(running.platform.deployments.get(deploymentId)).toMatchObject({
        outputs,
        sensitive: secretNames(definition.outputs),
      })
    })

    it('takes its inputs from the platform where the event has none', async () => {
      const answer = await host().send({ name: 'DEPLOYMENT_CREATED', deployment })
      expect(answer).toMatchObject({ status: 200, body: { status: 'running' } })
    })

    it('is answered from the record when it is delivered again, without its secrets', async () => {
      const running = host()
      const first = await running.send(created(running), { id: 'evt_1' })
      const calls = [running.provider.calls.length, running.platform.calls.length]
      const second = await running.send(created(running), { id: 'evt_1' })
      expectReplay(first, false)
      expectReplay(second, true)
      expect([running.provider.calls.length, running.platform.calls.length]).toEqual(calls)
      const secret = secretNames(definition.outputs)
      const kept = Object.entries(published.parse(first.body).outputs).filter(
        ([name]) => !secret.includes(name),
      )
      expect(second).toMatchObject({ status: 200 })
      expect(second.body).toEqual({ status: 'running', outputs: Object.fromEntries(kept) })
    })

    it('is set up anew by a new delivery, and nothing is made twice', async () => {
      const running = await deployed()
      const made = running.provisioned?.()
      const again = await running.send(created(running), { id: 'evt_2' })
      expect(again).toMatchObject({ status: 200, body: { status: 'running' } })
      expectReplay(again, false)
      expect(running.provisioned?.()).toBe(made)
    })

    it('is worked on by one delivery at a time', async () => {
      await expectOneAtATime(host(), created)
    })

    it('is told why it failed where the provider rejects the credentials', async () => {
      const running = host()
      running.provider.faults.add({ status: 401, ...always })
      const problem = problemOf(await running.send(created(running)))
      expect(problem).toMatchObject({ status: 422, code: 'credentials_rejected' })
      expect(statuses(running)).toEqual(['deploying', 'failed'])
    })

    it('is stopped without any memory, and again, and leaves nothing behind', async () => {
      const running = await deployed()
      for (const id of ['evt_2', 'evt_3']) {
        const using = running.handler({ store: memoryStore() })
        expect((await running.send(deletedCold, { id, using })).body).toEqual({ status: 'stopped' })
      }
      expect(statuses(running)).toEqual(['deploying', 'running', 'stopped', 'stopped'])
      expect(running.provisioned?.() ?? 0).toBe(0)
    })

    it('does not come back by a creation that arrives after its deletion', async () => {
      const running = host()
      await running.send(deletedCold, { id: 'evt_2' })
      const late = await running.send(created(running), { id: 'evt_1' })
      expect(late).toMatchObject({ status: 200, body: { status: 'ignored' } })
      expect([running.provisioned?.() ?? 0, running.provider.calls.length]).toEqual([0, 0])
    })
  })

  describe(`the health of ${definition.name}`, () => {
    it('is good where the provider answers', async () => {
      const running = await deployed()
      const { status, body } = await running.send({ name: 'HEALTH_CHECK', deployment })
      expect([status, health.parse(body).status]).toEqual([200, 'healthy'])
      expect(statuses(running)?.at(-1)).toBe('running')
    })

    it('is bad where it does not, which is an answer and no failure', async () => {
      const running = await deployed()
      running.provider.faults.add(down)
      const { status, body } = await running.send({ name: 'HEALTH_CHECK', deployment })
      expect([status, health.parse(body).status]).toEqual([200, 'unhealthy'])
      expect(health.parse(body).checks.some(({ healthy, message }) => !healthy && message)).toBe(true)
      expect(statuses(running)?.at(-1)).toBe('unhealthy')
    })
  })

  describe(`the metrics and downloads of ${definition.name}`, () => {
    it('are the metrics that are declared, answered and reported', async () => {
      const running = await deployed()
      const { metrics } = measured.parse((await running.send({ name: 'METRIC_UPDATE', deployment })).body)
      const declared = Object.entries(definition.metrics).map(([name, { unit }]) => ({ name, unit }))
      expect(metrics.map(({ name, unit }) => ({ name, unit }))).toEqual(declared)
      expect(running.platform.deployments.get(deploymentId)).toMatchObject({ metrics })
    })

    it('are the files that are declared, and no others', async () => {
      const running = await deployed()
      for (const file of definition.downloads) {
        const event = { name: 'DOWNLOAD_STARTED', deployment, download: { id: `dl_${file}`, file } }
        expect(await running.send(event)).toMatchObject({ status: 200, body: { files: [{ path: file }] } })
      }
      const wrong = { name: 'DOWNLOAD_STARTED', deployment, download: { file: 'unheard-of.txt' } }
      const answer = await running.send(wrong)
      if (definition.downloads.length === 0) expect(answer.body).toMatchObject({ status: 'ignored' })
      else expect(problemOf(answer)).toMatchObject({ status: 400, errors: [{ path: 'download.file' }] })
    })
  })

  describe(`a function of ${definition.name}`, () => {
    it('takes effect once for each delivery id', async () => {
      const running = await deployed()
      const first = await running.send(calling(running), { id: 'evt_1' })
      const again = await running.send(calling(running), { id: 'evt_1' })
      expect([first.status, again.status, again.body]).toEqual([200, 200, first.body])
      expectReplay(first, false)
      expectReplay(again, true)
      expect(running.effect.count()).toBe(1)
      expect((await running.send(calling(running, 2), { id: 'evt_2' })).status).toBe(200)
      expect(running.effect.count()).toBe(2)
    })

    it('is refused under an id that another body had', async () => {
      const running = await deployed()
      await running.send(calling(running, 1), { id: 'evt_1' })
      const problem = problemOf(await running.send(calling(running, 2), { id: 'evt_1' }))
      expect(problem).toMatchObject({ status: 422, code: 'invalid_event' })
      expect(running.effect.count()).toBe(1)
    })

    it('is worked on by one delivery at a time', async () => {
      const running = await deployed()
      await expectOneAtATime(running, calling)
      expect(running.effect.count()).toBe(1)
    })

    it('that is unknown is answered with the nearest name', async () => {
      const running = await deployed()
      const functionCall = { name: running.effect.name.slice(0, -1) }
      const problem = problemOf(await running.send({ name: 'FUNCTION_CALL', deployment, functionCall }))
      expect(problem).toMatchObject({ status: 404, code: 'unknown_function' })
      expect(problem.detail).toContain(`did you mean “${running.effect.name}”?`)
    })

    it('refuses arguments that it does not know, each with its path', async () => {
      const running = await deployed()
      const given = { ...running.effect.arguments(1), unheardOf: true }
      const functionCall = { name: running.effect.name, arguments: given }
      const problem = problemOf(await running.send({ name: 'FUNCTION_CALL', deployment, functionCall }))
      expect(problem).toMatchObject({ status: 422, code: 'invalid_arguments' })
      expect(problem.errors?.map(({ path }) => path)).toEqual(['unheardOf'])
      expect(running.effect.count()).toBe(0)
    })
  })

  describe(`where the provider of ${definition.name}`, () => {
    for (const [what, fault] of faults) {
      it(`${what}, a deployment fails in a way that can be told, and the next one makes nothing twice`, async () => {
        const running = host()
        await expectRecovery(running, created, fault)
        expect((running.provisioned?.() ?? 0) <= 1).toBe(true)
      })

      it(`${what}, a call fails in a way that can be told, and is not made twice`, async () => {
        const running = await deployed()
        await expectRecovery(running, calling, fault)
        expect(running.effect.count() <= 1).toBe(true)
      })

      it(`${what}, metrics can be asked for again`, async () => {
        await expectRecovery(await deployed(), () => ({ name: 'METRIC_UPDATE', deployment }), fault)
      })
    }
  })

  describe(`the secrets of ${definition.name}`, () => {
    it('are in no log, no record, no problem, and in nothing that the platform is told but outputs', async () => {
      const running = await deployed()
      const answers = [await running.send(calling(running), { id: 'evt_1' })]
      for (const fault of [{ status: 401 }, { status: 500 }, { cut: 'before' }] as const) {
        running.provider.faults.add({ ...fault, ...always })
        const using = running.handler({ timeoutMs: IMPATIENT_MS })
        answers.push(await running.send(calling(running, 2), { id: JSON.stringify(fault), using }))
        answers.push(await running.send({ name: 'HEALTH_CHECK', deployment }, { using }))
        running.provider.faults.clear()
      }
      const everything = JSON.stringify(answers.map(({ body }) => body)) + running.traces()
      expect(running.secrets().length).toBe(
        secretNames(definition.outputs).length +
          secretNames(definition.inputs).filter((name) => running.inputs[name]).length,
      )
      for (const secret of running.secrets()) expect(everything).not.toContain(secret)
    })
  })

  /** While one delivery is under way, another about the same is told to come back. */
  async function expectOneAtATime(
    running: IntegrationHost,
    eventOf: (running: IntegrationHost) => object,
  ): Promise<void> {
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

  /** What may pass is tried again and succeeds; what is not known stays so, and is not tried again. */
  async function expectRecovery(
    running: IntegrationHost,
    eventOf: (running: IntegrationHost) => object,
    fault: Fault,
  ): Promise<void> {
    running.provider.faults.add({ ...fault, ...always })
    const using = running.handler({ timeoutMs: IMPATIENT_MS })
    const first = await running.send(eventOf(running), { id: 'evt_1', using })
    const problem = problemOf(first)
    running.provider.faults.clear()
    const calls = running.provider.calls.length

    const again = await running.send(eventOf(running), { id: 'evt_1' })
    if (problem.retryable) {
      expect(problem.status >= 500).toBe(true)
      expect(again.status).toBe(200)
    } else {
      expect(problem).toMatchObject({ status: 409, code: 'outcome_unknown' })
      expect([again.status, again.body]).toEqual([409, first.body])
      expect(running.provider.calls.length).toBe(calls)
    }
  }
}

/** Something to wait at until it is opened. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}
