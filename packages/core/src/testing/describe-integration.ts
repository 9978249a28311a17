/**
 * What every integration promises, as a suite of tests: an integration that passes it behaves like the others
 * wherever their providers do not make a difference.
 *
 * @module
 */
import * as z from 'zod'
import { eventNames } from '../contract/event.ts'
import { type IntegrationDefinition, secretNames } from '../contract/integration.ts'
import { toManifest } from '../contract/manifest.ts'
import { describeDeployment, describeFailures, describeFunctions } from './describe-effects.ts'
import type { Fault } from './faults.ts'
import { type ArrangedIntegration, deploymentId } from './integration-host.ts'
import {
  always,
  calling,
  createSuite,
  deployment,
  IMPATIENT_MS,
  type Suite,
  type TestRunner,
} from './integration-suite.ts'

/** Its Retry-After is longer than any event has time, so nobody waits for it. */
const down: Fault = { status: 503, headers: { 'retry-after': '600' }, ...always }

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
const measured = z.strictObject({
  metrics: z.array(z.strictObject({ name: z.string(), value: z.number(), unit: z.string().optional() })),
})

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
  runner: TestRunner,
): void {
  const suite = createSuite(definition, arrange, runner)
  describeContract(suite)
  describeDeployment(suite)
  describeFunctions(suite)
  describeReadings(suite)
  describeFailures(suite)
  describeSecrets(suite)
}

function describeContract({ describe, it, expect, definition, host, deployed }: Suite): void {
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
}

function describeReadings(suite: Suite): void {
  const { describe, it, expect, definition, deployed, statuses, problemOf } = suite

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
}

function describeSecrets({ describe, it, expect, definition, deployed }: Suite): void {
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
}
