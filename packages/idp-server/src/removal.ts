/** The end of a deployment's application. */
import { type HandlerContext, IntegrationError } from '@org/core'
import type { Workspace } from './connection.ts'
import { isNotFound } from './errors.ts'
import { type ApplicationRecord, applicationRecord, type Known, progressOf } from './records.ts'
import { anotherToken, listApplications, settle } from './unknown-create.ts'

/**
 * Deletes the application of a deployment.
 *
 * An application that was found by its name alone is never deleted: it could be a person's own. The error names it.
 *
 * @throws {IntegrationError} `credentials_rejected` if the provider does not know it under another token than the one
 * that created it; `outcome_unknown` or `provider_timeout` while an intent is unsettled
 */
export async function removeApplication(
  known: Known,
  workspace: Workspace,
  context: HandlerContext,
): Promise<void> {
  if ('intent' in known) {
    const found = await settle(known.intent, await listApplications(workspace, context), workspace, context)
    if (!found) return context.log.info('The creation of the application had no effect.')
    throw new IntegrationError(
      'outcome_unknown',
      `Application ${found.applicationId} appeared while “${known.intent.name}” was created for this deployment.`,
      { hint: 'If it belongs to nobody else, delete it at the provider.', effect: 'unknown' },
    )
  }
  const { applicationId, record } = known
  try {
    await workspace.client.deleteApplication(applicationId, context)
    context.log.info(`Application ${applicationId} was deleted.`)
  } catch (error) {
    await confirmGone(error, applicationId, record, workspace, context)
    context.log.info(`Application ${applicationId} was already gone.`)
  }
}

/**
 * Deletes an application whose keys nobody has, because the platform no longer knows its deployment. A published one
 * stays: a wrong response of something in front of the platform must not delete what is in use.
 */
export async function discardApplication(workspace: Workspace, context: HandlerContext): Promise<void> {
  const progress = progressOf(context)
  const record = applicationRecord.safeParse(progress.read('application')).data
  if (!record || record.isPublished) {
    const name = record?.applicationId ?? 'The application'
    return context.log.warn(`The platform no longer knows this deployment. ${name} was published, and stays.`)
  }
  await removeApplication({ applicationId: record.applicationId, record }, workspace, context)
  // If the platform knows the deployment again, it needs another application.
  // In this order: an intent alone leads to a look at the list, an application alone to one that is gone.
  await progress.write('application', null)
  await progress.write('intent', null)
}

/**
 * Confirms by the workspace's list that an application is gone: a workspace without the Platform API answers 404 too.
 *
 * @returns the provider's 404
 * @throws the error itself if it does not mean that the application is gone; `credentials_rejected` under a token that
 * never knew the application
 */
export async function confirmGone(
  error: unknown,
  applicationId: string,
  record: ApplicationRecord | undefined,
  workspace: Workspace,
  context: HandlerContext,
): Promise<IntegrationError> {
  if (!isNotFound(error)) throw error
  if (record && record.workspace !== workspace.fingerprint) throw anotherToken(applicationId, error)
  const listed = await workspace.client.listApplications(context)
  if (listed.some((application) => application.applicationId === applicationId)) throw error
  return error
}
