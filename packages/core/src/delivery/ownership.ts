/**
 * Which deployment reserved a resource of the provider, and whether that deployment lives: for operators. Nothing
 * here claims or changes anything.
 */
import type { Json } from '../contract/handler-context.ts'
import { subjects } from '../request/operation.ts'
import { ownSteps } from './claim.ts'
import type { DeliveryStore } from './store.ts'

/** A deployment, as the store records it. */
interface RecordedDeployment {
  /** Whether a host works on it now. */
  isHeld: boolean
  isDeleted: boolean
  /** The steps of its handlers. */
  steps: Readonly<Record<string, Json>>
}

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
 * Reads the record of a deployment.
 *
 * @returns `undefined` if there is none, or no longer
 * @throws if the store is unreachable
 */
export async function readRecordedDeployment(
  store: DeliveryStore,
  route: string,
  deploymentId: string,
): Promise<RecordedDeployment | undefined> {
  const record = await store.read(subjects.deployment(route, deploymentId))
  if (!record) return undefined
  const { leaseMs = 0, progress } = record
  return { isHeld: leaseMs > 0, isDeleted: progress[ownSteps.deleted] === true, steps: progress }
}
