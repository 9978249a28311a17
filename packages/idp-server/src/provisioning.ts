/**
 * One application for a deployment, whatever fails in between.
 *
 * The provider has no idempotency keys. So the intent is recorded before a create, with the applications that
 * already have the name, and the id of the new application after it. A delivery that finds an intent without
 * an id looks for the application in the provider's list before it creates another one.
 *
 * @module
 */
import { type HandlerContext, type Inputs, IntegrationError, isIntegrationError } from '@org/core'
import * as z from 'zod'
import type { Workspace } from './connection.ts'
import { isNotFound } from './errors.ts'
import { idpServer } from './integration.ts'
import type { Application } from './wire.ts'

/** The intent to create an application. */
const intentRecord = z.object({
  name: z.string(),
  environmentType: z.string(),
  /** The applications that already have the name. */
  before: z.array(z.string()),
  /** The time of the create, in milliseconds since 1970. */
  at: z.number(),
})

type Intent = z.infer<typeof intentRecord>

/** The recorded application of a deployment, or the intent to create it. */
type ApplicationRecord = { applicationId: string } | { intent: Intent }

/** Reads the published or recorded id of the application, or else the recorded intent. */
export async function readRecord({
  deployment,
  progress,
}: HandlerContext): Promise<ApplicationRecord | undefined> {
  const published = await deployment?.outputs(idpServer.outputs.pick({ applicationId: true }))
  if (published) return published
  const applicationId = progress?.read('applicationId')
  if (typeof applicationId === 'string') return { applicationId }
  const intent = intentRecord.safeParse(progress?.read('intent')).data
  return intent && { intent }
}

/** Returns the application of the deployment: the recorded one, that of an earlier delivery, or a new one. */
export async function provideApplication(
  inputs: Inputs<typeof idpServer>,
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application> {
  const record = await readRecord(context)
  if (!record) return create(inputs, workspace, context)
  if ('applicationId' in record) return reuse(record.applicationId, workspace, context)
  const found = await lookFor(record.intent, workspace, context)
  return found ? adopt(found, context) : create(inputs, workspace, context)
}

/**
 * Returns the id of a recorded application, for its teardown.
 *
 * @returns `undefined` if the intent led to no application
 * @throws {IntegrationError} `provider_timeout` while the application may still appear
 */
export async function findApplication(
  record: ApplicationRecord,
  workspace: Workspace,
  context: HandlerContext,
): Promise<string | undefined> {
  if ('applicationId' in record) return record.applicationId
  return (await lookFor(record.intent, workspace, context))?.applicationId
}

/** Forgets the recorded application. */
export async function forgetApplication({ progress }: HandlerContext): Promise<void> {
  // In this order: an intent alone leads to a look at the list, an id alone to an application that is gone.
  await progress?.write('applicationId', null)
  await progress?.write('intent', null)
}

async function reuse(
  applicationId: string,
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application> {
  context.log.info(`Application ${applicationId} already exists, and is reused.`)
  try {
    return await workspace.client.getApplication(applicationId, {
      signal: context.signal,
      deadline: context.deadline,
      includeSecretKeys: true,
    })
  } catch (error) {
    if (!isNotFound(error)) throw error
    throw new IntegrationError(
      'provider_rejected',
      `Application ${applicationId} no longer exists at the provider.`,
      { hint: 'Delete the deployment, and create a new one.', provider: error.provider, cause: error },
    )
  }
}

async function create(
  inputs: Inputs<typeof idpServer>,
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application> {
  const { applicationName: name, environmentType, domain, template } = inputs
  const listed = await workspace.client.listApplications(context)
  const before = listed
    .filter((application) => application.name === name)
    .map(({ applicationId }) => applicationId)
  const intent: Intent = { name, environmentType, before, at: Date.now() }
  await context.progress?.write('intent', intent)
  let application: Application
  try {
    application = await workspace.client.createApplication(
      {
        name,
        environmentTypes: [environmentType],
        domain: environmentType === 'production' ? domain : undefined,
        template,
      },
      context,
    )
  } catch (error) {
    return adoptAfter(error, intent, workspace, context)
  }
  context.log.info(`Application ${application.applicationId} was created.`, { environmentType })
  if (!(await reserve(application, context))) {
    // Another delivery looked for its own application, and adopted this one.
    const message = `Another deployment of the same name took application ${application.applicationId}.`
    throw new IntegrationError('delivery_in_progress', message, {
      hint: 'The next delivery looks for another application, or creates one.',
      retryAfter: 1,
    })
  }
  return record(application, context)
}

/** Looks for the application after a failed create. Throws the failure if there can be none. */
async function adoptAfter(
  error: unknown,
  intent: Intent,
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application> {
  if (!isIntegrationError(error)) throw error
  if (error.code !== 'outcome_unknown') {
    // The provider refused, so there is nothing to look for.
    if (error.provider !== undefined) await context.progress?.write('intent', null)
    throw error
  }
  const found = await findNew(intent, workspace, context).catch((failure: unknown) => {
    // The next delivery reads the list again.
    if (isIntegrationError(failure) && failure.retryable) return undefined
    throw failure
  })
  if (found) return adopt(found, context)
  throw mayStillAppear(intent, workspace, error)
}

/** Records an application that {@link findNew} has reserved. */
async function adopt(application: Application, context: HandlerContext): Promise<Application> {
  context.log.warn(`Application ${application.applicationId} was created by an earlier attempt, and is used.`)
  return record(application, context)
}

async function record(application: Application, { progress }: HandlerContext): Promise<Application> {
  await progress?.write('applicationId', application.applicationId)
  return application
}

/** Reserves an application for this deployment, unless another one has it. */
async function reserve({ applicationId }: Application, { progress }: HandlerContext): Promise<boolean> {
  return (await progress?.reserve(`application/${applicationId}`)) !== false
}

/**
 * Looks for the application that an intent led to.
 *
 * @returns `undefined` once none can appear any more
 * @throws {IntegrationError} `provider_timeout` while one may still appear
 */
async function lookFor(
  intent: Intent,
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application | undefined> {
  const found = await findNew(intent, workspace, context)
  if (!found && remainingMs(intent, workspace) > 0) throw mayStillAppear(intent, workspace)
  return found
}

/**
 * Finds an application of the intended name and environment that is new since the intent, and reserves it.
 *
 * @throws {IntegrationError} `outcome_unknown` for several candidates
 */
async function findNew(
  intent: Intent,
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application | undefined> {
  const listed = await workspace.client.listApplications({
    signal: context.signal,
    deadline: context.deadline,
    includeSecretKeys: true,
  })
  const candidates = []
  for (const application of listed) {
    const { applicationId, name, instances } = application
    const matches =
      name === intent.name &&
      instances.some(({ environmentType }) => environmentType === intent.environmentType)
    if (!matches || intent.before.includes(applicationId)) continue
    if (await reserve(application, context)) candidates.push(application)
  }
  if (candidates.length <= 1) return candidates[0]
  const ids = candidates.map(({ applicationId }) => applicationId).join(', ')
  throw new IntegrationError(
    'outcome_unknown',
    `One of these applications belongs to this deployment, but the provider’s list does not tell which: ${ids}.`,
    { hint: 'Delete the unneeded ones at the provider, and deploy again.', effect: 'unknown' },
  )
}

function remainingMs({ at }: Intent, { settleMs }: Workspace): number {
  return at + settleMs - Date.now()
}

function mayStillAppear(intent: Intent, workspace: Workspace, cause?: IntegrationError): IntegrationError {
  const message = `It is not known yet whether the application “${intent.name}” was created.`
  return new IntegrationError('provider_timeout', message, {
    hint: 'The next delivery looks for it before it creates another one.',
    retryAfter: Math.max(1, remainingMs(intent, workspace) / 1000),
    provider: cause?.provider,
    cause,
  })
}
