/**
 * What every integration promises about its effects: they happen once, they can be told, and what is gone
 * stays gone.
 *
 * @module
 */
import * as z from 'zod'
import { secretNames } from '../contract/integration.ts'
import { memoryStore } from '../delivery/stores/memory.ts'
import type { Fault } from './faults.ts'
import { deploymentId } from './integration-host.ts'
import { always, calling, created, deployment, type Suite } from './integration-suite.ts'

/** What a provider, or what stands before it, can do wrong. */
const faults: readonly (readonly [what: string, fault: Fault])[] = [
  ['answers 500', { status: 500 }],
  ['cuts the connection before it acts', { cut: 'before' }],
  ['acts, and cuts the connection', { cut: 'after' }],
  ['hangs', { hang: true }],
  ['acts, and hangs', { hang: 'after' }],
  ['answers with a page', { html: true }],
]
const published = z.strictObject({
  status: z.literal('running'),
  outputs: z.record(z.string(), z.unknown()),
})

const deletedCold = { name: 'DEPLOYMENT_DELETED', deployment }

/** DEPLOYMENT_CREATED and DEPLOYMENT_DELETED. */
export function describeDeployment(suite: Suite): void {
  const { describe, it, expect, definition, host, deployed, statuses, problemOf, expectReplay } = suite

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
      await suite.expectOneAtATime(host(), created)
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
}

/** FUNCTION_CALL. */
export function describeFunctions(suite: Suite): void {
  const { describe, it, expect, definition, deployed, problemOf, expectReplay } = suite

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
      await suite.expectOneAtATime(running, calling)
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
}

/** A provider that fails. */
export function describeFailures(suite: Suite): void {
  const { describe, it, expect, definition, host, deployed, expectRecovery } = suite

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
}
