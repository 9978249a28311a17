/**
 * One application for a deployment, whatever happens in between.
 *
 * The provider takes no idempotency key. So before an application is created, the intent is written down with
 * what is there already under that name; afterwards, its id. A delivery that finds an intent without an id
 * looks for what is new in the provider's list before it creates anything.
 *
 * @module
 */
import { type HandlerContext, type Inputs, IntegrationError, isIntegrationError } from '@org/core'
import { callOptions } from '@org/idp/instance'
import * as z from 'zod'
import type { IdpPlatformClient } from './client.ts'
import { type IdpServerSettings, openPlatform } from './connection.ts'
import { isNotFound } from './errors.ts'
import { idpServer } from './integration.ts'
import type { Application } from './wire.ts'

type Context = HandlerContext<IdpServerSettings>

const DEFAULT_SETTLE_MS = 60_000

/** What is written down before an application is created. */
const intentRecord = z.object({
  name: z.string(),
  environmentType: z.string(),
  /** The applications that had the name before. */
  before: z.array(z.string()),
  /** When the create left, in milliseconds since 1970. */
  at: z.number(),
})

type Intent = z.infer<typeof intentRecord>

/** The deployment's application: the one that is recorded, or that an earlier delivery left behind, or a new one. */
export async function provideApplication(
  inputs: Inputs<typeof idpServer>,
  platform: IdpPlatformClient,
  context: Context,
): Promise<Application> {
  const recorded = await recordedId(context)
  if (recorded) return reuse(recorded, platform, context)
  const intent = readIntent(context)
  const found = intent && (await lookFor(intent, platform, context))
  if (found) return adopt(found, context)
  if (intent) awaitSettled(intent, context)
  return create(inputs, platform, context)
}

/**
 * The id of the deployment's application, for its teardown.
 *
 * @returns `undefined` where there is none
 * @throws {IntegrationError} where one may still appear
 */
export async function findApplication(context: Context): Promise<string | undefined> {
  const recorded = await recordedId(context)
  if (recorded) return recorded
  const intent = readIntent(context)
  if (!intent) return undefined
  const found = await lookFor(intent, await openPlatform(context), context)
  if (!found) awaitSettled(intent, context)
  return found?.applicationId
}

/** Forgets what is recorded, because it is gone. */
export async function forgetApplication({ progress }: Context): Promise<void> {
  // In this order: an intent without an application is looked into, and the other way round it is missed.
  await progress?.write('applicationId', null)
  await progress?.write('intent', null)
}

/** The application as it was published, or as an earlier delivery wrote it down. */
async function recordedId({ deployment, progress }: Context): Promise<string | undefined> {
  const published = await deployment?.outputs(idpServer.outputs.pick({ applicationId: true }))
  if (published) return published.applicationId
  const written = progress?.read('applicationId')
  return typeof written === 'string' ? written : undefined
}

function readIntent({ progress }: Context): Intent | undefined {
  return intentRecord.safeParse(progress?.read('intent')).data
}

async function reuse(
  applicationId: string,
  platform: IdpPlatformClient,
  context: Context,
): Promise<Application> {
  context.log.info(`Application ${applicationId} is there already, and is used again.`)
  try {
    return await platform.getApplication(applicationId, { ...callOptions(context), includeSecretKeys: true })
  } catch (error) {
    if (!isNotFound(error)) throw error
    throw new IntegrationError(
      'provider_rejected',
      `Application ${applicationId} no longer exists at the provider.`,
      {
        hint: 'Delete the deployment, and create it anew.',
        provider: error.provider,
        cause: error,
      },
    )
  }
}

async function create(
  inputs: Inputs<typeof idpServer>,
  platform: IdpPlatformClient,
  context: Context,
): Promise<Application> {
  const { applicationName: name, environmentType, domain, template } = inputs
  const listed = await platform.listApplications(callOptions(context))
  const before = listed
    .filter((application) => application.name === name)
    .map(({ applicationId }) => applicationId)
  const intent: Intent = { name, environmentType, before, at: Date.now() }
  await context.progress?.write('intent', intent)
  try {
    const application = await platform.createApplication(
      {
        name,
        environmentTypes: [environmentType],
        domain: environmentType === 'production' ? domain : undefined,
        template,
      },
      callOptions(context),
    )
    context.log.info(`Application ${application.applicationId} was created.`, { environmentType })
    return await record(application, context)
  } catch (error) {
    if (!isIntegrationError(error)) throw error
    if (error.code !== 'outcome_unknown') {
      // Refused before anything happened; what came after the create keeps the intent.
      if (error.provider !== undefined) await context.progress?.write('intent', null)
      throw error
    }
    const found = await lookFor(intent, platform, context).catch((failure: unknown) => {
      // The list can be read by the next delivery too.
      if (isIntegrationError(failure) && failure.retryable) return undefined
      throw failure
    })
    if (found) return adopt(found, context)
    throw mayStillAppear(intent, context, error)
  }
}

async function adopt(application: Application, context: Context): Promise<Application> {
  context.log.warn(`Application ${application.applicationId} was created by an earlier try, and is used.`)
  return record(application, context)
}

async function record(application: Application, context: Context): Promise<Application> {
  // Another delivery that looks for its own may have seen this one first, and taken it.
  if ((await context.progress?.reserve(`application/${application.applicationId}`)) === false) {
    const message = `Application ${application.applicationId} was taken by another deployment of the same name.`
    throw new IntegrationError('delivery_in_progress', message, {
      hint: 'The next delivery looks for another one before it creates any.',
      retryAfter: 1,
    })
  }
  await context.progress?.write('applicationId', application.applicationId)
  return application
}

/**
 * What an intent left behind at the provider: an application of that name which was not there before, and
 * which no other deployment has.
 *
 * @throws {IntegrationError} `outcome_unknown` where there are several, and the list can't tell
 */
async function lookFor(
  intent: Intent,
  platform: IdpPlatformClient,
  context: Context,
): Promise<Application | undefined> {
  const listed = await platform.listApplications({ ...callOptions(context), includeSecretKeys: true })
  const candidates = []
  for (const application of listed) {
    const { applicationId, name, instances } = application
    const fits =
      name === intent.name &&
      instances.some(({ environmentType }) => environmentType === intent.environmentType)
    if (!fits || intent.before.includes(applicationId)) continue
    if ((await context.progress?.reserve(`application/${applicationId}`)) === false) continue
    candidates.push(application)
  }
  if (candidates.length <= 1) return candidates[0]
  const ids = candidates.map(({ applicationId }) => applicationId).join(', ')
  throw new IntegrationError(
    'outcome_unknown',
    `One of these applications is this deployment’s, and the list can’t tell which: ${ids}.`,
    {
      hint: 'Delete those that are not needed at the provider, and deploy again.',
      sent: 'unknown',
    },
  )
}

/** @throws {IntegrationError} while an application may still appear that was asked for */
function awaitSettled(intent: Intent, context: Context): void {
  if (settledIn(intent, context) > 0) throw mayStillAppear(intent, context)
}

function settledIn({ at }: Intent, { settings }: Context): number {
  return at + (settings.settleMs ?? DEFAULT_SETTLE_MS) - Date.now()
}

function mayStillAppear(intent: Intent, context: Context, cause?: IntegrationError): IntegrationError {
  const message = `It is not known yet whether the application “${intent.name}” was created.`
  return new IntegrationError('provider_timeout', message, {
    hint: 'The next delivery looks for it again before it creates another.',
    retryAfter: Math.max(1, settledIn(intent, context) / 1000),
    provider: cause?.provider,
    cause,
  })
}
