/** Whether an event's deployment lives, and the status that a health check may give it (contract §4). */
import type { DeploymentStatus } from '../contract/platform.ts'
import { type Claim, claimSubject, reservedSteps } from '../delivery/claim.ts'
import { lastStatus } from '../delivery/idempotency.ts'
import { within } from '../delivery/within.ts'
import { isIntegrationError } from '../errors.ts'
import { subjects } from '../request/operation.ts'
import { deploymentDeleted } from './deployment.ts'
import type { Run } from './run.ts'

/** @throws {IntegrationError} `deployment_deleted` if the event's deployment was deleted */
export async function ensureAlive({ parts, deployment, context }: Run): Promise<void> {
  if (!deployment) return
  // Without the store, the platform's record still tells. A record that somebody changed tells nothing.
  const subject = subjects.deployment(parts.operation.route, deployment.id)
  const reading = parts.shared.store.read(subject)
  const limitMs = (context.deadline - Date.now()) / 2
  const record = await within(limitMs, reading, 'The store is slow.').catch((error: unknown) => {
    if (isIntegrationError(error)) throw error
  })
  if (record?.progress[reservedSteps.deleted] === true)
    throw deploymentDeleted(deployment.id, record.progress[reservedSteps.happenedAt])
}

/** Changes `running` to `unhealthy` or back. A deployment in any other state keeps its status. */
export async function reportHealth(
  run: Run,
  found: 'running' | 'unhealthy',
  message?: string,
): Promise<void> {
  const shown = (await run.deployment?.record().catch(() => undefined))?.status
  if (!isLiving(shown) || shown === found) return
  await underClaim(run, async (claim) => {
    const recorded = claim.progress[reservedSteps.status] ?? shown
    if (claim.progress[reservedSteps.deleted] === true || !isLiving(recorded)) return claim.release('undone')
    run.reporter.status(found, message)
    await run.reporter.flush()
    const progress = { ...claim.progress, [reservedSteps.status]: found }
    await claim.complete({ response: { status: 200, body: '' }, progress, isLiving: true })
  })
}

/** Reports the last status once more: one that got lost heals with the next delivery. */
export function repeatStatus(run: Run): Promise<void> {
  return underClaim(run, async (claim) => {
    const status = lastStatus(claim.progress)
    if (status) run.reporter.status(status)
    await run.reporter.flush()
    await claim.release('undone')
  })
}

/** Works on the deployment under a claim, so that no status overtakes a creation or a deletion. */
async function underClaim(run: Run, work: (claim: Claim) => Promise<void>): Promise<void> {
  const { parts, deployment } = run
  if (!deployment) return
  try {
    const subject = subjects.deployment(parts.operation.route, deployment.id)
    const result = await claimSubject(parts.shared.store, { subject }, parts.claiming)
    if (!('claim' in result)) return
    parts.claim = result.claim
    await work(result.claim)
  } catch (error) {
    // Another delivery works on the deployment and reports its own status, or the store is unreachable.
    if (!isIntegrationError(error)) throw error
  } finally {
    parts.claim = undefined
  }
}

function isLiving(status: unknown): status is Extract<DeploymentStatus, 'running' | 'unhealthy'> {
  return status === 'running' || status === 'unhealthy'
}
