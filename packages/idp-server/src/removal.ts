/** The end of a deployment's application. */
import { type HandlerContext, IntegrationError } from '@org/core'
import * as z from 'zod'
import { findApplication, type Workspace } from './connection.ts'
import { isNotFound } from './errors.ts'
import { idpServer } from './integration.ts'
import { type Known, type KnownApplication, progressOf, readApplication, record } from './records.ts'
import { anotherToken, settle } from './unknown-create.ts'
import type { Application } from './wire.ts'

/**
 * Deletes the application of a deployment.
 *
 * An application that was found by its name alone is never deleted: it could be a person's own. The error names it.
 *
 * @throws {IntegrationError} `credentials_rejected` if the provider does not know it under another token than the one
 * that created it; `deletion_refused` if it got an instance since; `outcome_unknown` or `provider_timeout` while an
 * intent is unsettled
 */
export async function removeApplication(known: Known, workspace: Workspace): Promise<void> {
  const { context } = workspace
  if ('intent' in known) {
    const found = await settle(known.intent, await workspace.client.listApplications(context), workspace)
    if (!found) return context.log.info('The creation of the application had no effect.')
    const message = `Application ${found.applicationId} appeared while “${known.intent.name}” was created for this deployment.`
    const hint = 'If it belongs to nobody else, delete it at the provider.'
    throw new IntegrationError('outcome_unknown', message, { hint, effect: 'unknown' })
  }
  const { applicationId } = known
  try {
    const { application, client } = await findApplication(applicationId, workspace)
    await refuseAdded(application, known, context)
    await client.deleteApplication(applicationId, context)
    context.log.info(`Application ${applicationId} was deleted.`)
  } catch (error) {
    await confirmGone(error, known, workspace)
    context.log.info(`Application ${applicationId} was already gone.`)
  }
}

/** The event's own inputs: consent of an earlier day, on the platform, does not count. */
const consent = z.object({ deleteAddedInstances: z.literal(true) })
const publishedInstance = idpServer.outputs.pick({ instanceId: true })

/**
 * Refuses a deletion that would take an instance along that the host did not make.
 *
 * @throws {IntegrationError} `deletion_refused`
 */
async function refuseAdded(
  { applicationId, instances }: Application,
  { record: former }: KnownApplication,
  { event, deployment }: HandlerContext,
): Promise<void> {
  if (consent.safeParse(event.deployment?.inputs).success) return
  // An application is made with one instance.
  if (!former?.instances && instances.length <= 1) return
  const published = former?.instances ? undefined : await deployment?.outputs(publishedInstance)
  const own = former?.instances ?? [published?.instanceId]
  const added = instances.filter(({ instanceId }) => !own.includes(instanceId))
  if (added.length === 0) return
  const names = added.map(({ environmentType, instanceId }) => `${environmentType} instance ${instanceId}`)
  const message = `Application ${applicationId} got the ${names.join(' and the ')} after its creation, which would be deleted with all its users.`
  throw new IntegrationError('deletion_refused', message, {
    hint: 'Delete that instance at the provider, or send the event with deleteAddedInstances: true among its inputs.',
    errors: [{ path: 'deployment.inputs.deleteAddedInstances', message: 'is not true' }],
  })
}

/**
 * Deletes an application whose keys nobody has, because the platform no longer knows its deployment. A published one
 * stays: a wrong response of something in front of the platform must not delete what is in use.
 */
export async function discardApplication(workspace: Workspace): Promise<void> {
  const { context } = workspace
  const known = readApplication(progressOf(context))
  if (!known || known.isPublished)
    return context.log.warn('The platform no longer knows this deployment. Its published application stays.')
  await removeApplication({ applicationId: known.applicationId, record: known }, workspace)
  // If the platform knows the deployment again, it needs another application.
  await record(null, context)
}

/**
 * Confirms by the workspace's list that an application is gone: a workspace without the Platform API answers 404 too.
 *
 * @returns the provider's 404
 * @throws the error itself if it does not mean that the application is gone; `credentials_rejected` under another token
 * than the one that created it
 */
export async function confirmGone(
  error: unknown,
  { applicationId, record: former }: KnownApplication,
  { client, context, isOwn }: Workspace,
): Promise<IntegrationError> {
  if (!isNotFound(error)) throw error
  if (former && !isOwn(former.workspace)) throw anotherToken(applicationId, error)
  if ((await client.listApplications(context)).some((one) => one.applicationId === applicationId)) throw error
  return error
}
