/**
 * One application for a deployment, whatever fails in between.
 *
 * The provider has no idempotency keys, and an application has no field for a marker. So the intent is recorded
 * before a create, with what tells older applications of the workspace apart; the new application replaces it. A
 * delivery that finds an intent looks for what is new in the provider's list before it creates another one.
 */
import { type HandlerContext, type Inputs, IntegrationError, isIntegrationError } from '@org/core'
import { deploymentUnknown } from '@org/core/authoring'
import { findApplication, type Look, type Workspace } from './connection.ts'
import type { idpServer } from './integration.ts'
import {
  type ApplicationRecord,
  type Intent,
  type KnownApplication,
  readKnown,
  record,
  reserve,
} from './records.ts'
import { confirmGone } from './removal.ts'
import { lookBefore, settle } from './unknown-create.ts'
import type { Application } from './wire.ts'

type ServerInputs = Inputs<typeof idpServer>

/** Returns the application of the deployment: the known one, the one of an earlier attempt, or a new one. */
export async function provideApplication(inputs: ServerInputs, workspace: Workspace): Promise<Application> {
  const { client, context } = workspace
  const known = await readKnown(context)
  if (known && 'applicationId' in known) return reuse(known, inputs, workspace)
  const before = await (known ? client.listApplications(context) : workspace.lookShared())
  const found = known && (await settle(known.intent, before, workspace))
  // The same look for the next intent: nothing can appear in between unseen.
  if (!found) return create(inputs, before, workspace)
  const { applicationId } = found
  const kept = await keep(found, known.intent, context)
  context.log.warn(`Application ${applicationId} was created by an earlier attempt, and is used.`)
  return reuse({ applicationId, record: kept }, inputs, workspace)
}

/** Reads the known application, and renames it if its name was changed. */
async function reuse(known: KnownApplication, inputs: ServerInputs, workspace: Workspace) {
  const { applicationId, record: former } = known
  const { context } = workspace
  const { log } = context
  if (former) checkUnchanged(former, inputs)
  else await reserve(applicationId, context)
  log.info(`Application ${applicationId} already exists, and is reused.`)
  const finding = findApplication(applicationId, workspace, true)
  const { application, client, fingerprint } = await finding.catch(async (error: unknown) => {
    const { provider } = await confirmGone(error, known, workspace)
    const message = `Application ${applicationId} no longer exists at the provider.`
    const hint = 'Delete the deployment, and create a new one.'
    throw new IntegrationError('provider_rejected', message, { hint, provider, cause: error })
  })
  const name = inputs.applicationName
  // If it differs although it did not change here, the owner changed it at the provider.
  if (former?.name !== name && application.name !== undefined && application.name !== name) {
    await client.renameApplication(applicationId, name, context)
    log.info(`Application ${applicationId} was renamed.`)
  }
  const { isPublished = true, instances } = former ?? {}
  const kept = { applicationId, workspace: fingerprint, name, instances, isPublished }
  await record({ ...kept, ...settingsOf(inputs) }, context)
  return application
}

const immutable = ['environmentType', 'template', 'domain'] as const

/** @throws {IntegrationError} `invalid_inputs` if an input changed that the provider cannot change */
function checkUnchanged(record: ApplicationRecord, inputs: ServerInputs): void {
  const errors = immutable
    .filter((name) => record[name] !== inputs[name])
    // The domain follows the environment.
    .filter((name, _, changed) => name !== 'domain' || changed[0] !== 'environmentType')
    .map((name) => ({
      path: `deployment.inputs.${name}`,
      message: `can’t change from ${record[name] ?? 'none'}: delete the deployment, and create a new one`,
    }))
  const [first] = errors
  if (first) throw new IntegrationError('invalid_inputs', `${first.path} ${first.message}.`, { errors })
}

function settingsOf({ environmentType, template, domain }: Pick<Intent, (typeof immutable)[number]>) {
  return { environmentType, template, domain }
}

/** @throws {IntegrationError} `platform_unavailable` if the event came before the platform's own commit, or too late */
async function create(inputs: ServerInputs, before: Look, workspace: Workspace): Promise<Application> {
  const { client, context, fingerprint } = workspace
  if (!(await context.deployment?.record())) throw deploymentUnknown()
  const { applicationName: name, environmentType, template, domain } = inputs
  const looked = lookBefore(before, name)
  const intent: Intent = { name, ...settingsOf(inputs), ...looked, workspace: fingerprint }
  const wanted = { name, environmentTypes: [environmentType], template, domain }
  const creating = record(intent, context).then(() => client.createApplication(wanted, context))
  const created = await creating.catch(async (error: unknown) => {
    if (!isIntegrationError(error)) throw error
    // Nothing was created, so there is nothing to look for.
    if (error.effect === 'none') await record(null, context)
    if (error.code !== 'outcome_unknown') throw error
    const after = await client.listApplications(context).catch((failure: unknown) => {
      // The next delivery reads the list again.
      if (isIntegrationError(failure) && failure.retryable) return []
      throw failure
    })
    const found = await settle(intent, after, workspace, error)
    if (!found) throw error
    return found
  })
  context.log.done(`Application ${created.applicationId} was created, for ${environmentType}.`)
  await keep(created, intent, context)
  return created
}

/** Reserves a new application, and records it with the settings that it was created with. */
async function keep(application: Application, intent: Intent, context: HandlerContext) {
  const { applicationId, instances } = application
  await reserve(applicationId, context)
  const { workspace, name } = intent
  const ids = instances.map(({ instanceId }) => instanceId)
  const kept = { applicationId, workspace, name, isPublished: false, instances: ids, ...settingsOf(intent) }
  await record(kept, context)
  return kept
}
