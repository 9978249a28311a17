/**
 * One application for a deployment, whatever fails in between.
 *
 * The provider has no idempotency keys, and an application has no field for a marker. So the intent is recorded
 * before a create, with every application that the workspace has at that time; after it, the new application. A
 * delivery that finds an intent without an application looks for what is new in the provider's list before it
 * creates another one.
 */
import { type HandlerContext, type Inputs, IntegrationError, isIntegrationError } from '@org/core'
import type { Workspace } from './connection.ts'
import type { idpServer } from './integration.ts'
import {
  type ApplicationRecord,
  type Intent,
  type Known,
  progressOf,
  readKnown,
  recordApplication,
  recordIntent,
  reserve,
} from './records.ts'
import { confirmGone } from './removal.ts'
import { findAfter, listApplications, settle } from './unknown-create.ts'
import type { Application } from './wire.ts'

type ServerInputs = Inputs<typeof idpServer>

/** Returns the application of the deployment: the known one, the one of an earlier attempt, or a new one. */
export async function provideApplication(
  inputs: ServerInputs,
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application> {
  const known = await readKnown(context)
  if (known && 'applicationId' in known) return reuse(known, inputs, workspace, context)
  const listed = await listApplications(workspace, context)
  const found = known && (await settle(known.intent, listed, workspace, context))
  if (found) return adopt(found, known.intent, inputs, workspace, context)
  // The same list for the look and for the next intent: nothing can appear in between unseen.
  return create(inputs, listed, workspace, context)
}

/** Reads the known application, and renames it if its name was changed. */
async function reuse(
  { applicationId, record }: Extract<Known, { applicationId: string }>,
  inputs: ServerInputs,
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application> {
  if (record) checkUnchanged(record, inputs)
  else await reserve({ applicationId }, context)
  context.log.info(`Application ${applicationId} already exists, and is reused.`)
  const { signal, deadline } = context
  const options = { signal, deadline, includeSecretKeys: true }
  const application = await workspace.client
    .getApplication(applicationId, options)
    .catch(async (error: unknown) => {
      const { provider } = await confirmGone(error, applicationId, record, workspace, context)
      const message = `Application ${applicationId} no longer exists at the provider.`
      const hint = 'Delete the deployment, and create a new one.'
      throw new IntegrationError('provider_rejected', message, { hint, provider, cause: error })
    })
  const { applicationName: name } = inputs
  if (application.name !== undefined && application.name !== name) {
    await workspace.client.renameApplication(applicationId, name, context)
    context.log.info(`Application ${applicationId} was renamed.`)
  }
  await recordApplication(application, record?.isPublished ?? true, settingsOf(inputs), workspace, context)
  return { ...application, name }
}

const immutable = ['environmentType', 'template', 'domain'] as const

/** @throws {IntegrationError} `invalid_inputs` if an input changed that the provider cannot change */
function checkUnchanged(record: ApplicationRecord, inputs: ServerInputs): void {
  const wanted = settingsOf(inputs)
  const errors = immutable
    .filter((name) => record[name] !== wanted[name])
    // The domain follows the environment.
    .filter((name, _, changed) => name !== 'domain' || changed[0] !== 'environmentType')
    .map((name) => ({
      path: `deployment.inputs.${name}`,
      message: `can’t change from ${record[name] ?? 'none'}: delete the deployment, and create a new one`,
    }))
  const [first] = errors
  if (!first) return
  throw new IntegrationError('invalid_inputs', `${first.path} ${first.message}.`, { errors })
}

function settingsOf({ environmentType, template, domain }: ServerInputs) {
  return { environmentType, template, domain }
}

async function create(
  inputs: ServerInputs,
  listed: readonly Application[],
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application> {
  const { environmentType, ...settings } = settingsOf(inputs)
  const { applicationName: name } = inputs
  const before = listed.map(({ applicationId }) => applicationId)
  const intent: Intent = { name, environmentType, ...settings, before, workspace: workspace.fingerprint }
  const wanted = { name, environmentTypes: [environmentType], ...settings }
  const creating = recordIntent(intent, context).then(() =>
    workspace.client.createApplication(wanted, context),
  )
  const created = await creating.catch(async (error: unknown) => {
    if (!isIntegrationError(error)) throw error
    // Nothing was created, so there is nothing to look for.
    if (error.effect === 'none') await progressOf(context).write('intent', null)
    if (error.code !== 'outcome_unknown') throw error
    return findAfter(error, intent, workspace, context)
  })
  context.log.done(`Application ${created.applicationId} was created, for ${environmentType}.`)
  await reserve(created, context)
  await recordApplication(created, false, intent, workspace, context)
  return created
}

/** Records the application of an earlier attempt with the settings of that attempt, and applies the inputs to it. */
async function adopt(
  application: Application,
  intent: Intent,
  inputs: ServerInputs,
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application> {
  await reserve(application, context)
  const { applicationId } = application
  context.log.warn(`Application ${applicationId} was created by an earlier attempt, and is used.`)
  const record = await recordApplication(application, false, intent, workspace, context)
  return reuse({ applicationId, record }, inputs, workspace, context)
}
