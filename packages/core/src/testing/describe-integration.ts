import * as z from 'zod'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { toManifest } from '../contract/manifest.ts'
import { secretNames } from '../contract/marks.ts'
import { memoryStore } from '../delivery/stores/memory.ts'
import type { Fault } from './faults.ts'
import {
  always,
  calling,
  created,
  createSuite,
  deployment,
  type EventOf,
  IMPATIENT_MS,
  type IntegrationFixture,
  isReplay,
  type TestRunner,
} from './integration-suite.ts'

const check = z.object({ healthy: z.boolean(), message: z.string().optional() })
const measured = z.strictObject({
  metrics: z.array(z.strictObject({ name: z.string(), value: z.number(), unit: z.string().optional() })),
})

const faults: readonly (readonly [failure: string, fault: Fault])[] = [
  ['the provider answers 500', { status: 500 }],
  ['the connection is cut before the effect', { cut: 'before' }],
  ['the connection is cut after the effect', { cut: 'after' }],
  ['the provider hangs before the effect', { hang: true }],
  ['the provider hangs after the effect', { hang: 'after' }],
  ['a proxy answers with a page', { html: true }],
]
const published = z.strictObject({ status: z.literal('running'), outputs: z.record(z.string(), z.unknown()) })
const reading: EventOf = () => ({ name: 'METRIC_UPDATE', deployment })
const events = { deployment: created, call: calling, read: reading }
const deletedWithoutOutputs = { name: 'DEPLOYMENT_DELETED', deployment }

/**
 * Describes the promises of every integration as a suite of tests.
 *
 * @param definition the contract of the integration
 * @param createFixture makes a handler and a provider; called once for each test
 * @param runner the functions of the test runner
 */
export function describeIntegration(
  definition: IntegrationDefinition,
  createFixture: () => IntegrationFixture,
  runner: TestRunner,
): void {
  const { describe, it, expect, host, deployed, problemOf, expectRecovery } = createSuite(
    definition,
    createFixture,
    runner,
  )
  const { name, metrics: declared, downloads } = definition

  describe(`the integration ${name}`, () => {
    it('has a manifest in JSON Schema, with its secrets marked', async () => {
      const manifest = toManifest(definition)
      expect(JSON.parse(JSON.stringify(manifest))).toEqual(manifest)
      expect(manifest).toMatchObject({ sensitiveOutputs: secretNames(definition.outputs) })
    })

    it('echoes a challenge, responds “ok” without one, and makes no call', async () => {
      const { send, provider, platform } = host()
      const name = 'WEBHOOK_CHALLENGE'
      expect((await send({ name, challenge: 'c_1' })).body).toEqual({ challenge: 'c_1' })
      expect((await send({ name })).body).toEqual({ status: 'ok' })
      expect([provider.calls.length, platform.calls.length]).toEqual([0, 0])
    })

    it('takes a deployment from deploying to running, and publishes its outputs with the secret ones marked', async () => {
      const running = host()
      const { status, body } = await running.send(created(running))
      expect(status).toBe(200)
      const { outputs } = published.parse(body)
      expect(definition.outputs.parse(outputs)).toEqual(outputs)
      expect(running.statuses()).toEqual(['deploying', 'running'])
      expect(running.record).toMatchObject({ outputs, sensitive: secretNames(definition.outputs) })
    })

    it('deploys again for a new delivery, and creates nothing twice', async () => {
      const running = await deployed()
      const existing = running.provisioned?.()
      const again = await running.send(created(running), { id: 'evt_2' })
      expect(again).toMatchObject({ status: 200, body: { status: 'running' } })
      expect([isReplay(again), running.provisioned?.()]).toEqual([false, existing])
    })

    it('fails a deployment with a reason if the provider rejects the credentials', async () => {
      const running = host()
      running.provider.faults.add({ status: 401, ...always })
      const problem = problemOf(await running.send(created(running)))
      expect(problem).toMatchObject({ status: 422, code: 'credentials_rejected' })
      expect(running.statuses()).toEqual(['deploying', 'failed'])
    })

    it('deletes a deployment with an empty store, more than once, and leaves nothing behind', async () => {
      const running = await deployed()
      for (const id of ['evt_2', 'evt_3']) {
        const using = running.handler({ store: memoryStore() })
        expect((await running.send(deletedWithoutOutputs, { id, using })).body).toEqual({ status: 'stopped' })
      }
      expect(running.statuses()).toEqual(['deploying', 'running', 'stopped', 'stopped'])
      expect(running.provisioned?.() ?? 0).toBe(0)
    })

    it('runs a function with an effect once for each delivery id', async () => {
      const running = await deployed()
      const first = await running.send(calling(running), { id: 'evt_1' })
      const again = await running.send(calling(running), { id: 'evt_1' })
      expect([first.status, again.status, again.body]).toEqual([200, 200, first.body])
      expect([isReplay(first), isReplay(again), running.effect.count()]).toEqual([false, true, 1])
      expect((await running.send(calling(running, 2), { id: 'evt_2' })).status).toBe(200)
      expect(running.effect.count()).toBe(2)
    })

    it('refuses an unknown argument of a function at its path, without an effect', async () => {
      const running = await deployed()
      const functionCall = {
        name: running.effect.name,
        arguments: { ...running.effect.arguments(1), unheardOf: true },
      }
      const problem = problemOf(await running.send({ name: 'FUNCTION_CALL', deployment, functionCall }))
      expect(problem).toMatchObject({ status: 422, code: 'invalid_arguments' })
      expect(problem.errors?.map(({ path }) => path)).toEqual(['unheardOf'])
      expect(running.effect.count()).toBe(0)
    })

    for (const [failure, fault] of faults) {
      for (const [event, eventOf] of Object.entries(events)) {
        it(`says whether a retry of a ${event} is safe, and lets it take effect at most once, if ${failure}`, async () => {
          const running = eventOf === created ? host() : await deployed()
          await expectRecovery(running, eventOf, fault)
          expect(running.effect.count() <= 1 && (running.provisioned?.() ?? 0) <= 1).toBe(true)
        })
      }
    }

    it('reports healthy if the provider answers', async () => {
      const running = await deployed()
      const { status, body } = await running.send({ name: 'HEALTH_CHECK', deployment })
      expect([status, body]).toMatchObject([200, { status: 'healthy' }])
      expect(running.statuses().at(-1)).toBe('running')
    })

    it('reports unhealthy with status 200 if the provider does not answer', async () => {
      const running = await deployed()
      // Nobody waits for a Retry-After that is longer than the time of an event.
      running.provider.faults.add({ status: 503, headers: { 'retry-after': '600' }, ...always })
      const { status, body } = await running.send({ name: 'HEALTH_CHECK', deployment })
      expect([status, body]).toMatchObject([200, { status: 'unhealthy' }])
      const { checks } = z.object({ checks: z.array(check) }).parse(body)
      expect(checks.some(({ healthy, message }) => !healthy && message)).toBe(true)
      expect(running.statuses().at(-1)).toBe('unhealthy')
    })

    it('returns and reports every declared metric', async () => {
      const running = await deployed()
      const { metrics } = measured.parse((await running.send({ name: 'METRIC_UPDATE', deployment })).body)
      expect(metrics.map(({ name, unit }) => ({ name, unit }))).toEqual(
        Object.entries(declared).map(([name, { unit }]) => ({ name, unit })),
      )
      expect(running.record).toMatchObject({ metrics })
    })

    it('returns every declared file, and refuses any other', async () => {
      const running = await deployed()
      const download = (file: string) =>
        running.send({ name: 'DOWNLOAD_STARTED', deployment, download: { id: 'dl_1', file } })
      for (const path of downloads) {
        expect(await download(path)).toMatchObject({ status: 200, body: { files: [{ path }] } })
      }
      if (downloads.length === 0) return
      const problem = problemOf(await download('unheard-of.txt'))
      expect(problem).toMatchObject({ status: 400, errors: [{ path: 'download.file' }] })
    })

    it('shows secrets in no log, record or problem, and in no callback except outputs', async () => {
      const running = await deployed()
      const responses = [await running.send(calling(running), { id: 'evt_1' })]
      for (const fault of [{ status: 401 }, { status: 500 }, { cut: 'before' }] as const) {
        running.provider.faults.add({ ...fault, ...always })
        const using = running.handler({ timeoutMs: IMPATIENT_MS })
        responses.push(await running.send(calling(running, 2), { id: JSON.stringify(fault), using }))
        responses.push(await running.send({ name: 'HEALTH_CHECK', deployment }, { using }))
        running.provider.faults.clear()
      }
      const everything = JSON.stringify(responses.map(({ body }) => body)) + running.traces()
      const secrets = running.secrets()
      expect(secrets.length).toBe(
        secretNames(definition.outputs).length +
          secretNames(definition.inputs).filter((name) => running.inputs[name]).length,
      )
      for (const secret of secrets) expect(everything).not.toContain(secret)
    })
  })
}
