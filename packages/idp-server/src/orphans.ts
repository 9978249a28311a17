/** Finds the applications of a workspace that belong to no deployment. It only reads. */
import type { DeliveryStore, Platform } from '@org/core'
import { readRecordedDeployment, readResourceOwner } from '@org/core/authoring'
import { createIdpPlatformClient } from './client.ts'
import { tokensOf } from './connection.ts'
import { idpServer } from './integration.ts'
import { readApplication, resourceOf } from './records.ts'
import type { Application } from './wire.ts'

/** Options of {@link findOrphans}. */
export interface OrphanSearch {
  /** The Platform API access token of the workspace. Earlier tokens may follow it, as for the webhook. */
  platformApiKey: string
  /** @default 'https://api.clerk.com/v1' */
  platformBaseUrl?: string | undefined
  /** The delivery store of the host. */
  store: DeliveryStore
  platform: Pick<Platform, 'getDeployment'>
  /**
   * Deployments of the platform. A store that was replaced does not know who owns an application; the platform still
   * knows what these have published.
   * @default []
   */
  deploymentIds?: readonly string[] | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
}

/** An application that belongs to no deployment, as far as the search can tell. */
export interface Orphan {
  applicationId: string
  name: string | undefined
  /**
   * `orphaned`: its deployment is known, and does not use it any more. `unrecorded`: no deployment is known.
   */
  state: 'orphaned' | 'unrecorded'
  /** The deployment that created it. */
  deploymentId: string | undefined
  /** A sentence. */
  reason: string
}

/** The result of {@link findOrphans}. */
export interface OrphanReport {
  /** The number of applications in the workspace. */
  applications: number
  orphans: Orphan[]
}

const { name: route } = idpServer
/** Reads under way at a time. */
const CONCURRENCY = 10

/**
 * Compares the applications of a workspace with the delivery store and the platform's deployments.
 *
 * @throws if the provider, the store or the platform is unreachable: a part of the truth would name the wrong ones
 */
export async function findOrphans({
  platformApiKey,
  platformBaseUrl,
  fetch,
  ...search
}: OrphanSearch): Promise<OrphanReport> {
  const [used = ''] = tokensOf(platformApiKey)
  const client = createIdpPlatformClient({ platformApiKey: used, baseUrl: platformBaseUrl, fetch })
  const applications = await client.listApplications()
  const published = await mapConcurrently(search.deploymentIds ?? [], async (id) => {
    const deployment = await search.platform.getDeployment(id)
    return [deployment?.outputs.applicationId, id] as const
  })
  const publishers = new Map<unknown, string>(published)
  const judged = await mapConcurrently(applications, (one) => judge(one, publishers, search))
  return { applications: applications.length, orphans: judged.filter((one) => one !== undefined) }
}

type Sources = Pick<OrphanSearch, 'store' | 'platform'>

/** @returns `undefined` if the application belongs to a deployment */
async function judge(
  { applicationId, name }: Application,
  publishers: ReadonlyMap<unknown, string>,
  sources: Sources,
): Promise<Orphan | undefined> {
  const owner = await readResourceOwner(sources.store, route, resourceOf(applicationId))
  const known = [...new Set([owner, publishers.get(applicationId)])].filter((id) => id !== undefined)
  const reasons = await Promise.all(known.map((id) => whyNotUsed(applicationId, id, sources)))
  if (reasons.includes(undefined)) return undefined
  const [deploymentId] = known
  const state = deploymentId === undefined ? 'unrecorded' : 'orphaned'
  return { applicationId, name, state, deploymentId, reason: reasons.join(' ') || 'It is not recorded here.' }
}

/** @returns `undefined` if the deployment uses the application, or may be about to */
async function whyNotUsed(
  applicationId: string,
  deploymentId: string,
  { store, platform }: Sources,
): Promise<string | undefined> {
  const recorded = await readRecordedDeployment(store, route, deploymentId)
  if (recorded?.isClaimed) return undefined
  if (recorded?.isDeleted) return `Its deployment ${deploymentId} was deleted.`
  const deployment = await platform.getDeployment(deploymentId)
  if (!deployment) return `The platform does not know its deployment ${deploymentId}.`
  if (deployment.status === 'stopped') return `The platform shows its deployment ${deploymentId} as stopped.`
  const known = recorded && readApplication({ read: (step) => recorded.steps[step] })
  const used = known?.applicationId ?? (deployment.outputs.applicationId || applicationId)
  return used === applicationId ? undefined : `Its deployment ${deploymentId} uses ${used}.`
}

async function mapConcurrently<Item, Result>(items: readonly Item[], map: (item: Item) => Promise<Result>) {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += CONCURRENCY)
    results.push(...(await Promise.all(items.slice(at, at + CONCURRENCY).map(map))))
  return results
}
