/** Which deployment reserved a resource of the provider, and whether it lives: for operators. Nothing here claims. */
import { subjects } from '../request/operation.ts'
import { reservedSteps } from './claim.ts'
import type { DeliveryStore } from './store.ts'

/**
 * Reads which deployment reserved a resource.
 *
 * @param resource the name that was given to `progress.reserve`
 * @returns the id of the deployment; `undefined` if no deployment is recorded
 * @throws if the store is unreachable
 */
export async function readResourceOwner(
  store: DeliveryStore,
  route: string,
  resource: string,
): Promise<string | undefined> {
  const owner = (await store.read(`${route}/${resource}`))?.progress.owner
  const prefix = subjects.deployment(route, '')
  return typeof owner === 'string' && owner.startsWith(prefix) ? owner.slice(prefix.length) : undefined
}

/**
 * Reads the record of a deployment: whether a host works on it, whether it was deleted, and its handlers' steps.
 *
 * @returns `undefined` if there is none, or no longer
 * @throws if the store is unreachable
 */
export async function readRecordedDeployment(store: DeliveryStore, route: string, deploymentId: string) {
  const record = await store.read(subjects.deployment(route, deploymentId))
  if (!record) return undefined
  const { leaseMs = 0, progress } = record
  return { isClaimed: leaseMs > 0, isDeleted: progress[reservedSteps.deleted] === true, steps: progress }
}
