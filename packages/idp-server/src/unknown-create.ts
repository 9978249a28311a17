/** Finds the result of a create with an unknown outcome in the provider's list. */
import { type HandlerContext, IntegrationError } from '@org/core'
import type { Look, Workspace } from './connection.ts'
import { type Intent, progressOf, record, resourceOf } from './records.ts'
import type { Application } from './wire.ts'

/** The newest applications that an intent records. */
const NEWEST = 100
/** The prefix, and five letters that count units of eight seconds. */
const AGE_LENGTH = 'app_'.length + 5

const ageOf = (applicationId: string) => applicationId.slice(0, AGE_LENGTH)

/**
 * The part of a look before a create that its intent records: the applications of the same name, and the newest ones.
 * The provider's ids sort by time (KSUID). Where those of a list do not, they tell no age.
 */
export function lookBefore(look: Look, name: string): Pick<Intent, 'before' | 'oldest' | 'isByAge'> {
  const idsOf = (applications: Look) => applications.map(({ applicationId }) => applicationId)
  const ids = idsOf(look)
  const newest = ids.toSorted().slice(-NEWEST)
  if (newest.length === look.length) return { before: newest }
  const ages = ids.map(ageOf)
  const rising = ages.toSorted()
  const isByAge = [rising, rising.toReversed()].some((order) => order.join() === ages.join())
  const same = idsOf(look.filter((one) => one.name === name)).slice(-NEWEST)
  return { before: [...new Set([...newest, ...same])], oldest: newest[0], isByAge }
}

/** Whether an application was there before the intent; `undefined` if the record can't tell. */
function wasThere(id: string, { before, oldest, isByAge }: Intent): boolean | undefined {
  if (before.includes(id)) return true
  if (oldest === undefined || id > oldest) return false
  return isByAge && ageOf(id) < ageOf(oldest) ? true : undefined
}

/** Whether a look shows most applications that were there before an intent: then another token is of the same workspace. */
function isSameWorkspace(look: Look, { before }: Intent): boolean {
  const ids = new Set(look.map(({ applicationId }) => applicationId))
  return before.filter((id) => ids.has(id)).length > before.length / 2
}

/**
 * Looks for the application that an intent led to.
 *
 * @param look one that began after the create
 * @param cause why the outcome of the create is unknown, right after it
 * @returns `undefined` once none can appear any more
 * @throws {IntegrationError} `provider_timeout` while one may still appear; `outcome_unknown` if the list can't tell;
 * `credentials_rejected` if the intent belongs to another workspace
 */
export async function settle(
  intent: Intent,
  look: Look,
  { context, isOwn, settleMs }: Workspace,
  cause?: IntegrationError,
): Promise<Application | undefined> {
  if (!isOwn(intent.workspace) && !isSameWorkspace(look, intent)) throw anotherToken(`“${intent.name}”`)
  const found = await findCandidate(intent, look, context)
  if (found) return found
  const now = await progressOf(context).now()
  // If its host died: its lease has ended, by the store's time, before this delivery could claim.
  const { overSince = now } = intent
  if (intent.overSince === undefined) await record({ ...intent, overSince }, context)
  const remainingMs = overSince + settleMs - now
  if (remainingMs <= 0 && !cause) return undefined
  const message = `It is not known yet whether the application “${intent.name}” was created.`
  const hint = 'The next delivery looks for it before it creates another one.'
  const retryAfter = Math.max(1, remainingMs / 1000)
  throw new IntegrationError('provider_timeout', message, {
    hint,
    retryAfter,
    provider: cause?.provider,
    cause,
  })
}

/**
 * The one application of the intended name and environment that is new since the intent, and nobody else's.
 *
 * @throws {IntegrationError} `outcome_unknown` for several, or if one may be older
 */
async function findCandidate(intent: Intent, look: Look, context: HandlerContext) {
  const { name, environmentType } = intent
  const progress = progressOf(context)
  const candidates = []
  let isCertain = true
  for (const application of look) {
    const { applicationId: id, instances } = application
    if (application.name !== name || !instances.every((one) => one.environmentType === environmentType))
      continue
    const isOlder = wasThere(id, intent)
    if (isOlder || (await progress.isReserved(resourceOf(id)))) continue
    isCertain &&= isOlder === false
    candidates.push(application)
  }
  if (candidates.length === 0 || (isCertain && candidates.length === 1)) return candidates[0]
  const ids = candidates.map(({ applicationId }) => applicationId).join(', ')
  const message = `An application of this list may belong to this deployment, but the provider does not tell which: ${ids}.`
  const hint = 'Rename or delete the others at the provider, and deploy again.'
  throw new IntegrationError('outcome_unknown', message, { hint, effect: 'unknown' })
}

/** The error for an application, by id or name, that another token created. */
export function anotherToken(application: string, cause?: IntegrationError): IntegrationError {
  const message = `Application ${application} was created with another Platform API access token, and the workspace of this one does not have it.`
  return new IntegrationError('credentials_rejected', message, {
    hint: 'Send the event with a platformApiKey of the workspace that has it. For applications of the host’s earlier tokens, list these after the new one in IDP_PLATFORM_API_KEY, separated by spaces.',
    errors: [{ path: 'deployment.inputs.platformApiKey', message: 'is not the token that created it' }],
    provider: cause?.provider,
    cause,
  })
}
