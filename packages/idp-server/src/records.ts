/** The record of a deployment's application in the delivery store: the intent to create it, and then the application. */
import { type HandlerContext, IntegrationError, type Progress } from '@org/core'
import * as z from 'zod'
import { fingerprintOf } from './connection.ts'
import { idpServer } from './integration.ts'
import type { Keys } from './wire.ts'

/** The inputs that the provider cannot change later. */
const settings = {
  environmentType: z.string(),
  template: z.string().optional(),
  domain: z.string().optional(),
}

/** The intent to create an application. */
const intentRecord = z.object({
  name: z.string(),
  ...settings,
  /** Applications that the workspace had before: see `lookBefore`. */
  before: z.array(z.string()),
  /** The lowest of the newest ids in `before`; absent if the workspace had no others. */
  oldest: z.string().optional(),
  /** Whether the ids of the workspace tell the age of an application. */
  isByAge: z.boolean().optional(),
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
const applicationRecord = z.object({
  applicationId: z.string(),
  /** The fingerprint of the token that created it, or read it last. */
  workspace: z.string(),
  /** The name that the host gave it last. */
  name: z.string(),
  ...settings,
  /** The ids of the instances that it was created with. */
  instances: z.array(z.string()).optional(),
  /** Whether its keys were published before it was recorded. */
  isPublished: z.boolean(),
})

/** The record of an application in the store. */
export type ApplicationRecord = z.infer<typeof applicationRecord>

/** The recorded or published application of a deployment. */
export interface KnownApplication {
  applicationId: string
  /** Without one, the id is the published one. */
  record?: ApplicationRecord | undefined
}

/** The application of a deployment, or the intent to create one. */
export type Known = KnownApplication | { intent: Intent }

/** The step that has the intent, and then the application. */
const STEP = 'application'

const outputsId = idpServer.outputs.pick({ applicationId: true })

/**
 * Reads what is known of the deployment's application: the record, else the published id, else the intent.
 *
 * @throws {IntegrationError} `invalid_event` if the published id contradicts the record, or it or carried keys belong to
 * another deployment
 */
export async function readKnown({ deployment, ...context }: HandlerContext): Promise<Known | undefined> {
  const progress = progressOf(context)
  const record = readApplication(progress)
  const ensureOwn = async (id: string | undefined) => {
    if (id === undefined || id === record?.applicationId) return
    if (await progress.isReserved(resourceOf(id)))
      throw foreignOutputs('belongs to another deployment', '.applicationId')
  }
  const carried = outputsId.safeParse(context.event.deployment?.outputs).data
  await ensureOwn(carried?.applicationId)
  const { publishableKey, secretKey, instanceId } = context.event.deployment?.outputs ?? {}
  for (const key of [publishableKey, secretKey, instanceId])
    if (typeof key === 'string' && (await progress.isReserved(await keyResource(key))))
      throw foreignOutputs('are not those of this deployment')
  // Those of an earlier deployment of this id do not count.
  const published = record && !carried ? undefined : await deployment?.outputs(outputsId)
  if (record && published && published.applicationId !== record.applicationId)
    throw foreignOutputs(`is not ${record.applicationId}, the one of this deployment`, '.applicationId')
  if (record) return { applicationId: record.applicationId, record }
  await ensureOwn(published?.applicationId)
  const intent = intentRecord.safeParse(progress.read(STEP)).data
  return published ?? (intent && { intent })
}

/** Reads the recorded application. */
export function readApplication(progress: Pick<Progress, 'read'>): ApplicationRecord | undefined {
  return applicationRecord.safeParse(progress.read(STEP)).data
}

/** The error for outputs of another deployment. */
export function foreignOutputs(message: string, field = ''): IntegrationError {
  const path = `deployment.outputs${field}`
  return new IntegrationError('invalid_event', `${path} ${message}.`, {
    status: 422,
    hint: 'Send the outputs that were published for this deployment last, or none.',
    errors: [{ path, message }],
  })
}

/** Records the intent of a create before the provider is called, or an application instead of the intent. */
export async function record(step: Intent | ApplicationRecord | null, context: HandlerContext) {
  // Without its absent fields.
  await progressOf(context).write(STEP, z.json().parse(JSON.parse(JSON.stringify(step))))
}

/** Reserves the keys and the id of an instance for this deployment, so that events of others are refused with them. */
export async function reserveKeys(keys: Keys, context: HandlerContext): Promise<void> {
  for (const key of Object.values(keys)) await progressOf(context).reserve(await keyResource(key))
}

/** Reserves an application for this deployment. */
export async function reserve(applicationId: string, context: HandlerContext): Promise<void> {
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

/** The name under which a key or the id of an instance is reserved, which does not reveal it. */
export async function keyResource(key: string): Promise<string> {
  return `keys/${await fingerprintOf(`key ${key}`)}`
}

/** The steps of the deployment. Core claims every event that provisions. */
export function progressOf({ progress }: Pick<HandlerContext, 'progress'>): Progress {
  if (!progress) throw new TypeError('Provisioning needs a claimed event.')
  return progress
}
