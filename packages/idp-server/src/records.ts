/** The records of a deployment's application in the delivery store: the intent to create it, and the application. */
import { type HandlerContext, IntegrationError, type Progress } from '@org/core'
import * as z from 'zod'
import type { Workspace } from './connection.ts'
import { idpServer } from './integration.ts'
import type { Application } from './wire.ts'

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

/** The intent of one create. */
export type Intent = z.infer<typeof intentRecord>

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

/** The record of an application in the store. */
export type ApplicationRecord = z.infer<typeof applicationRecord>

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

/** Records the intent of a create, before the provider is called. */
export async function recordIntent(intent: Intent, context: HandlerContext): Promise<void> {
  await progressOf(context).write('intent', toJson(intent))
}

/** Records the application with the settings that it was created with. */
export async function recordApplication(
  { applicationId }: Application,
  isPublished: boolean,
  { environmentType, template, domain }: Pick<ApplicationRecord, 'environmentType' | 'template' | 'domain'>,
  { fingerprint: workspace }: Workspace,
  context: HandlerContext,
): Promise<ApplicationRecord> {
  const record = { applicationId, workspace, environmentType, template, domain, isPublished }
  await progressOf(context).write('application', toJson(record))
  return record
}

/** Reserves an application for this deployment. */
export async function reserve(
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

/** The name under which an application is reserved. */
export function resourceOf(applicationId: string): string {
  return `application/${applicationId}`
}

/** The steps of the deployment. Core claims every event that provisions. */
export function progressOf({ progress }: Pick<HandlerContext, 'progress'>): Progress {
  if (!progress) throw new TypeError('Provisioning needs a claimed event.')
  return progress
}

/** A record without its absent fields. */
function toJson(record: Intent | ApplicationRecord) {
  return z.json().parse(JSON.parse(JSON.stringify(record)))
}
