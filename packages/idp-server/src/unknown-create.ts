/** Finds the result of a create with an unknown outcome in the provider's list. */
import { type HandlerContext, IntegrationError, isIntegrationError } from '@org/core'
import type { Workspace } from './connection.ts'
import { type Intent, progressOf, recordIntent, resourceOf } from './records.ts'
import type { Application } from './wire.ts'

/** Looks for the application after a create with an unknown outcome. */
export async function findAfter(
  error: IntegrationError,
  intent: Intent,
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application> {
  const over = { ...intent, overSince: await progressOf(context).now() }
  await recordIntent(over, context)
  const listed = await listApplications(workspace, context).catch((failure: unknown) => {
    // The next delivery reads the list again.
    if (isIntegrationError(failure) && failure.retryable) return []
    throw failure
  })
  const found = await findCandidate(over, listed, context)
  if (!found) throw mayStillAppear(over, workspace.settleMs, error)
  return found
}

/**
 * Looks for the application that an intent led to.
 *
 * @returns `undefined` once none can appear any more
 * @throws {IntegrationError} `provider_timeout` while one may still appear; `outcome_unknown` if the list can't tell;
 * `credentials_rejected` if the intent belongs to another workspace
 */
export async function settle(
  intent: Intent,
  listed: readonly Application[],
  workspace: Workspace,
  context: HandlerContext,
): Promise<Application | undefined> {
  if (intent.workspace !== workspace.fingerprint) throw anotherToken(`“${intent.name}”`)
  const found = await findCandidate(intent, listed, context)
  if (found) return found
  const now = await progressOf(context).now()
  // The host of the create is gone: its lease has ended, by the store's time, before this delivery could claim.
  const over = { ...intent, overSince: intent.overSince ?? now }
  if (intent.overSince === undefined) await recordIntent(over, context)
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

/** Lists the applications of the workspace, with their keys. */
export function listApplications({ client }: Workspace, context: HandlerContext): Promise<Application[]> {
  const { signal, deadline } = context
  return client.listApplications({ signal, deadline, includeSecretKeys: true })
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

/** The error for an application, by id or name, that another token created. */
export function anotherToken(application: string, cause?: IntegrationError): IntegrationError {
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
