/** Whether an event's deployment lives, and the status that a health check may give it (contract §4). */
import type { DeploymentStatus } from '../contract/platform.ts'
import { type Claim, type ClaimOptions, ownSteps } from '../delivery/claim.ts'
import { claimSubject } from '../delivery/claiming.ts'
import { lastStatus } from '../delivery/idempotency.ts'
import type { DeliveryStore } from '../delivery/store.ts'
import { isIntegrationError } from '../errors.ts'
import { type Operation, subjects } from '../request/operation.ts'
import { deploymentDeleted, type OpenDeployment } from './deployment.ts'
import type { Reporter } from './reporter.ts'

/** The life of an event's deployment. */
export interface DeploymentLife {
  /** @throws {IntegrationError} `deployment_deleted` if the event needs a deployment that was not deleted */
  ensureAlive(): Promise<void>
  /** Changes `running` to `unhealthy` or back. A deployment in any other state keeps its status. */
  reportHealth(found: 'running' | 'unhealthy', message?: string): Promise<void>
  /** Reports the last status once more: one that got lost heals with the next delivery. */
  repeatStatus(): Promise<void>
}

/** Options of {@link createLife}. */
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
  const { route, traits } = operation

  /** Works on the deployment under a claim, so that no status overtakes a creation or a deletion. */
  async function underClaim(work: (claim: Claim) => Promise<void>): Promise<void> {
    if (!deployment) return
    try {
      const result = await claimSubject(
        store,
        { subject: subjects.deployment(route, deployment.id) },
        claiming,
      )
      if ('claim' in result) await work(result.claim)
    } catch (error) {
      // Another delivery works on the deployment and reports its own status, or the store is unreachable.
      if (!isIntegrationError(error)) throw error
    }
  }

  return {
    async ensureAlive() {
      if (!deployment || !operation.handled || traits.life !== 'needed') return
      // Without the store, the platform's record still tells.
      const record = await store.read(subjects.deployment(route, deployment.id)).catch(() => undefined)
      if (record?.progress[ownSteps.deleted] === true) throw deploymentDeleted(deployment.id)
    },

    async reportHealth(found, message) {
      const shown = (await deployment?.record().catch(() => undefined))?.status
      if (!isLiving(shown) || shown === found) return
      await underClaim(async (claim) => {
        const recorded = claim.progress[ownSteps.status] ?? shown
        if (claim.progress[ownSteps.deleted] === true || !isLiving(recorded)) return claim.release('undone')
        reporter.status(found, message)
        await reporter.flush()
        const progress = { ...claim.progress, [ownSteps.status]: found }
        await claim.complete({ status: 200, body: '' }, { progress, isLiving: true })
      })
    },

    repeatStatus: () =>
      underClaim(async (claim) => {
        const status = lastStatus(claim.progress)
        if (status) reporter.status(status)
        await reporter.flush()
        await claim.release('undone')
      }),
  }
}

function isLiving(status: unknown): status is Extract<DeploymentStatus, 'running' | 'unhealthy'> {
  return status === 'running' || status === 'unhealthy'
}
