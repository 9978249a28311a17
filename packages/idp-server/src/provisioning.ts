/**
 * One application for a deployment, whatever fails in between.
 *
 * The provider has no idempotency keys, and an application has no field for a marker. So the intent is recorded
 * before a create, with every application that the workspace has at that time; after it, the new application. A
 * delivery that finds an intent without an application looks for what is new in the provider's list before it
 * creates another one.
 */
import {
  type HandlerContext,
  type Inputs,
  IntegrationError,
  isIntegrationError,
  type Progress,
} from '@org/core'
import * as z from 'zod'
import type { Workspace } from './connection.ts'
import { isNotFound } from './errors.ts'
import { idpServer } from './integration.ts'
import type { Application } from './wire.ts'

type ServerInputs = Inputs<typeof idpServer>

/** The intent to create an application. */
const intentRecord = z.object({
  name: z.string(),
  environmentType: z.string(),
  template: z.string().optional(),
  domain: z.string().optional(),
  /** The applications that the workspace had before. */
  before: z.array(z.string()),
  workspace: z.string(),
  /**
   * Since when nothing of it can leave the host any more, by the store's time. Absent: the create may still be under
   * way, or its host died.
   */
  overSince: z.number().optional(),
})

type Intent = z.infer<typeof intentRecord>

/** The application of a deployment. */
export const applicationRecord = z.object({
  applicationId: z.string(),
  /** The fingerprint of the token that created it, or read it last. */
  workspace: z.string(),
  environmentType: z.string(),
  template: z.string().optional(),
  domain: z.string().optional(),
  /** Whether its keys were published before it was recorded. */
  isPublished: z.boolean(),
})

type ApplicationRecord = z.infer<typeof applicationRecord>

/** The recorded or published application of a deployment, or the intent to create one. */
export type Known =
  /** Without a record, the id is the published one. */
  { applicationId: string; record?: ApplicationRecord | undefined } | { intent: Intent }

/**
 * Reads what is known of the deployment's application: the record, else the published id, else the intent.
 *
 * @throws {IntegrationError} `invalid_event` if the published id contradicts the record, or belongs to another
 * deployment
 */
export async function readKnown({ deployment, ...context }: HandlerContext): Promise<Known | undefined> {
  const progress = progressOf(context)
  const record = applicationRecord.safeParse(progress.read('application')).data
  const carried = outputsId.safeParse(context.event.deployment?.outputs).data
  if (carried && carried.applicationId !== record?.applicationId) await checkOwner(carried, progress)
  if (record && !carried) return { applicationId: record.applicationId, record }
  // Those of an earlier deployment of this id do not count.
  const published = await deployment?.outputs(outputsId)
  if (record) {
    if (published && published.applicationId !== record.applicationId) {
      throw contradiction(`is not ${record.applicationId}, the application of this deployment`)
    }
    return { applicationId: record.applicationId, record }
  }
  if (!published) {
    const intent = intentRecord.safeParse(progress.read('intent')).data
    return intent && { intent }
  }
  await checkOwner(published, progress)
  return published
}

async function checkOwner({ applicationId }: { applicationId: string }, progress: Progress): Promise<void> {
  if (await progress.isReserved(resourceOf(applicationId)))
    throw contradiction('belongs to another deployment')
}

const outputsId = idpServer.outputs.pick({ applicationId: true })

function contradiction(message: string): IntegrationError {
  const path = 'deployment.outputs.applicationId'
  return new IntegrationError('invalid_event', `${path} ${message}.`, {
    status: 422,
    hint: 'Send the outputs that were published for this deployment, or none.',
    errors: [{ path, message }],
  })
}

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
  const options = { ...timeOf(context), includeSecretKeys: true }
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
  // A development instance has a domain of the provider.
  return { environmentType, template, domain: environmentType === 'production' ? domain : undefined }
}

async function create(
  inputs: ServerInputs,
  listed: readonly Application[],
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application> {
  const progress = progressOf(context)
  const { environmentType, ...settings } = settingsOf(inputs)
  const { applicationName: name } = inputs
  const before = listed.map(({ applicationId }) => applicationId)
  const intent: Intent = { name, environmentType, ...settings, before, workspace: workspace.fingerprint }
  const wanted = { name, environmentTypes: [environmentType], ...settings }
  const creating = progress
    .write('intent', toJson(intent))
    .then(() => workspace.client.createApplication(wanted, context))
  const created = await creating.catch(async (error: unknown) => {
    if (!isIntegrationError(error)) throw error
    // Nothing was created, so there is nothing to look for.
    if (error.effect === 'none') await progress.write('intent', null)
    if (error.code !== 'outcome_unknown') throw error
    return findAfter(error, intent, workspace, context)
  })
  context.log.info(`Application ${created.applicationId} was created.`, { environmentType })
  await reserve(created, context)
  await recordApplication(created, false, intent, workspace, context)
  return created
}

/** Looks for the application after a create with an unknown outcome. */
async function findAfter(
  error: IntegrationError,
  intent: Intent,
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application> {
  const progress = progressOf(context)
  const over = { ...intent, overSince: await progress.now() }
  await progress.write('intent', toJson(over))
  const listed = await listApplications(workspace, context).catch((failure: unknown) => {
    // The next delivery reads the list again.
    if (isIntegrationError(failure) && failure.retryable) return []
    throw failure
  })
  const found = await findCandidate(over, listed, context)
  if (!found) throw mayStillAppear(over, workspace.settleMs, error)
  return found
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

/**
 * Looks for the application that an intent led to.
 *
 * @returns `undefined` once none can appear any more
 * @throws {IntegrationError} `provider_timeout` while one may still appear; `outcome_unknown` if the list can't tell;
 * `credentials_rejected` if the intent belongs to another workspace
 */
async function settle(
  intent: Intent,
  listed: readonly Application[],
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application | undefined> {
  if (intent.workspace !== workspace.fingerprint) throw anotherToken(`“${intent.name}”`)
  const found = await findCandidate(intent, listed, context)
  if (found) return found
  const progress = progressOf(context)
  const now = await progress.now()
  // The host of the create is gone: its lease has ended, by the store's time, before this delivery could claim.
  const over = { ...intent, overSince: intent.overSince ?? now }
  if (intent.overSince === undefined) await progress.write('intent', toJson(over))
  const remaining = over.overSince + workspace.settleMs - now
  if (remaining > 0) throw mayStillAppear(over, remaining)
  return undefined
}

/**
 * The one application of the intended name and environment that is new since the intent, and nobody else's.
 *
 * @throws {IntegrationError} `outcome_unknown` for several
 */
async function findCandidate(
  { name, environmentType, before }: Intent,
  listed: readonly Application[],
  context: HandlerContext,
): Promise<Application | undefined> {
  const progress = progressOf(context)
  const candidates = []
  for (const application of listed) {
    const { applicationId, instances } = application
    const isIntended =
      application.name === name && instances.every((one) => one.environmentType === environmentType)
    if (!isIntended || before.includes(applicationId)) continue
    if (!(await progress.isReserved(resourceOf(applicationId)))) candidates.push(application)
  }
  if (candidates.length <= 1) return candidates[0]
  const ids = candidates.map(({ applicationId }) => applicationId).join(', ')
  throw new IntegrationError(
    'outcome_unknown',
    `One of these applications belongs to this deployment, but the provider’s list does not tell which: ${ids}.`,
    { hint: 'Delete the unneeded ones at the provider, and deploy again.', effect: 'unknown' },
  )
}

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
async function confirmGone(
  error: unknown,
  applicationId: string,
  record: ApplicationRecord | undefined,
  workspace: Workspace,
  context: HandlerContext,
): Promise<IntegrationError> {
  if (!isNotFound(error)) throw error
  if (isOfAnotherToken(record, workspace)) throw anotherToken(applicationId, error)
  const listed = await workspace.client.listApplications(timeOf(context))
  if (listed.some((application) => application.applicationId === applicationId)) throw error
  return error
}

function isOfAnotherToken(record: ApplicationRecord | undefined, { fingerprint }: Workspace): boolean {
  return record !== undefined && record.workspace !== fingerprint
}

function anotherToken(application: string, cause?: IntegrationError): IntegrationError {
  return new IntegrationError(
    'credentials_rejected',
    `Application ${application} was created with another Platform API access token, and this one does not know it.`,
    {
      hint: 'Send the event with the platformApiKey that created it.',
      errors: [{ path: 'deployment.inputs.platformApiKey', message: 'is not the token that created it' }],
      provider: cause?.provider,
      cause,
    },
  )
}

/** Reserves an application for this deployment. */
async function reserve(
  { applicationId }: Pick<Application, 'applicationId'>,
  context: HandlerContext,
): Promise<void> {
  if (await progressOf(context).reserve(resourceOf(applicationId))) return
  // Another delivery looked for its own application, and adopted this one.
  const message = `Another deployment of the same name took application ${applicationId}.`
  throw new IntegrationError('delivery_in_progress', message, {
    hint: 'The next delivery looks for another application, or creates one.',
    retryAfter: 1,
  })
}

async function recordApplication(
  { applicationId }: Application,
  isPublished: boolean,
  { environmentType, template, domain }: Pick<ApplicationRecord, (typeof immutable)[number]>,
  { fingerprint: workspace }: Workspace,
  context: HandlerContext,
): Promise<ApplicationRecord> {
  const record = { applicationId, workspace, environmentType, template, domain, isPublished }
  await progressOf(context).write('application', toJson(record))
  return record
}

function listApplications({ client }: Workspace, context: HandlerContext): Promise<Application[]> {
  return client.listApplications({ ...timeOf(context), includeSecretKeys: true })
}

/** The name under which an application is reserved. */
export function resourceOf(applicationId: string): string {
  return `application/${applicationId}`
}

/** The steps of the deployment. Core claims every event that provisions. */
function progressOf({ progress }: Pick<HandlerContext, 'progress'>): Progress {
  if (!progress) throw new TypeError('Provisioning needs a claimed event.')
  return progress
}

function timeOf({ signal, deadline }: HandlerContext) {
  return { signal, deadline }
}

/** A record without its absent fields. */
function toJson(record: Intent | ApplicationRecord) {
  return z.json().parse(JSON.parse(JSON.stringify(record)))
}

function mayStillAppear({ name }: Intent, remainingMs: number, cause?: IntegrationError): IntegrationError {
  return new IntegrationError(
    'provider_timeout',
    `It is not known yet whether the application “${name}” was created.`,
    {
      hint: 'The next delivery looks for it before it creates another one.',
      retryAfter: Math.max(1, remainingMs / 1000),
      provider: cause?.provider,
      cause,
    },
  )
}
