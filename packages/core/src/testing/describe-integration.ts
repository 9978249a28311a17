import * as z from 'zod'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { secretPaths } from '../contract/marks.ts'
import { memoryStore } from '../delivery/stores/memory.ts'
import { describeFunctions } from './describe-functions.ts'
import { describeSecrets } from './describe-secrets.ts'
import type { Fault } from './faults.ts'
import { deployment, type IntegrationFixture } from './integration-host.ts'
import {
  always,
  created,
  createSuite,
  type EventOf,
  faults,
  IMPATIENT_MS,
  isReplay,
  nonsense,
  type TestRunner,
} from './integration-suite.ts'

const unhealthy = z.object({
  status: z.string(),
  checks: z.array(z.object({ healthy: z.boolean(), message: z.string().optional() })),
})
// Nobody waits for a Retry-After that is longer than the time of an event.
const outages: readonly (readonly [string, Fault])[] = [
  ['the provider is down', { status: 503, headers: { 'retry-after': '600' } }],
  ['the provider hangs', { hang: true }],
  ['the provider answers in another shape', nonsense],
]
const measured = z.strictObject({
  metrics: z.array(z.strictObject({ name: z.string(), value: z.number(), unit: z.string().optional() })),
})

const published = z.strictObject({ status: z.literal('running'), outputs: z.record(z.string(), z.unknown()) })
const reading: EventOf = () => ({ name: 'METRIC_UPDATE', deployment })
const events = { DEPLOYMENT_CREATED: created, METRIC_UPDATE: reading }

/**
 * Describes the promises of every integration as a suite of tests.
 *
 * @param definition the contract of the integration
 * @param createFixture makes a handler and a provider; called once for each test
 * @param runner the functions of the test runner
 * @param options `functions: false` if another integration proves the same functions
 */
export function describeIntegration(
  definition: IntegrationDefinition,
  createFixture: () => IntegrationFixture,
  runner: TestRunner,
  { functions = true }: { functions?: boolean } = {},
): void {
  const suite = createSuite(createFixture, runner)
  const { describe, it, expect, host, deployed, problemOf, expectRecovery } = suite
  const { name, metrics: declared, downloads } = definition

  describe(`the integration ${name}`, () => {
    it('takes a deployment from deploying to running, and publishes its outputs with the secret ones marked', async () => {
      const running = host()
      const response = await running.send(created(running))
      running.expectSuccess('A deployment with the inputs of the fixture succeeds', response)
      const { outputs } = published.parse(response.body)
      expect(definition.outputs.parse(outputs)).toEqual(outputs)
      expect(running.statuses()).toEqual(['deploying', 'running'])
      expect(running.record).toMatchObject({ outputs, sensitive: secretPaths(definition.outputs) })
    })

    it('deploys again for a new delivery, and creates nothing twice', async () => {
      const running = await deployed()
      const existing = running.provisioned?.()
      const again = await running.send(created(running), { id: 'evt_2' })
      running.expectSuccess('A new delivery deploys again', again)
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
        const response = await running.send({ name: 'DEPLOYMENT_DELETED', deployment }, { id, using })
        running.expectSuccess('A deletion succeeds, however often it is delivered', response)
      }
      expect(running.statuses()).toEqual(['deploying', 'running', 'stopped', 'stopped'])
      expect(running.provisioned?.() ?? 0).toBe(0)
    })

    for (const [failure, fault] of faults) {
      for (const [event, eventOf] of Object.entries(events)) {
        it(`says whether a retry of ${event} is safe, and lets it take effect at most once, if ${failure}`, async () => {
          const running = eventOf === created ? host() : await deployed()
          await expectRecovery(running, eventOf(running), fault, { effectful: false })
          expect((running.provisioned?.() ?? 0) <= 1).toBe(true)
        })
      }
    }

    it('reports healthy if the provider answers', async () => {
      const running = await deployed()
      const response = await running.send({ name: 'HEALTH_CHECK', deployment })
      running.expectSuccess('A health check succeeds', response)
      expect(response.body).toMatchObject({ status: 'healthy' })
      expect(running.statuses().at(-1)).toBe('running')
    })

    for (const [failure, fault] of outages) {
      it(`reports unhealthy with status 200 if ${failure}`, async () => {
        const running = await deployed()
        running.provider.faults.add({ ...fault, ...always })
        const isSlow = 'hang' in fault
        const using = running.handler(isSlow ? { timeoutMs: IMPATIENT_MS } : {})
        const response = await running.send({ name: 'HEALTH_CHECK', deployment }, { using })
        running.expectSuccess('A health check of a provider that fails is a result', response)
        const { status, checks } = unhealthy.parse(response.body)
        const hasReason = checks.some(({ healthy, message }) => !healthy && message)
        expect([status, hasReason]).toEqual(['unhealthy', true])
        // The rest of a short time may be too short for a callback.
        if (!isSlow) expect(running.statuses().at(-1)).toBe('unhealthy')
      })
    }

    it('returns and reports every declared metric', async () => {
      const running = await deployed()
      const response = await running.send({ name: 'METRIC_UPDATE', deployment })
      running.expectSuccess('The metrics of the handler are those of the contract', response)
      const { metrics } = measured.parse(response.body)
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
        const response = running.expectSuccess(`The download of ${path} succeeds`, await download(path))
        expect(response.body).toMatchObject({ files: [{ path }] })
      }
      if (downloads.length === 0) return
      const problem = problemOf(await download('unheard-of.txt'))
      expect(problem).toMatchObject({ status: 400, errors: [{ path: 'download.file' }] })
    })

    describeFunctions(definition, suite, functions)
    describeSecrets(definition, suite)
  })
}
