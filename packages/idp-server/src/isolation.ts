/** Keeps deployments apart: an event uses nothing of another deployment, whatever outputs it carries (contract §4). */
import { type DeliveryStore, type HandlerContext, isIntegrationError } from '@org/core'
import { readRecordedDeployment, readResourceOwner } from '@org/core/authoring'
import type * as z from 'zod'
import { idpServer, instanceKeys } from './integration.ts'
import { foreignOutputs, keyResource, readApplication, resourceOf } from './records.ts'

const { name: route } = idpServer
/** The outputs that name an application, or open it. */
const claimed = idpServer.outputs
  .pick({ applicationId: true, publishableKey: true, secretKey: true })
  .partial()
type Claimed = z.output<typeof claimed>

/**
 * Refuses the outputs of another deployment. What the store does not tell, the platform's record decides.
 *
 * @returns the context
 * @throws {IntegrationError} `invalid_event` (422); `platform_unavailable` if nobody can tell
 */
export async function ensureOwn(context: HandlerContext, store: DeliveryStore): Promise<HandlerContext> {
  const { deployment } = context
  if (!deployment) return context
  const named = await deployment.outputs(claimed)
  const used: Claimed = { ...named, ...(await deployment.outputs(instanceKeys)) }
  const isOwn = await askStore(used, deployment.id, store).catch((error: unknown) => {
    // A record that somebody changed is no reason to trust the event.
    if (isIntegrationError(error)) throw error
  })
  if (isOwn) return context
  const published = isOwn === undefined ? ((await deployment.record())?.outputs ?? {}) : {}
  if (Object.entries(used).every(([name, value]) => published[name] === value)) return context
  throw foreignOutputs('are not those of this deployment')
}

/** @returns whether outputs are a deployment's own; `undefined` if its record is older than the reservation of keys */
async function askStore(used: Claimed, id: string, store: DeliveryStore): Promise<boolean | undefined> {
  const { applicationId, publishableKey, secretKey } = used
  const keys = [publishableKey, secretKey].filter((key) => key !== undefined)
  const resources = await Promise.all(keys.map(keyResource))
  if (applicationId !== undefined) resources.push(resourceOf(applicationId))
  const owners = await Promise.all(resources.map((one) => readResourceOwner(store, route, one)))
  if (owners.some((owner) => owner !== undefined && owner !== id)) return false
  const recorded = await readRecordedDeployment(store, route, id)
  const application = recorded && readApplication({ read: (step) => recorded.steps[step] })
  if (!application) return true
  if (applicationId !== undefined && applicationId !== application.applicationId) return false
  return owners.includes(undefined) ? undefined : true
}
