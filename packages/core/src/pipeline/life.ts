/**
 * Whether an event's deployment lives, and the status that a health check may give it (contract §4).
 *
 * @module
 */
import type { DeploymentStatus } from '../contract/platform.ts'
import { type ClaimOptions, claimSubject, ownSteps } from '../delivery/claim.ts'
import type { DeliveryStore } from '../delivery/store.ts'
import { isIntegrationError } from '../errors.ts'
import { eventTraits, type Operation, subjects } from '../request/operation.ts'
import { deploymentDeleted, type OpenDeployment } from './deployment.ts'
import type { Reporter } from './reporter.ts'

/** The life of an event's deployment. */
export interface DeploymentLife {
  /** @throws {IntegrationError} `deployment_deleted` if the event needs a deployment that was not deleted */
  ensureAlive(): Promise<void>
  /** Changes `running` to `unhealthy` or back. A deployment in any other state keeps its status. */
  reportHealth(found: 'running' | 'unhealthy', message?: string): Promise<void>
}

/** What {@link createLife} needs. */
export interface LifeOptions {
  operation: Operation
  deployment: OpenDeployment | undefined
  reporter: Reporter
  store: DeliveryStore
  claiming: ClaimOptions
}

/** Follows the life of an event's deployment. */
export function createLife({
  operation,
  deployment,
  reporter,
  store,
  claiming,
}: LifeOptions): DeploymentLife {
  const { route, event } = operation
  return {
    async ensureAlive() {
      if (!deployment || !operation.handled || !eventTraits[event.name].needsLife) return
      // Without the store, the platform's record still tells.
      const record = await store.read(subjects.deployment(route, deployment.id)).catch(() => undefined)
      if (record?.progress[ownSteps.deleted] === true) throw deploymentDeleted(deployment.id)
    },

    async reportHealth(found, message) {
      if (!deployment) return
      try {
        const shown = (await deployment.record())?.status
        if (!isLiving(shown) || shown === found) return
        // Under a claim, so that the status can't overtake a creation or a deletion.
        const subject = subjects.deployment(route, deployment.id)
        const result = await claimSubject(store, { subject }, claiming)
        if (!('claim' in result)) return
        const { claim } = result
        const recorded = claim.progress[ownSteps.status] ?? shown
        if (claim.progress[ownSteps.deleted] === true || !isLiving(recorded)) {
          await claim.release('undone')
          return
        }
        reporter.status(found, message)
        await reporter.flush()
        const progress = { ...claim.progress, [ownSteps.status]: found }
        await claim.complete({ status: 200, body: '' }, { progress, isLiving: true })
      } catch (error) {
        // Another delivery works on the deployment, or the store or the platform is unreachable.
        if (!isIntegrationError(error)) throw error
      }
    },
  }
}

function isLiving(status: unknown): status is Extract<DeploymentStatus, 'running' | 'unhealthy'> {
  return status === 'running' || status === 'unhealthy'
}
